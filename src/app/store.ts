/**
 * Opens the ledger of a home: the file in it, or the database that its configuration names. The thread of a project is
 * projected with this gate's key on either; without it no commit that has an entry is made (thread-key.ts).
 */
import { existsSync } from 'node:fs';
import { type Clock, type Failpoint, type Random, Refusal } from '../core/index.js';
import { type Ledger, type Leftover, LocalLedger, loadPostgres, SqliteStore } from '../ledger/index.js';
import { systemClock } from './clock.js';
import { readEnvironment } from './config.js';
import type { Home } from './home.js';
import { ALL_KINDS } from './kinds.js';
import { systemRandom } from './random.js';
import { homeConfigPath, storeUrl, unreached } from './store-config.js';
import { threadsOf } from './thread-key.js';

export interface OpenedStore {
  readonly ledger: Ledger;
  readonly ledgerId: string;
}

export interface StoreOptions {
  /** For tests and simulation: replaces the server's clock as well. */
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly failpoint?: Failpoint | undefined;
  /** For tests: the time of a lease on a store that several gates share. */
  readonly leaseMs?: number | undefined;
  /** What interrupted `init`s of this home may have left. */
  readonly left?: Leftover | undefined;
}

/**
 * Opens the store of a home, or makes it for a new ledger. Refuses `not_initialized`, `already_initialized`,
 * `ledger_rolled_back`, `config_invalid`, `invalid`; faults `store`, `corrupt`.
 */
export async function openStore(home: Home, options: StoreOptions, newLedgerId?: string): Promise<OpenedStore> {
  const { clock = systemClock, random = systemRandom, failpoint } = options;
  if (newLedgerId === undefined) demandStore(home);
  const shared = {
    kinds: ALL_KINDS,
    clock,
    projections: [threadsOf(home.threadKey)],
    ...(failpoint === undefined ? {} : { failpoint }),
  };
  const url = await storeUrl(home, readEnvironment());
  if (url === undefined) {
    const store = openFile(home, newLedgerId);
    try {
      return { ledger: new LocalLedger({ ...shared, store, random }), ledgerId: store.ledgerId };
    } catch (error) {
      store.close();
      throw error;
    }
  }
  const { PostgresLedger, migratePostgres } = await loadPostgres();
  const time = options.clock === undefined ? {} : { time: () => clock.now() };
  const lease = options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs };
  try {
    if (newLedgerId !== undefined) await migratePostgres(url, newLedgerId, options.left);
    const ledger = await PostgresLedger.open({ ...shared, ...time, ...lease, url });
    if (newLedgerId !== undefined && ledger.ledgerId !== newLedgerId) {
      await ledger.close();
      throw new Refusal('busy', 'another `init` made a ledger in this database in the meantime');
    }
    return { ledger, ledgerId: ledger.ledgerId };
  } catch (error) {
    throw error instanceof Refusal && error.code === 'not_initialized' ? gone(home) : unreached(error);
  }
}

/** A file that holds no ledger is a store that is gone. */
function openFile(home: Home, newLedgerId: string | undefined): SqliteStore {
  try {
    return new SqliteStore(home.store, newLedgerId);
  } catch (error) {
    throw error instanceof Refusal && error.code === 'not_initialized' ? gone(home) : error;
  }
}

/** Refuses a home whose ledger would be a file that is not there, or whose `init` did not come to its end. */
export function demandStore(home: Home): void {
  if (existsSync(home.unfinishedFile) && !existsSync(home.seenFile)) {
    const next = 'run the same `countersign init` again';
    throw new Refusal('not_initialized', 'an `init` of this home did not come to its end', { next });
  }
  if (!existsSync(home.store) && !existsSync(homeConfigPath(home))) throw gone(home);
}

/** A home whose store is gone is no new home: its gate remembers a ledger. */
function gone(home: Home): Refusal {
  if (!existsSync(home.seenFile)) return new Refusal('not_initialized', `there is no ledger in \`${home.folder}\``);
  const next = 'put a backup back with `countersign restore FILE`';
  return new Refusal('ledger_rolled_back', `the store of the ledger in \`${home.folder}\` is gone`, { next });
}
