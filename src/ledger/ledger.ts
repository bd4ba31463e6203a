/**
 * The durable memory of the gate: records made of events, in one total order, committed several at a time or not at
 * all.
 *
 * It promises: a commit that was answered is durable; a record's events have no gaps and name their predecessor by
 * hash; a claim is taken once; a refused unit of work leaves nothing behind; `decide` sees states that nobody else
 * changes before its events are written. It refuses to change or delete an event, to hand out a payload whose bytes
 * are not those of its digest, and to open a store that is newer than it knows.
 * Every method is asynchronous, because a client-server store is; `decide` is synchronous and pure on every backend.
 * Source: spec ledger.
 */
import type { Json, JsonObject, Refusal } from '../core/index.js';
import type { Columns, Kind, KindName, LedgerEvent, RecordRef } from './kind.js';
import type { Leases } from './leases.js';
import type { Outbox } from './outbox.js';

/** A state and the place in its record's history at which it stands. */
export interface Snapshot<State> {
  readonly id: string;
  readonly revision: number;
  /** Hash of the record's last event. */
  readonly head: string;
  readonly headAt: number;
  readonly state: State;
}

/** A row that a lookup found, without its state. */
export interface LookupRow {
  readonly id: string;
  readonly status: string | undefined;
  readonly principal: string | undefined;
}

/** What `decide` sees: the records that the work named, locked, and the time read after the last lock. */
export interface View {
  /**
   * Milliseconds since the epoch; never before the last event of the log, or of any record that the work names. The
   * events of this unit are dated with it.
   * INVARIANT: what time has closed stays closed when a clock is set back (ledger.time.forward).
   */
  readonly now: number;
  /** How many milliseconds the clock stood before the last event of the log: whoever acts by time looks at it. */
  readonly behindMs: number;
  get<State extends Json>(kind: Kind<State>, id: string): Snapshot<State> | undefined;
  /** The open records of a kind under a lookup key that the work named, by id. */
  lookup(kind: KindName, key: string): readonly LookupRow[];
}

export interface NewEvent {
  readonly record: RecordRef;
  readonly type: string;
  /** Taken over by the ledger, which freezes it. */
  readonly data: JsonObject;
  /** Bytes that the event refers to, kept apart and erasable, by the digest of `contentRef`. */
  readonly payloads?: readonly NewPayload[];
}

export interface NewPayload {
  /** `sha256:` and the hex of SHA-256 of the bytes. */
  readonly ref: string;
  readonly bytes: string | Uint8Array;
}

export interface Decided<Outcome extends Json> {
  readonly events: readonly NewEvent[];
  /**
   * What the caller is told, and told again when the same claim comes back. Small: ids and states. A claim needs an
   * event.
   */
  readonly outcome: Outcome;
}

/** An idempotency key. The same claim with the same command gets the recorded outcome, another command is refused. */
export interface Claim {
  readonly scope: string;
  readonly principal: string;
  readonly key: string;
  /** digest(`countersign-command/1`, …) of the command. */
  readonly command: string;
}

/** Something that may be used one single time: a nonce. */
export interface OnceClaim {
  readonly scope: string;
  readonly key: string;
}

/** One unit of work: all of it happens, or none. */
export interface Work<Outcome extends Json> {
  readonly actor: string;
  readonly claim?: Claim;
  /** Taken already → refused as `replay`. */
  readonly once?: readonly OnceClaim[];
  /** Records that `decide` looks at and that nobody may change meanwhile. */
  readonly reads?: readonly RecordRef[];
  /** Records that `decide` may append to. */
  readonly writes: readonly RecordRef[];
  /** Lookups that `decide` makes; exact as long as every writer of such a key also locks a record named after it. */
  readonly lookups?: readonly { readonly kind: KindName; readonly key: string }[];
  decide(view: View): Decided<Outcome> | Refusal;
}

export interface Committed<Outcome> {
  readonly outcome: Outcome;
  /** True when an earlier commit under the same claim had this outcome and nothing was written now. */
  readonly replayed: boolean;
  /** The events that this unit appended, in order. Empty when replayed. */
  readonly events: readonly LedgerEvent[];
  /**
   * The monotonic clock just before the commit's time was read: how long ago that was can't be changed by a clock
   * that jumps.
   */
  readonly monotonic: number;
}

/** An event at its place in the total order. */
export interface LogEntry {
  /** 1, 2, 3 … without gaps. */
  readonly sequence: number;
  /** SHA-256 over the log hash before and the event's hash: one value that stands for the whole log so far. */
  readonly logHash: string;
  readonly event: LedgerEvent;
}

