/**
 * The mark of an `init` that goes on, or was stopped in the middle: what it makes, so that the next one can take it
 * away. It stands in the home while one runs.
 * Source: spec authority (approvers and keys: bootstrap).
 */
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readPlainFile } from '../connectors/index.js';
import { Fault, isJsonObject, isOurs, Refusal, readJson } from '../core/index.js';
import { type Leftover, SqliteStore } from '../ledger/index.js';
import { type Home, makeHome } from './home.js';
import { homeConfigPath } from './store-config.js';

/** No `init` takes longer from its mark to its end. */
const RUNS_MS_MAX = 60_000;
/** What `init` itself writes into a ledger: that it was made, and its first configuration. */
const OWN_EVENTS = 2;
/** So many tries of a home are remembered. */
const LEDGERS_MAX = 16;

function running(): Refusal {
  const next = 'wait for it to end, a minute at most, and try again';
  return new Refusal('busy', 'another `init` makes this home now', { next });
}

/** The mark is over where a gate that remembers its ledger is opened: what it names is nobody's leftover any more. */
export function dropMark({ unfinishedFile, seenFile }: Home): void {
  if (existsSync(unfinishedFile) && existsSync(seenFile)) removeLeft(unfinishedFile);
}

/**
 * Makes the folders of a home, and says that this process makes these files in it, and which ledgers may stand in a
 * database for it. Refuses `busy` where another does, and touches nothing of it; faults `store`.
 */
export function setMark(home: Home, ledgers: readonly string[], paths: readonly string[], now: number): void {
  const mark = home.unfinishedFile;
  try {
    makeHome(home);
    // One that was kept for the database alone gives way.
    if (existsSync(mark) && !mayRun(mark, now)) removeLeft(mark);
    writeFileSync(mark, JSON.stringify({ pid: process.pid, ledgers, paths }), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw running();
    throw isOurs(error) ? error : new Fault('store', 'the home of the gate could not be made', error);
  }
  // Another one may have come and gone between the look and the mark.
  if (!paths.some((path) => existsSync(path))) return;
  removeLeft(mark);
  throw running();
}

/** What an `init` may have left in a database is said until one came to its end; its files are gone. */
export function keepMark(home: Home, ledgers: readonly string[]): void {
  try {
    writeFileSync(home.unfinishedFile, JSON.stringify({ pid: 0, ledgers, paths: [] }), { mode: 0o600 });
  } catch {
    // Why the home could not be made is what the caller has to hear.
  }
}

/**
 * Takes away the files that an interrupted `init` left, as its mark says. Answers the ledgers that it may have begun in
 * a database, whose mark stays. Refuses `busy` while the one that set it may still run.
 * INVARIANT: no ledger that anything happened in is ever taken away (app.init.interrupted).
 */
export function clearUnfinished(home: Home, now: number): Leftover | undefined {
  const { unfinishedFile: mark, seenFile } = home;
  if (!existsSync(mark)) return undefined;
  // It was finished but for the mark; or the ledger was used since, and is nobody's leftover.
  if (existsSync(seenFile) || eventsIn(home.store) > OWN_EVENTS) {
    removeLeft(mark);
    return undefined;
  }
  if (mayRun(mark, now)) throw running();
  const { ledgers, paths } = markIn(mark);
  const made = [home.trustFile, home.threadKey, homeConfigPath(home), home.store];
  for (const path of made) if (paths.includes(path)) removeLeft(path);
  if (ledgers.length > 0) return { ledgerIds: ledgers, eventsMax: OWN_EVENTS };
  removeLeft(mark);
  return undefined;
}

interface Mark {
  readonly pid: number;
  readonly ledgers: readonly string[];
  readonly paths: readonly unknown[];
}

function markIn(path: string): Mark {
  const read = readPlainFile(path, 65_536);
  const json = read.ok ? readJson(read.bytes) : undefined;
  const { pid, ledgers, paths } = json?.ok === true && isJsonObject(json.value) ? json.value : {};
  return {
    pid: typeof pid === 'number' ? pid : 0,
    ledgers: Array.isArray(ledgers) ? ledgers.filter((id) => typeof id === 'string').slice(-LEDGERS_MAX) : [],
    paths: Array.isArray(paths) ? paths : [],
  };
}

/** Whether the one that set a mark may still be at work. */
function mayRun(mark: string, now: number): boolean {
  return isRunning(markIn(mark).pid) && Math.abs(now - statSync(mark).mtimeMs) < RUNS_MS_MAX;
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
