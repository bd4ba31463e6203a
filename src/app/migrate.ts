/**
 * Moves the ledger of a home to another store: from its file to a database, back, or between databases; and brings the
 * schema of a store forward.
 *
 * The source is taken from every gate, verified, copied in one stream, and the copy verified and compared with all that
 * was read. On any difference the source stays as it was and the target is empty. Only then is the configuration of the
 * home switched, in one step. Whatever it is cut off at, the same command brings it to its end. What the gate remembers
 * names the same end of the same log, so that it vouches for the ledger in its new store.
 * Source: spec ledger (backends).
 */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Failpoint, Fault, isOurs, Refusal } from '../core/index.js';
import {
  demandSame,
  Fingerprint,
  type Items,
  itemsOf,
  LocalLedger,
  type LogHead,
  loadPostgres,
  SqliteStore,
  type VerifyReport,
  writeItems,
} from '../ledger/index.js';
import { systemClock } from './clock.js';
import { readEnvironment } from './config.js';
import { checkHome, type Home } from './home.js';
import { ALL_KINDS } from './kinds.js';
import { systemRandom } from './random.js';
import { readSeen } from './seen.js';
import { demandStore, openStore } from './store.js';
import { homeConfigPath, resolveStoreUrl, storeUrl } from './store-config.js';

/** The word for the file of the home, where a database is named by its URL. */
export const EMBEDDED = 'embedded';

export interface Migrated {
  readonly ledgerId: string;
  /** Absent where only the schema was brought forward. */
  readonly moved?: { readonly events: number; readonly head: LogHead; readonly kept: string | undefined };
}

export interface MigrateOptions {
  readonly now: number;
  /** For tests. */
  readonly failpoint?: Failpoint;
}

/** A ledger that a migration looks at: the source, or the copy of it. */
interface Looked {
  readonly ledgerId: string;
  verify(expected?: LogHead): Promise<VerifyReport>;
  items(): Items;
}

interface Source extends Looked {
  /** Refuses this store to every gate from now on; answers where what is left of it stands. */
  leave(): Promise<string | undefined>;
  readonly isLeftFirst: boolean;
}

/** Brings the schema of a home's store forward. Refuses `not_initialized`, `invalid` for a newer one, `forbidden`. */
export async function migrateSchema(home: Home): Promise<Migrated> {
  checkHome(home);
  demandStore(home);
  const url = await storeUrl(home, readEnvironment());
  if (url !== undefined) {
    const { migratePostgres } = await loadPostgres();
    return { ledgerId: await migratePostgres(url) };
  }
  const store = new SqliteStore(home.store);
  store.close();
  return { ledgerId: store.ledgerId };
}

/**
 * Moves the ledger to `to`: `postgres://…`, `env:NAME`, `file:PATH`, or `embedded`. Refuses `busy` while a gate is
 * open on it, `already_initialized` where another ledger stands, `invalid`, `forbidden`; faults `corrupt` on any
 * difference.
 */
export async function migrateTo(home: Home, to: string, options: MigrateOptions): Promise<Migrated> {
  const environment = readEnvironment();
  checkHome(home);
  demandStore(home);
  const from = await storeUrl(home, environment);
  const target = to === EMBEDDED ? undefined : resolveStoreUrl(to, environment);
  if (from === target) throw new Refusal('invalid', 'the ledger stands there already', { path: 'to' });
  const failpoint = options.failpoint ?? (() => undefined);
  return fromStore(home, from, options.now, async (source) => {
    const seen = readSeen(home.seenFile);
    if (seen?.placed === true) throw new Refusal('ledger_rolled_back', 'a backup was put in the place of the store');
    const report = await source.verify(seen && { sequence: seen.sequence, logHash: seen.log_hash });
    demandWhole(report);
    if (target === undefined) await toFile(home, source, report, failpoint);
    else await toServer(target, source, report, failpoint);
    failpoint('migrate.verified');
    // INVARIANT: no gate can write to a store that is not the ledger any more (migrate.no-fork).
    let kept = source.isLeftFirst ? await source.leave() : undefined;
    switchConfig(home, target === undefined ? undefined : to);
    failpoint('migrate.switched');
    if (!source.isLeftFirst) kept = await source.leave();
    return { ledgerId: source.ledgerId, moved: { events: report.events, head: report.head, kept } };
  });
}

async function fromStore<T>(
  home: Home,
  url: string | undefined,
  now: number,
  act: (source: Source) => Promise<T>,
): Promise<T> {
  if (url !== undefined) {
    const { withHeldLedger } = await loadPostgres();
    await settle(home);
    return withHeldLedger(url, ALL_KINDS, (held) =>
      act({ ...held, isLeftFirst: true, leave: () => held.markMoved().then(() => undefined) }),
    );
  }
  const store = SqliteStore.openAlone(home.store);
  try {
    const kept = `${home.store}.moved-${now}`;
    const leave = async () => {
      renameSync(home.store, kept);
      return kept;
    };
    return await act({ ...lookAt(store), isLeftFirst: false, leave });
  } finally {
    store.close();
  }
}

