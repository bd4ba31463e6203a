/**
 * One batch of a group commit, as a pure function over what the store holds: each unit of work is decided over an
 * overlay in which the units before it already happened; a refused unit leaves nothing in it.
 *
 * A backend gives a `Base` (what is stored, read under its locks) and writes what the batch answers in one transaction.
 * Source: spec ledger (group commit).
 */
import { assert, canonicalize, Fault, frozen, type Json, type JsonObject, Refusal } from '../core/index.js';
import { admitColumns, admitEvent, admitWork, documentOf } from './admit.js';
import {
  type Base,
  type Batch,
  type ChangedRecord,
  claimName,
  type StoredState,
  type TakenClaim,
  type UnitResult,
  type WrittenEvent,
  type WrittenPayload,
} from './batch.js';
import { eventHash } from './event.js';
import type { AnyKind, Kind, KindName, LedgerEvent, RecordRef } from './kind.js';
import type { Decided, LookupRow, NewEvent, NewPayload, Projection, Snapshot, View, Work } from './ledger.js';
import { RecordMap } from './record-map.js';

/** What a unit of work may do and when it happens. */
interface Terms {
  readonly actor: string;
  readonly now: number;
  readonly writes: readonly RecordRef[];
  readonly claim?: Work<Json>['claim'] | undefined;
  readonly once?: Work<Json>['once'] | undefined;
}

/** The overlay of one batch. It lives as long as its transaction. */
export class BatchRun {
  readonly #base: Base;
  readonly #records = new RecordMap<ChangedRecord>();
  readonly #read = new RecordMap<StoredState | undefined>();
  readonly #claims = new Map<string, { readonly taken: TakenClaim; readonly outcome: Json }>();
  /** The changed records that stand, or stood in between, under a lookup key. */
  readonly #found = new Map<string, RecordRef[]>();
  readonly batch: Batch;

  constructor(base: Base) {
    assert(Number.isSafeInteger(base.now), 'the clock counts whole milliseconds');
    this.#base = base;
    this.batch = { events: [], payloads: [], claims: [], records: this.#records };
  }

  /**
   * Decides one unit; on success its events stand in the overlay. Whatever goes wrong in it refuses this unit alone,
   * except a store that can't be read: that Fault `store` is thrown, because nothing of the batch can be trusted then.
   */
  runUnit(work: Work<Json>, monotonic: number): UnitResult {
    try {
      admitWork(work);
      const replayed = this.#replayed(work, monotonic);
      if (replayed !== undefined) return replayed;
      const view = this.#view(work);
      const decided = work.decide(view);
      if (decided instanceof Refusal) return { refused: decided };
      const { actor, writes, claim, once } = work;
      const events = this.#append({ actor, writes, now: view.now, claim, once }, decided);
      return { committed: { outcome: decided.outcome, replayed: false, events, monotonic } };
    } catch (error) {
      if (error instanceof Fault && error.code === 'store') throw error;
      return { refused: error };
    }
  }

  /** The answer to work whose claims are taken; undefined when it has to be decided. */
  #replayed(work: Work<Json>, monotonic: number): UnitResult | undefined {
    const { claim, once = [] } = work;
    const known = claim === undefined ? undefined : this.#known(claim.scope, claim.principal, claim.key);
    if (claim !== undefined && known !== undefined) {
      if (known.taken.command !== claim.command) {
        return { refused: new Refusal('idempotency_reuse', 'this key stands for another command') };
      }
      return { committed: { outcome: known.outcome(), replayed: true, events: [], monotonic } };
    }
    const seen = new Set<string>();
    for (const { scope, key } of once) {
      const name = claimName(scope, '', key);
      if (seen.has(name) || this.#known(scope, '', key) !== undefined) {
        return { refused: new Refusal('replay', `this ${scope} was used already`) };
      }
      seen.add(name);
    }
    return undefined;
  }

  #known(scope: string, principal: string, key: string): { taken: TakenClaim; outcome(): Json } | undefined {
    const fresh = this.#claims.get(claimName(scope, principal, key));
    if (fresh !== undefined) return { taken: fresh.taken, outcome: () => fresh.outcome };
    const taken = this.#base.claim(scope, principal, key);
    return taken === undefined ? undefined : { taken, outcome: () => this.#base.outcome(taken) };
  }