/** The end of the log: what a gate remembers outside the store. */
export interface LogHead {
  readonly sequence: number;
  readonly logHash: string;
}

export interface ListQuery {
  readonly kind: KindName;
  readonly project?: string;
  /** Any of these. */
  readonly statuses?: readonly string[];
  readonly principal?: string;
  /** Only records that wait for something, most urgent first; else newest first, by id. */
  readonly waiting?: boolean;
  /** At most `pageRowsMax`. */
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly after?: string;
}

export interface ListRow extends Columns {
  readonly id: string;
  readonly revision: number;
  readonly updated: number;
}

export interface Page {
  readonly rows: readonly ListRow[];
  readonly next?: string;
}

/** One defect that `verify` found, by the record and revision at which it stands. */
export interface Defect {
  readonly where: string;
  readonly what: string;
}

export interface VerifyReport {
  readonly events: number;
  readonly records: number;
  readonly payloads: number;
  /** Payloads whose digests stand and whose bytes are gone; whether they may be is for the audit to say. */
  readonly erased: number;
  /** Where the first of them stood. */
  readonly gone: readonly Defect[];
  readonly head: LogHead;
  /** The first defects, at most `defectsMax`; empty when all is well. */
  readonly defects: readonly Defect[];
}

/** Makes the entries of derived records (a project's thread) from each batch of events, exactly once. */
export interface Projection {
  readonly name: string;
  /**
   * The records that this projection will append to, for these events. Throws where no entry can be made of one of
   * them: the unit that it belongs to is refused then, on a store that projects after the commit as well.
   */
  targets(batch: readonly LedgerEvent[], view: ProjectionView): readonly RecordRef[];
  project(batch: readonly LedgerEvent[], view: ProjectionView): readonly NewEvent[];
}

/** What a projection sees: the records as they stand after the batch. */
export interface ProjectionView {
  readonly now: number;
  get<State extends Json>(kind: Kind<State>, id: string): Snapshot<State> | undefined;
}

export interface Ledger {
  /** What is delivered to others; no part of the log. */
  readonly outbox: Outbox;
  /** Who holds which name for a time; no part of the log. */
  readonly leases: Leases;
  /** Rejects with the `Refusal` that `decide` answered, `replay`, `idempotency_reuse` or `busy`, or with a `Fault`. */
  commit<Outcome extends Json>(work: Work<Outcome>): Promise<Committed<Outcome>>;
  read<State extends Json>(kind: Kind<State>, id: string): Promise<Snapshot<State> | undefined>;
  /**
   * Reads a record's events from the store, checks every hash and link and that they lead to the state document beside
   * them, and answers the state made anew. Rejects with Fault `corrupt` on any difference.
   */
  readVerified<State extends Json>(kind: Kind<State>, id: string): Promise<Snapshot<State> | undefined>;
  /** The open records of a kind under a lookup key, by id. */
  lookup(kind: KindName, key: string): Promise<readonly LookupRow[]>;
  list(query: ListQuery): Promise<Page>;
  /** The event at each revision from `from` on, at most `pageRowsMax`, hashed again. Rejects with Fault `corrupt`. */
  events(ref: RecordRef, from?: number): Promise<readonly LedgerEvent[]>;
  /** The bytes of a payload, hashed again; undefined when they were erased. Rejects with Fault `corrupt`. */
  payload(ref: RecordRef, revision: number, address: string): Promise<Uint8Array | undefined>;
  head(): Promise<LogHead>;
  /** Entries behind a sequence, at most `pageRowsMax`, or fewer. */
  log(after: number, limit?: number): Promise<readonly LogEntry[]>;
  /** Follows the log from behind a sequence, without skipping, until the signal aborts. */
  watch(after: number, signal: AbortSignal): AsyncIterable<LogEntry>;
  /** Recomputes every hash, link, state, column and claim. `expected` is a head that the log must contain. */
  verify(expected?: LogHead): Promise<VerifyReport>;
  /**
   * Writes a complete copy to a path that does not exist yet, while others go on working. Refuses `invalid`; faults
   * `store`.
   */
  backup(path: string): Promise<void>;
  /**
   * Why this process may launch and recover nothing at present: it does not hold its lease on a store that several
   * gates
   * share, and others may have taken it for dead. A store of one machine has no leases.
   */
  leaseBarrier?(): Refusal | undefined;
  /** Whether another gate may be at work on a store that several share. */
  hasOthers?(): Promise<boolean>;
  /** Finishes the work that waits, and takes no more. */
  close(): Promise<void>;
}