/** Lets what killed gates left find its place in the log. A ledger that was moved is left alone. */
async function settle(home: Home): Promise<void> {
  try {
    const { ledger } = await openStore(home, {});
    await ledger.close();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'invalid') throw error;
  }
}

function lookAt(store: SqliteStore): Looked {
  const ledger = new LocalLedger({ store, kinds: ALL_KINDS, clock: systemClock, random: systemRandom });
  return { ledgerId: store.ledgerId, verify: (expected) => ledger.verify(expected), items: () => itemsOf(store) };
}

async function toServer(url: string, source: Source, report: VerifyReport, failpoint: Failpoint): Promise<void> {
  const { importLedger, inspectLedger } = await loadPostgres();
  const fingerprint = new Fingerprint();
  const { ledgerId } = source;
  try {
    const items = fingerprint.through(source.items());
    await importLedger(url, { ledgerId, kinds: ALL_KINDS, items }, async (copy) => {
      failpoint('migrate.copied');
      await demandCopy(copy, report, fingerprint.value);
    });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'already_initialized') throw error;
    // A migration that was cut off behind the copy: it is the ledger if it is the same to the last byte.
    const found = (one: Looked) => demandResumed(one, source, report, error);
    await inspectLedger(url, ALL_KINDS, found).catch((other: unknown) => {
      // One that was moved out of there, or of another version, is another ledger than this.
      throw other instanceof Refusal && other.code === 'invalid' ? error : other;
    });
  }
}

async function toFile(home: Home, source: Source, report: VerifyReport, failpoint: Failpoint): Promise<void> {
  if (existsSync(home.store)) {
    const taken = new Refusal('already_initialized', 'there is a ledger in the file of the home already', {
      next: `move \`${home.store}\` away`,
    });
    await withStore(SqliteStore.openAlone(home.store), (found) => demandResumed(found, source, report, taken));
    return;
  }
  const incoming = `${home.store}.incoming`;
  removeStore(incoming);
  try {
    const fingerprint = new Fingerprint();
    const store = new SqliteStore(incoming, source.ledgerId);
    await withStore(store, async () => writeItems(store, fingerprint.through(source.items())));
    failpoint('migrate.copied');
    // Opened by itself, and alone: nothing of it is left in a journal.
    await withStore(SqliteStore.openAlone(incoming), (copy) => demandCopy(copy, report, fingerprint.value));
    sync(incoming);
    renameSync(incoming, home.store);
    sync(dirname(home.store));
  } catch (error) {
    removeStore(incoming);
    throw isOurs(error) ? error : new Fault('store', 'the ledger could not be copied', error);
  }
}

async function withStore(store: SqliteStore, act: (looked: Looked) => Promise<void>): Promise<void> {
  try {
    await act(lookAt(store));
  } finally {
    store.close();
  }
}

async function demandResumed(found: Looked, source: Source, report: VerifyReport, taken: Refusal): Promise<void> {
  if (found.ledgerId !== source.ledgerId) throw taken;
  const { head } = await found.verify();
  if (head.sequence !== report.head.sequence || head.logHash !== report.head.logHash) throw taken;
  await demandCopy(found, report, await Fingerprint.of(source.items()));
}

/** INVARIANT: a copy becomes the ledger only when nothing in it differs (migrate.refuses-difference). */
async function demandCopy(copy: Looked, report: VerifyReport, fingerprint: string): Promise<void> {
  const copied = await copy.verify(report.head);
  demandWhole(copied);
  const counts = (one: VerifyReport) => JSON.stringify([one.events, one.records, one.payloads, one.erased, one.head]);
  demandSame(counts(report), counts(copied));
  demandSame(fingerprint, await Fingerprint.of(copy.items()));
}

function demandWhole({ defects: [defect] }: VerifyReport): void {
  if (defect !== undefined) throw new Fault('corrupt', `${defect.where}: ${defect.what}`);
}

/** Names the store of a home from now on, in one step. */
function switchConfig(home: Home, to: string | undefined): void {
  const path = homeConfigPath(home);
  try {
    if (to === undefined) rmSync(path, { force: true });
    else {
      const temporary = `${path}.${process.pid}`;
      writeFileSync(temporary, `# Where the ledger stands.\nstore: ${JSON.stringify(to)}\n`, { mode: 0o600 });
      sync(temporary);
      renameSync(temporary, path);
    }
    sync(home.folder);
  } catch (error) {
    throw new Fault('store', 'the configuration of the home could not be switched', error);
  }
}

function removeStore(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true });
}

function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
