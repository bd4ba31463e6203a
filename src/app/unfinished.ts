/**
 * The mark of an `init` that goes on, or was stopped in the middle: what it makes, so that the next one can take it
 * away. It stands in the home while one runs.
 * Source: spec authority (approvers and keys: bootstrap).
 */
import { existsSync, rmSync, statSync } from 'node:fs';
import { readPlainFile } from '../connectors/index.js';
import { isJsonObject, Refusal, readJson } from '../core/index.js';
import { SqliteStore } from '../ledger/index.js';
import type { Home } from './home.js';
import { homeConfigPath } from './store-config.js';

/** No `init` takes longer from its mark to its end. */
const RUNS_MS_MAX = 60_000;
/** What `init` itself writes into a ledger: that it was made, and its first configuration. */
const OWN_EVENTS = 2;

/** The text of a mark: what this process makes. */
export function markOf(paths: readonly string[]): string {
  return JSON.stringify({ pid: process.pid, paths });
}

/**
 * Takes away what an interrupted `init` left, as its mark says. Refuses `busy` while the one that set it may still run.
 * INVARIANT: no ledger that anything happened in is ever taken away (app.init.interrupted).
 */
export function clearUnfinished(home: Home, now: number): void {
  const { unfinishedFile: mark, seenFile } = home;
  if (!existsSync(mark)) return;
  // It was finished but for the mark; or the ledger was used since, and is nobody's leftover.
  if (existsSync(seenFile) || eventsIn(home.store) > OWN_EVENTS) {
    removeLeft(mark);
    return;
  }
  const { pid, paths } = markIn(mark);
  if (isRunning(pid) && Math.abs(now - statSync(mark).mtimeMs) < RUNS_MS_MAX) {
    const next = 'wait for it to end, a minute at most, and try again';
    throw new Refusal('busy', 'another `init` makes this home now', { next });
  }
  const made = [home.trustFile, home.threadKey, homeConfigPath(home), home.store];
  for (const path of made) if (paths.includes(path)) removeLeft(path);
  removeLeft(mark);
}

function markIn(path: string): { readonly pid: number; readonly paths: readonly unknown[] } {
  const read = readPlainFile(path, 65_536);
  const json = read.ok ? readJson(read.bytes) : undefined;
  const { pid, paths } = json?.ok === true && isJsonObject(json.value) ? json.value : {};
  return { pid: typeof pid === 'number' ? pid : 0, paths: Array.isArray(paths) ? paths : [] };
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // One of another user can't be asked, and runs.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** How many events a store holds; more than can be counted where that can not be told. */
function eventsIn(path: string): number {
  if (!existsSync(path)) return 0;
  try {
    const store = new SqliteStore(path);
    try {
      return store.tail().sequence;
    } finally {
      store.close();
    }
  } catch (error) {
    return error instanceof Refusal && error.code === 'not_initialized' ? 0 : Number.POSITIVE_INFINITY;
  }
}

/** What an unfinished home left, with the journals of a store. */
export function removeLeft(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) {
    try {
      rmSync(`${path}${suffix}`, { force: true });
    } catch {
      // Why it could not be made is what the caller has to hear; the next init names what is left.
    }
  }
}
