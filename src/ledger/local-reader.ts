/**
 * Reads of a local store with the checks that make its bytes trustworthy, and a bounded cache of parsed states.
 *
 * A state document is believed only when it equals the state that its events lead to: that is checked whenever a document
 * is not the one that this process checked or wrote before. A record of more events than `FOLD_MAX` (a thread) is checked
 * by its last event alone; `verify` checks it whole.
 */
import { canonicalize, contentRef, Fault, type Json, type JsonObject, LIMITS, parseTrusted } from '../core/index.js';
import type { Base, StoredState, TakenClaim } from './batch.js';
import { eventHash } from './event.js';
import { type AnyKind, type Kinds, type LedgerEvent, recordName, type RecordRef } from './kind.js';
import type { EventRow, LocalStore, RecordRow } from './store.js';

const FOLD_MAX = 256;

interface Cached {
  readonly stored: StoredState;
  readonly stateText: string;
}

/** The event of a row, with its data parsed. The caller has checked or will check its hash. */
export function eventOf(row: EventRow): LedgerEvent {
  const { sequence: _, logHash: __, dataText, ...event } = row;
  return { ...event, data: parseTrusted(dataText) as JsonObject };
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
  readonly #cache = new Map<string, Cached>();

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
  base(now: number): Base {
    const store = this.#store;
    return {
      ledgerId: store.ledgerId,
      kinds: this.#kinds,
      now,
      record: (ref) => this.record(ref),
      lookup: (kind, key) => [...store.lookup(kind, key)],
      claim: (scope, principal, key) => store.claim(scope, principal, key),
      outcome: (claim) => this.#outcome(claim),
    };
  }

  record(ref: RecordRef): StoredState | undefined {
    const row = this.#store.record(ref);
    if (row === undefined) return undefined;
    const cached = this.#cache.get(recordName(ref));
    if (cached !== undefined && cached.stored.head === row.head && cached.stateText === row.stateText) return cached.stored;
    const stored = row.revision < FOLD_MAX ? this.#fold(row) : this.#lastOnly(row);
    this.#keep(stored, row.stateText);
    return stored;
  }

  /** As `record`, and always from the events as they stand in the store now. */
  verified(kind: AnyKind, ref: RecordRef): StoredState | undefined {
    const row = this.#store.record(ref);
    if (row === undefined) return undefined;
    if (kind.name !== ref.kind) throw new Fault('internal', 'the kind and the record do not match');
    return this.#fold(row);
  }

  payload(ref: RecordRef, revision: number, address: string): Uint8Array | undefined {
    const bytes = this.#store.payload(ref, revision, address);
    if (bytes !== undefined && contentRef(bytes) !== address) {
      throw new Fault('corrupt', 'a payload is not the one that was written', undefined, { path: recordName(ref) });
    }
    return bytes;
  }

  row(stored: StoredState): RecordRow {
    const kind = this.kind(stored.ref);
    return {
      ref: stored.ref,
      revision: stored.revision,
      head: stored.head,
      headAt: stored.headAt,
      version: kind.version,
      stateText: this.#textOf(stored),
      columns: kind.columns(stored.state),
    };
  }

  /** Keeps what a durable commit wrote, so that the next reader need not parse it. */
  remember(records: Iterable<StoredState>): void {
    for (const stored of records) this.#keep(stored, this.#textOf(stored));
  }

  forget(): void {
    this.#cache.clear();
    this.#texts = new WeakMap();
  }

  #texts = new WeakMap<StoredState, string>();

  #textOf(stored: StoredState): string {
    const known = this.#texts.get(stored);
    if (known !== undefined) return known;
    const text = canonicalize(stored.state);
    this.#texts.set(stored, text);
    return text;
  }

  #keep(stored: StoredState, stateText: string): void {
    const name = recordName(stored.ref);
    this.#cache.delete(name);
    this.#cache.set(name, { stored, stateText });
    if (this.#cache.size > LIMITS.cachedRecordsMax) {
      const oldest = this.#cache.keys().next().value;
      if (oldest !== undefined) this.#cache.delete(oldest);
    }
  }

  #fold(row: RecordRow): StoredState {
    const kind = this.kind(row.ref);
    let state: Json | undefined;
    let before: LedgerEvent | undefined;
    for (let from = 0; from <= row.revision; from += LIMITS.pageRowsMax) {
      for (const eventRow of this.#store.events(row.ref, from, LIMITS.pageRowsMax)) {
        const defect = eventDefect(this.#store.ledgerId, eventRow, before);
        if (defect !== undefined) throw corrupt(row.ref, eventRow.revision, defect);
        before = eventOf(eventRow);
        state = kind.evolve(state, before) as Json;
      }
    }
    if (before === undefined || state === undefined) throw corrupt(row.ref, 0, 'the record has no events');
    if (before.hash !== row.head || before.revision !== row.revision || before.at !== row.headAt) {
      throw corrupt(row.ref, row.revision, 'the record does not stand at its last event');
    }
    if (row.version === kind.version && canonicalize(state) !== row.stateText) {
      throw corrupt(row.ref, row.revision, 'the state is not the one that the events lead to');
    }
    return { ref: row.ref, id: row.ref.id, revision: row.revision, head: row.head, headAt: row.headAt, state };
  }

  #lastOnly(row: RecordRow): StoredState {
    const last = this.#store.event(row.ref, row.revision);
    if (last === undefined || last.hash !== row.head || eventHash(this.#store.ledgerId, last) !== last.hash) {
      throw corrupt(row.ref, row.revision, 'the record does not stand at its last event');
    }
    if (row.version !== this.kind(row.ref).version) return this.#fold(row);
    const state = parseTrusted(row.stateText);
    return { ref: row.ref, id: row.ref.id, revision: row.revision, head: row.head, headAt: row.headAt, state };
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

function corrupt(ref: RecordRef, revision: number, what: string): Fault {
  return new Fault('corrupt', what, undefined, { path: `${recordName(ref)}#${revision}` });
}
