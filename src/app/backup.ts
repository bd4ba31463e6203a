/**
 * Backups of the embedded store: a complete copy while others go on working, and putting one back.
 *
 * Putting one back makes no gate launch again by itself: what the gate remembers is longer than the backup, so
 * everything waits for an operator's signature (kind restore).
 * Source: spec ledger (backends), authority (identity of the ledger).
 */
import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Fault, isOurs, Refusal } from '../core/index.js';
import { LEDGER_RECORD, type LedgerState } from '../identity/index.js';
import { headOf, LocalLedger, type LogHead, recordIn, SqliteStore } from '../ledger/index.js';
import { atBorder } from './border.js';
import { systemClock } from './clock.js';
import type { Home } from './home.js';
import { ALL_KINDS } from './kinds.js';
import type { CountersignGate } from './open.js';
import { systemRandom } from './random.js';
import { demandReadable, seenIn, seenOf, writeSeen } from './seen.js';

/**
 * Writes a verified copy. Refuses `invalid` for a path that exists or has no folder; faults `corrupt` for a copy that
 * does not verify.
 */
export function backupTo(gate: CountersignGate, path: string): Promise<{ path: string; events: number }> {
  return atBorder(gate.services.log, { path }, (asked) => writeBackup(gate, resolve(asked.path)));
}

async function writeBackup(gate: CountersignGate, target: string): Promise<{ path: string; events: number }> {
  if (existsSync(target)) throw new Refusal('invalid', 'there is a file at the path of the backup', { path: 'file' });
  if (!existsSync(dirname(target))) {
    throw new Refusal('invalid', 'there is no folder for the backup', { path: 'file', next: 'make the folder first' });
  }
  await gate.ledger.backup(target);
  return { path: target, events: (await verifyCopy(target)).events };
}

/** What was handed over is the caller's: a file that no store can be opened on is no fault of ours. */
function openCopy(path: string): SqliteStore {
  try {
    return new SqliteStore(path);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'corrupt') throw error;
    throw new Refusal('invalid', 'the file is no backup of a ledger', { path: 'file' });
  }
}

/** Opens a copy by itself and verifies it whole. */
async function verifyCopy(path: string) {
  const store = openCopy(path);
  const ledger = new LocalLedger({ store, kinds: ALL_KINDS, clock: systemClock, random: systemRandom });
  try {
    const report = await ledger.verify();
    const [defect] = [...report.defects, ...report.gone];
    if (defect !== undefined) throw new Fault('corrupt', `${defect.where}: ${defect.what}`);
    return { ...report, ledgerId: store.ledgerId };
  } finally {
    await ledger.close();
  }
}

/** How far a ledger is known to have come. */
interface Known {
  readonly epoch: number;
  readonly head: LogHead;
}

/**
 * What a gate remembers from now on: the furthest that is known of its ledger, and that something was put in the
 * place of the store. So whatever that is, it launches nothing until an operator has accepted it.
 */
function demandAcceptance(home: Home, ledgerId: string, known: readonly Known[]): void {
  const seen = seenIn(home.seenFile);
  const own = { epoch: seen?.epoch ?? 0, head: { sequence: seen?.sequence ?? 0, logHash: seen?.log_hash ?? '' } };
  const all = seen?.ledger_id === ledgerId ? [...known, own] : known;
  const { head } = all.reduce((far, one) => (one.head.sequence >= far.head.sequence ? one : far));
  const epoch = Math.max(...all.map((one) => one.epoch));
  writeSeen(home.seenFile, { ...seenOf(ledgerId, epoch, head), placed: true }, { force: true });
}

/** What a store that nobody else has open says of itself. */
function knownOf(store: SqliteStore): Known {
  const ledger = recordIn(store, ALL_KINDS, LEDGER_RECORD)?.state as LedgerState | undefined;
  return { epoch: ledger?.epoch ?? 0, head: headOf(store.tail()) };
}

function ofAnother(): Refusal {
  const next = 'name a backup of this ledger, or put this one back in another home with `--home FOLDER`';
  return new Refusal('audience', 'the backup is of another ledger', { next });
}

/** The journals of a store that is gone would be played into whatever stands in its place. */
function keepJournals(store: string, kept: string): void {
  for (const suffix of ['-wal', '-shm', '-journal']) {
    if (existsSync(`${store}${suffix}`)) renameSync(`${store}${suffix}`, `${kept}${suffix}`);
  }
}

/** Nobody can tell whether a gate is open on a file that is no store any more: its owner has to move it away. */
function takeAlone(store: string, act: (found: SqliteStore) => void): void {
  try {
    SqliteStore.alone(store, act);
  } catch (error) {
    const isEmpty = error instanceof Refusal && error.code === 'not_initialized';
    if (!isEmpty && !(error instanceof Fault && error.code === 'corrupt')) throw error;
    const next = `stop every gate of this home, move \`${store}\` away, and restore again`;
    throw new Fault('corrupt', 'what stands in the place of the store is none', error, { next });
  }
}

/**
 * Puts a verified copy in the place of the store; the store before is kept beside it. Refuses `busy` while any gate is
 * open on this home, `not_found`, `audience` for another ledger's backup; faults `corrupt`.
 */
export async function placeBackup(home: Home, path: string, now: number): Promise<{ kept: string | undefined }> {
  const source = resolve(path);
  if (!existsSync(source)) throw new Refusal('not_found', 'there is no such backup', { path: 'file' });
  if (!statSync(source).isFile()) throw new Refusal('invalid', 'the backup is no plain file', { path: 'file' });
  const incoming = `${home.store}.incoming-${now}`;
  try {
    // What is remembered and can't be read is not given up.
    if (existsSync(home.seenFile)) demandReadable(home.seenFile);
    const copy = await verifyCopy(source);
    const original = new SqliteStore(source);
    const known = knownOf(original);
    await original.backup(incoming);
    original.close();
    const kept = `${home.store}.before-${now}`;
    if (!existsSync(home.store)) {
      demandAcceptance(home, copy.ledgerId, [known]);
      keepJournals(home.store, kept);
      renameSync(incoming, home.store);
      return { kept: undefined };
    }
    // INVARIANT: no gate writes on into a store that is no longer the ledger (app.restore.alone).
    takeAlone(home.store, (store) => {
      if (store.ledgerId !== copy.ledgerId) throw ofAnother();
      demandAcceptance(home, copy.ledgerId, [known, knownOf(store)]);
      renameSync(home.store, kept);
      renameSync(incoming, home.store);
    });
    return { kept };
  } catch (error) {
    rmSync(incoming, { force: true });
    throw isOurs(error) ? error : new Fault('store', 'the backup could not be put back', error);
  }
}
