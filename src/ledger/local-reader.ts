/**
 * Reads of a local store with the checks that make its bytes trustworthy, and a bounded cache of parsed states.
 *
 * A state document is believed only when it equals the state that its events lead to: that is checked whenever a
 * document is not the one that this process checked or wrote before. A record of more events than `FOLD_MAX` (a
 * thread) is checked by its last event alone; `verify` checks it whole.
 */
import { contentRef, Fault, frozen, type Json, type JsonObject, LIMITS, Refusal } from '../core/index.js';
import { documentOf } from './admit.js';
import type { Base, ChangedRecord, StoredState, TakenClaim } from './batch.js';
import { eventHash } from './event.js';
import { type AnyKind, type KindName, type Kinds, type LedgerEvent, type RecordRef, recordName } from './kind.js';
import type { ListQuery, Page } from './ledger.js';
import { RecordMap } from './record-map.js';
import { type EventRow, eventOf, type LocalStore, type RecordRow, storeError } from './store.js';

const FOLD_MAX = 256;
/** Records that are known not to be there: the few that every commit looks for stay among them. */
const ABSENT_MAX = 1_024;
/** Pages of one kind that are kept. */
const PAGES_MAX = 64;

interface Cached {
  readonly stored: StoredState;
  readonly document: string | undefined;
  /** Whether its state was folded from all of its events, or follows from one that was. */
  readonly isFolded: boolean;
  /** `changes()` of the store before it was read, or in the transaction that wrote it. */
  readonly changes: number | undefined;
}

/** Pages of one kind's lists, good while `changes()` stands and this process writes no record of the kind. */
interface Pages {
  readonly changes: number | undefined;
  readonly byQuery: Map<string, Page>;
}

/** Checks a row's own hash and its place behind the event before. Answers what is wrong, or undefined. */
export function eventDefect(ledgerId: string, row: EventRow, before: LedgerEvent | undefined): string | undefined {
  if (row.revision !== (before === undefined ? 0 : before.revision + 1)) return 'an event is missing before this one';
  if (row.prev !== (before?.hash ?? null)) return 'the event does not follow the one before it';
  if (before !== undefined && row.at < before.at) return 'the event is dated before the one before it';
  if (eventHash(ledgerId, row) !== row.hash) return 'the event is not the one that was written';
  return undefined;
}

export class LocalReader {
  readonly #store: LocalStore;
  readonly #kinds: Kinds;
  readonly #cache = new RecordMap<Cached>();
  /** Records that there were none of, with the `changes()` at which that was read. */
  readonly #absent = new RecordMap<number>();
  readonly #pages = new Map<KindName, Pages>();
  /** `changes()` in the transaction of the batch: nobody else writes until it ends. */
  #batchChanges: number | undefined;
  /** `changes()` of the reads that go on now, all before anything from outside can reach this process. */
  #readChanges: { readonly changes: number | undefined } | undefined;

  constructor(store: LocalStore, kinds: Kinds) {
    this.#store = store;
    this.#kinds = kinds;
  }

  kind(ref: RecordRef): AnyKind {
    const kind = this.#kinds.get(ref.kind);
    if (kind === undefined) throw new Fault('internal', `kind ${ref.kind} is not registered`);
    return kind;
  }

