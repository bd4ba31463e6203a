/**
 * The outbox: what has to reach somebody outside, kept in the ledger's store until it did, or until that is given up.
 *
 * It is no record of the ledger: tries are counted and deliveries end, and nothing of that belongs into a log that is
 * audited for ever. It promises: an entry is put once for its key, whoever puts it and however often; a try belongs to
 * one process; entries and the place in the log up to which they were made are written together.
 * Source: spec ledger (outbox), doors (notifications); docs/decisions/0016.
 */
import type { Aside } from './aside.js';

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
}

/** The outbox over a store inside this process. */
export function localOutbox({ read, write }: Aside): Outbox {
  return {
    cursor: () => read(({ outbox }) => outbox.cursor()),
    put: (entries, move) =>
      write(({ outbox }) => {
        if (move !== undefined && outbox.cursor() !== move.from) return false;
        if (move !== undefined) outbox.move(move.to);
        for (const entry of entries) outbox.insert(entry);
        return true;
      }),
    due: (channel, now, limit) => read(({ outbox }) => outbox.due(channel, now, limit)),
    begin: (key, tries, dueAgain) => write(({ outbox }) => outbox.begin(key, tries, dueAgain)),
    end: (key, tries, result) => write(({ outbox }) => outbox.end(key, tries, result)),
    list: (states, limit) => read(({ outbox }) => outbox.list(states, limit)),
    counts: () => read(({ outbox }) => outbox.counts()),
    clear: (before, keep, limit) => write(({ outbox }) => outbox.clear(before, keep, limit)),
  };
}
