/**
 * The outbox: what has to reach somebody outside, kept in the ledger's store until it did, or until that is given up.
 *
 * It is no record of the ledger: tries are counted and deliveries end, and nothing of that belongs into a log that is
 * audited for ever. It promises: an entry is put once for its key, whoever puts it and however often; a try belongs to
 * one process; entries and the place in the log up to which they were made are written together.
 * Source: spec ledger (outbox), doors (notifications); docs/decisions/0016.
 */
import { type Clock, LIMITS, Refusal } from '../core/index.js';
import type { LocalStore } from './store.js';

/** `lapsed`: nobody waits for it any more. `dead`: given up, and shown. */
export type OutboxState = 'waiting' | 'delivered' | 'lapsed' | 'dead';

export interface NewOutboxEntry {
  /** The same for the same news, channel and recipient: 64 hex digits. */
  readonly key: string;
  readonly channel: string;
  /** The kind of the news, such as `asked`. */
  readonly notice: string;
  /** What is delivered, as JSON; small, and without a secret. */
  readonly body: string;
  /** When it was put, which is when it is due first. Milliseconds since the epoch. */
  readonly at: number;
  /** Not delivered from then on. */
  readonly until: number;
}

export interface OutboxEntry extends NewOutboxEntry {
  readonly state: OutboxState;
  /** Tries that were begun. */
  readonly tries: number;
  /** When it is tried next. */
  readonly due: number;
  readonly ended: number | null;
  /** Why the last try failed, in one word; null where none did. */
  readonly code: string | null;
}

/** How a try ended; one that failed and is tried again stays `waiting`. */
export interface OutboxResult {
  readonly state: OutboxState;
  readonly at: number;
  readonly code: string | null;
}

export interface OutboxCount {
  readonly channel: string;
  readonly state: OutboxState;
  readonly count: number;
}

/** The place in the log up to which entries were made. `from` is what it was before; undefined for none. */
export interface OutboxMove {
  readonly from: number | undefined;
  readonly to: number;
}

/** Every method rejects with the Fault `store`, or the Refusal `busy`. */
export interface Outbox {
  /** The place in the log up to which entries were made; undefined before the first. */
  cursor(): Promise<number | undefined>;
  /**
   * Puts the entries that are not there yet, and moves the place, all of it or nothing. False where the place was
   * another one: somebody else made these entries, and nothing is written.
   */
  put(entries: readonly NewOutboxEntry[], move?: OutboxMove): Promise<boolean>;
  /** Entries of a channel that wait and are due, the oldest first. */
  due(channel: string, now: number, limit: number): Promise<readonly OutboxEntry[]>;
  /**
   * Takes the next try of an entry that waits, and says when it is tried again should nobody tell how it ended. False
   * where another process has taken it: `tries` is how many were begun before.
   */
  begin(key: string, tries: number, dueAgain: number): Promise<boolean>;
  /** Writes how the try that was taken ended. False where another one was begun since. */
  end(key: string, tries: number, result: OutboxResult): Promise<boolean>;
  /** The newest of some states. */
  list(states: readonly OutboxState[], limit: number): Promise<readonly OutboxEntry[]>;
  counts(): Promise<readonly OutboxCount[]>;
  /** Removes what ended before a time, and what is beyond `keep` ended ones; at most `limit`. Answers how many. */
  clear(before: number, keep: number, limit: number): Promise<number>;
  /** Takes or renews the lease to deliver: at most one holder has it. */
  hold(holder: string, ms: number): Promise<boolean>;
  /** Gives it back. */
  release(holder: string): Promise<void>;
}

/** The outbox of a store inside this process, called within a transaction of it. */
export interface OutboxTable {
  cursor(): number | undefined;
  move(to: number): void;
  /** Nothing happens where the key is there. */
  insert(entry: NewOutboxEntry): void;
  due(channel: string, now: number, limit: number): readonly OutboxEntry[];
  begin(key: string, tries: number, dueAgain: number): boolean;
  end(key: string, tries: number, result: OutboxResult): boolean;
  list(states: readonly OutboxState[], limit: number): readonly OutboxEntry[];
  counts(): readonly OutboxCount[];
  clear(before: number, keep: number, limit: number): number;
  hold(holder: string, now: number, until: number): boolean;
  release(holder: string): void;
}

/** What the outbox is given by the ledger whose store it shares. */
export interface OutboxDoor {
  readonly clock: Clock;
  readonly store: LocalStore;
  /** Runs in one turn over the open store, and tells errors as the ledger does. */
  use<T>(act: () => T): Promise<T>;
  /** A transaction failed: nothing in memory is trusted. */
  broken(error: unknown): void;
  jitterMs(): number;
}

/** The outbox over a store inside this process. */
export function localOutbox(door: OutboxDoor): Outbox {
  const { clock, store } = door;
  const read = <T>(act: (table: OutboxTable) => T) => door.use(() => act(store.outbox));
  const write = <T>(act: (table: OutboxTable) => T) => transact(door, act);
  return {
    cursor: () => read((table) => table.cursor()),
    put: (entries, move) =>
      write((table) => {
        if (move !== undefined && table.cursor() !== move.from) return false;
        if (move !== undefined) table.move(move.to);
        for (const entry of entries) table.insert(entry);
        return true;
      }),
    due: (channel, now, limit) => read((table) => table.due(channel, now, limit)),
    begin: (key, tries, dueAgain) => write((table) => table.begin(key, tries, dueAgain)),
    end: (key, tries, result) => write((table) => table.end(key, tries, result)),
    list: (states, limit) => read((table) => table.list(states, limit)),
    counts: () => read((table) => table.counts()),
    clear: (before, keep, limit) => write((table) => table.clear(before, keep, limit)),
    hold: (holder, ms) => write((table) => table.hold(holder, clock.now(), clock.now() + ms)),
    release: (holder) => write((table) => table.release(holder)),
  };
}

/** A transaction of its own, beside those of the log. Another process that writes is waited for, as a commit does. */
async function transact<T>(door: OutboxDoor, act: (table: OutboxTable) => T): Promise<T> {
  const limit = door.clock.monotonic() + LIMITS.storeWaitMsMax;
  for (;;) {
    const done = await door.use(() => attempt(door, act));
    if (done !== undefined) return done.answer;
    if (door.clock.monotonic() > limit) throw new Refusal('busy', 'other processes kept the ledger locked');
    await new Promise((resolve) => setTimeout(resolve, door.jitterMs()));
  }
}

/** In one turn, so that nothing else begins between lock and commit; undefined while another process has the lock. */
function attempt<T>({ store, broken }: OutboxDoor, act: (table: OutboxTable) => T): { readonly answer: T } | undefined {
  if (!store.begin()) return undefined;
  try {
    const answer = act(store.outbox);
    store.commit();
    return { answer };
  } catch (error) {
    broken(error);
    throw error;
  }
}
