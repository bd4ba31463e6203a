/**
 * Transactions beside those of the log, over a store inside this process: the outbox and the leases.
 */
import { type Clock, LIMITS, Refusal } from '../core/index.js';
import type { LocalStore } from './store.js';

/** What such transactions are given by the ledger whose store they share. */
export interface AsideDoor {
  readonly clock: Clock;
  readonly store: LocalStore;
  /** Runs in one turn over the open store, and tells errors as the ledger does. */
  use<T>(act: () => T): Promise<T>;
  /** A transaction failed: nothing in memory is trusted. */
  broken(error: unknown): void;
  jitterMs(): number;
}

type Tables = Pick<LocalStore, 'outbox' | 'leases'>;

export interface Aside {
  read<T>(act: (tables: Tables) => T): Promise<T>;
  /** Another process that writes is waited for, as a commit does. */
  write<T>(act: (tables: Tables) => T): Promise<T>;
}

export function asideOf(door: AsideDoor): Aside {
  return {
    read: (act) => door.use(() => act(door.store)),
    write: (act) => transact(door, act),
  };
}

async function transact<T>(door: AsideDoor, act: (tables: Tables) => T): Promise<T> {
  const limit = door.clock.monotonic() + LIMITS.storeWaitMsMax;
  for (;;) {
    const done = await door.use(() => attempt(door, act));
    if (done !== undefined) return done.answer;
    if (door.clock.monotonic() > limit) throw new Refusal('busy', 'other processes kept the ledger locked');
    await new Promise((resolve) => setTimeout(resolve, door.jitterMs()));
  }
}

/** In one turn, so that nothing else begins between lock and commit; undefined while another process has the lock. */
function attempt<T>({ store, broken }: AsideDoor, act: (tables: Tables) => T): { readonly answer: T } | undefined {
  if (!store.begin()) return undefined;
  try {
    const answer = act(store);
    store.commit();
    return { answer };
  } catch (error) {
    broken(error);
    throw error;
  }
}