  /** Lets a projection append what follows from the events so far. Throws whatever the projection throws. */
  runProjection(projection: Projection, batch: readonly LedgerEvent[]): void {
    const now = batch.reduce((latest, { at }) => Math.max(latest, at), this.#base.now);
    const view = {
      now,
      get: <State extends Json>(kind: Kind<State>, id: string) =>
        this.#record({ kind: kind.name, id }) as Snapshot<State> | undefined,
    };
    const writes = projection.targets(batch, view);
    if (writes.length === 0) return;
    const events = projection.project(batch, view);
    if (events.length > 0) this.#append({ actor: 'engine:gate', now, writes }, { events, outcome: null });
  }

  /** A record is read once a batch: nobody else changes it while the batch holds its locks. */
  #record(ref: RecordRef): StoredState | undefined {
    const changed = this.#records.get(ref);
    if (changed !== undefined) return changed.stored;
    const known = this.#read.get(ref);
    if (known !== undefined || this.#read.has(ref)) return known;
    const record = this.#base.record(ref);
    this.#read.set(ref, record);
    return record;
  }

  #view(work: Work<Json>): View {
    const { reads = [], writes } = work;
    let now = this.#base.now;
    for (const ref of reads) now = Math.max(now, this.#record(ref)?.headAt ?? 0);
    for (const ref of writes) now = Math.max(now, this.#record(ref)?.headAt ?? 0);
    return {
      now,
      behindMs: this.#base.behindMs,
      get: <State extends Json>(kind: Kind<State>, id: string) => {
        const ref = { kind: kind.name, id };
        assert(isNamed(writes, ref) || isNamed(reads, ref), 'decide looked at a record that its work did not name');
        return this.#record(ref) as Snapshot<State> | undefined;
      },
      lookup: (kind, key) => {
        assert(
          work.lookups?.some((l) => l.kind === kind && l.key === key),
          'decide made a lookup that was not named',
        );
        return this.#lookup(kind, key);
      },
    };
  }

  #lookup(kind: KindName, key: string): readonly LookupRow[] {
    const rows = this.#base.lookup(kind, key).filter(({ id }) => !this.#records.has({ kind, id }));
    for (const found of this.#found.get(`${kind} ${key}`) ?? []) {
      const { ref, columns } = (this.#records.get(found) as ChangedRecord).row;
      if (columns.lookup === key) rows.push({ id: ref.id, status: columns.status, principal: columns.principal });
    }
    return rows.length < 2 ? rows : rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  #kind(name: KindName): AnyKind {
    const kind = this.#base.kinds.get(name);
    assert(kind !== undefined, `kind ${name} is not registered`);
    return kind;
  }

  /** Builds everything first and publishes it together, so that a failing `evolve` leaves nothing behind. */
  #append(terms: Terms, decided: Decided<Json>): readonly LedgerEvent[] {
    const fresh: StoredState[] = [];
    const events: WrittenEvent[] = [];
    const payloads: WrittenPayload[] = [];
    const claims = decided.events.length === 0 ? [] : this.#claimsOf(terms, decided.events[0] as NewEvent);
    assert(
      claims.length > 0 || (terms.claim === undefined && !terms.once?.length),
      'a claim needs an event that takes it',
    );
    for (const draft of decided.events) {
      assert(isNamed(terms.writes, draft.record), 'an event for a record that its work did not name');
      admitEvent(draft);
      const first = events.length === 0 && claims.length > 0;
      const data = first ? { ...draft.data, claims: claimData(terms, claims, decided.outcome) } : draft.data;
      const at = fresh.findIndex(({ ref }) => isSame(ref, draft.record));
      const before = at < 0 ? this.#record(draft.record) : fresh[at];
      const event = this.#event(terms, draft, data, before);
      const state = frozen(this.#kind(draft.record.kind).evolve(before?.state, event) as Json);
      const { record: ref, revision, hash } = event;
      const stored = { ref, id: ref.id, revision, head: hash, headAt: event.at, state };
      if (at < 0) fresh.push(stored);
      else fresh[at] = stored;
      events.push(event);
      for (const address of event.payloads) {
        const payload = draft.payloads?.find(({ ref: own }) => own === address) as NewPayload;
        payloads.push({ ...payload, record: ref, revision });
      }
    }
    const changed = fresh.map((stored) => this.#changed(stored));
    for (const event of events) this.batch.events.push(event);
    for (const payload of payloads) this.batch.payloads.push(payload);
    for (const record of changed) this.#publish(record);
    for (const taken of claims) {
      this.#claims.set(claimName(taken.scope, taken.principal, taken.key), { taken, outcome: decided.outcome });
      this.batch.claims.push(taken);
    }
    return events;
  }

  #changed(stored: StoredState): ChangedRecord {
    const { ref, revision, head, headAt, state } = stored;
    const kind = this.#kind(ref.kind);
    const columns = admitColumns(kind.columns(state));
    const row = { ref, revision, head, headAt, version: kind.version, document: documentOf(kind, state), columns };
    const created = this.#records.get(ref)?.created ?? this.#read.get(ref) === undefined;
    return { stored, row, created };
  }

  #publish(record: ChangedRecord): void {
    const { ref, columns } = record.row;
    this.#records.set(ref, record);
    if (columns.lookup === undefined) return;
    const key = `${ref.kind} ${columns.lookup}`;
    const found = this.#found.get(key);
    if (found === undefined) this.#found.set(key, [ref]);
    else if (!isNamed(found, ref)) found.push(ref);
  }

  /** The event as a store will hand it out again: its data can't be changed any more by whoever made it. */
  #event(terms: Terms, draft: NewEvent, data: JsonObject, before: StoredState | undefined): WrittenEvent {
    // The text first: what has none is refused before anything of it is frozen.
    const dataText = canonicalize(data);
    const event = {
      record: Object.freeze({ kind: draft.record.kind, id: draft.record.id }),
      revision: before === undefined ? 0 : before.revision + 1,
      type: draft.type,
      at: Math.max(terms.now, before?.headAt ?? 0),
      actor: terms.actor,
      data: frozen(data),
      dataText,
      payloads: addressesOf(draft.payloads),
      prev: before?.head ?? null,
      hash: '',
    };
    event.hash = eventHash(this.#base.ledgerId, event);
    return Object.freeze(event);
  }

  #claimsOf(terms: Terms, first: NewEvent): TakenClaim[] {
    const before = this.#record(first.record);
    const record = { kind: first.record.kind, id: first.record.id };
    const at = { record, revision: before === undefined ? 0 : before.revision + 1 };
    const nothing = { principal: '', command: '' };
    const claims: TakenClaim[] = (terms.once ?? []).map(({ scope, key }) => ({ scope, key, ...nothing, ...at }));
    if (terms.claim === undefined) return claims;
    const { scope, principal, key, command } = terms.claim;
    return [...claims, { scope, principal, key, command, ...at }];
  }
}

function isSame(a: RecordRef, b: RecordRef): boolean {
  return a.id === b.id && a.kind === b.kind;
}

/** Units of work name a handful of records. */
function isNamed(refs: readonly RecordRef[], ref: RecordRef): boolean {
  for (const named of refs) if (isSame(named, ref)) return true;
  return false;
}

const NO_ADDRESSES: readonly string[] = Object.freeze([]);

function addressesOf(payloads: readonly NewPayload[] | undefined): readonly string[] {
  if (payloads === undefined || payloads.length === 0) return NO_ADDRESSES;
  return Object.freeze([...new Set(payloads.map((payload) => payload.ref))]);
}

/** The claims as they stand in the event that takes them, so that the chain covers them and the outcome. */
function claimData(terms: Terms, claims: readonly TakenClaim[], outcome: Json): Json {
  const taken = claims.map(({ scope, principal, key, command }) => [scope, principal, key, command]);
  return terms.claim === undefined ? { taken } : { taken, outcome };
}