  /** What one batch reads, under the lock that the store holds. */
  base(now: number, behindMs: number): Base {
    const store = this.#store;
    this.#batchChanges = store.changes();
    return {
      ledgerId: store.ledgerId,
      kinds: this.#kinds,
      now,
      behindMs,
      record: (ref) => readable(() => this.#record(ref, this.#batchChanges)),
      lookup: (kind, key) => readable(() => [...store.lookup(kind, key)]),
      claim: (scope, principal, key) => readable(() => store.claim(scope, principal, key)),
      outcome: (claim) => readable(() => this.#outcome(claim)),
    };
  }

  record(ref: RecordRef): StoredState | undefined {
    return this.#record(ref, this.#changes());
  }

  list(query: ListQuery): Page {
    const changes = this.#changes();
    if (changes === undefined) return this.#store.list(query);
    let pages = this.#pages.get(query.kind);
    if (pages?.changes !== changes || pages.byQuery.size >= PAGES_MAX) {
      pages = { changes, byQuery: new Map() };
      this.#pages.set(query.kind, pages);
    }
    const { project, statuses, principal, waiting, limit, after } = query;
    const name = JSON.stringify([project, statuses, principal, waiting, limit, after]);
    const known = pages.byQuery.get(name);
    if (known !== undefined) return known;
    const page = this.#store.list(query);
    for (const row of page.rows) Object.freeze(row);
    Object.freeze(page.rows);
    pages.byQuery.set(name, Object.freeze(page));
    return page;
  }

  /**
   * The store is asked once for all reads of one turn of the loop, before whose end no other process can be heard.
   */
  #changes(): number | undefined {
    if (this.#readChanges === undefined) {
      this.#readChanges = { changes: this.#store.changes() };
      queueMicrotask(() => {
        this.#readChanges = undefined;
      });
    }
    return this.#readChanges.changes;
  }

  #record(ref: RecordRef, changes: number | undefined): StoredState | undefined {
    const known = this.#cache.get(ref);
    if (known !== undefined && changes !== undefined && known.changes === changes) return known.stored;
    const absent = this.#absent.get(ref);
    if (absent !== undefined && absent === changes) return undefined;
    const row = this.#row(ref);
    if (row === undefined) {
      this.#rememberAbsent(ref, changes);
      return undefined;
    }
    // Behind a change by others the events may be other ones under the same head: they are read and hashed again.
    const isFolded = row.document === undefined || row.revision < FOLD_MAX;
    const stored = isFolded ? this.#fold(row) : this.#lastOnly(row);
    this.#keep({ stored, document: row.document, isFolded, changes });
    return stored;
  }

  /**
   * As `record`, and from the events as they stand in the store now: folded again, unless this process folded or wrote
   * them itself and no other connection has changed anything since.
   */
  verified(kind: AnyKind, ref: RecordRef): StoredState | undefined {
    const changes = this.#changes();
    const known = this.#cache.get(ref);
    if (known?.isFolded && changes !== undefined && known.changes === changes) return known.stored;
    const row = this.#row(ref);
    if (row === undefined) return undefined;
    if (kind.name !== ref.kind) throw new Fault('internal', 'the kind and the record do not match');
    const stored = this.#fold(row);
    this.#keep({ stored, document: row.document, isFolded: true, changes });
    return stored;
  }

  /** An older program would make another state of a newer record, so it does not try. */
  #row(ref: RecordRef): RecordRow | undefined {
    const row = this.#store.record(ref);
    if (row !== undefined && row.version > this.kind(ref).version) {
      throw new Refusal('invalid', 'the record was written by a newer version of countersign');
    }
    return row;
  }

  payload(ref: RecordRef, revision: number, address: string): Uint8Array | undefined {
    const bytes = this.#store.payload(ref, revision, address);
    if (bytes !== undefined && contentRef(bytes) !== address) {
      throw new Fault('corrupt', 'a payload is not the one that was written', undefined, { path: recordName(ref) });
    }
    return bytes;
  }

  /** The events of a record, each hashed again. */
  events(ref: RecordRef, from: number): readonly LedgerEvent[] {
    return this.#store.events(ref, from, LIMITS.pageRowsMax).map((row) => {
      if (eventHash(this.#store.ledgerId, row) === row.hash) return eventOf(row);
      throw corrupt(ref, row.revision, 'the event is not the one that was written');
    });
  }

  /** Keeps what a durable commit wrote, so that the next reader need not read it. */
  remember(records: Iterable<ChangedRecord>): void {
    const changes = this.#batchChanges;
    for (const { stored, row } of records) {
      this.#pages.delete(row.ref.kind);
      this.#absent.delete(row.ref);
      this.#keep({
        stored,
        document: row.document,
        isFolded: row.document === undefined || stored.revision < FOLD_MAX,
        changes,
      });
    }
  }

  forget(): void {
    this.#cache.clear();
    this.#absent.clear();
    this.#pages.clear();
    this.#readChanges = undefined;
  }

  #rememberAbsent(ref: RecordRef, changes: number | undefined): void {
    if (changes === undefined) return;
    if (this.#absent.size >= ABSENT_MAX) this.#absent.clear();
    this.#absent.set(ref, changes);
  }

  #keep(cached: Cached): void {
    const { ref } = cached.stored;
    this.#cache.delete(ref);
    this.#cache.set(ref, cached);
    if (this.#cache.size > LIMITS.cachedRecordsMax) this.#cache.deleteOldest();
  }

  /** Events behind the row's revision are of commits that came after the row was read. */
  #fold(row: RecordRow): StoredState {
    const kind = this.kind(row.ref);
    let state: Json | undefined;
    let before: LedgerEvent | undefined;
    for (let from = 0; from <= row.revision; from += LIMITS.pageRowsMax) {
      const page = this.#store.events(row.ref, from, Math.min(LIMITS.pageRowsMax, row.revision - from + 1));
      if (page.length === 0) break;
      for (const eventRow of page) {
        const defect = eventDefect(this.#store.ledgerId, eventRow, before);
        if (defect !== undefined) throw corrupt(row.ref, eventRow.revision, defect);
        before = eventOf(eventRow);
        state = evolved(kind, state, before);
      }
    }
    if (before === undefined || state === undefined) throw corrupt(row.ref, 0, 'the record has no events');
    if (before.hash !== row.head || before.revision !== row.revision || before.at !== row.headAt) {
      throw corrupt(row.ref, row.revision, 'the record does not stand at its last event');
    }
    if (row.version === kind.version && documentOf(kind, state) !== row.document) {
      throw corrupt(row.ref, row.revision, 'the state is not the one that the events lead to');
    }
    return storedOf(row, frozen(state));
  }

  #lastOnly(row: RecordRow): StoredState {
    const last = this.#store.event(row.ref, row.revision);
    if (last === undefined || last.hash !== row.head || eventHash(this.#store.ledgerId, last) !== last.hash) {
      throw corrupt(row.ref, row.revision, 'the record does not stand at its last event');
    }
    const kind = this.kind(row.ref);
    if (row.version !== kind.version || kind.ofLast === undefined) return this.#fold(row);
    const state = kind.ofLast(eventOf(last)) as Json;
    if (documentOf(kind, state) !== row.document) {
      throw corrupt(row.ref, row.revision, 'the state is not the one that the events lead to');
    }
    return storedOf(row, frozen(state));
  }

  #outcome(claim: TakenClaim): Json {
    const row = this.#store.event(claim.record, claim.revision);
    if (row === undefined || eventHash(this.#store.ledgerId, row) !== row.hash) {
      throw corrupt(claim.record, claim.revision, 'the event of a claim is not the one that was written');
    }
    const claims = eventOf(row).data.claims as JsonObject | undefined;
    return claims?.outcome ?? null;
  }
}

/** One record of a store that no ledger is open on, checked as a ledger would. Faults `corrupt`. */
export function recordIn(store: LocalStore, kinds: Kinds, ref: RecordRef): StoredState | undefined {
  return new LocalReader(store, kinds).record(ref);
}

function storedOf(row: RecordRow, state: Json): StoredState {
  const { ref, revision, head, headAt } = row;
  return { ref, id: ref.id, revision, head, headAt, state };
}

/** The state behind an event. Events that no kind can follow are not those that it wrote. */
function evolved(kind: AnyKind, state: Json | undefined, event: LedgerEvent): Json {
  try {
    return kind.evolve(state, event) as Json;
  } catch (error) {
    const path = `${recordName(event.record)}#${event.revision}`;
    throw new Fault('corrupt', 'the event leads to no state', error, { path });
  }
}

/** A read of a batch. What the store throws breaks the whole batch, so it must not pass for a failed decision. */
function readable<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const known = storeError('the store could not be read', error);
    throw known === error ? error : new Fault('store', known.message, error);
  }
}

function corrupt(ref: RecordRef, revision: number, what: string): Fault {
  return new Fault('corrupt', what, undefined, { path: `${recordName(ref)}#${revision}` });
}
