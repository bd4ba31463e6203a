/**
 * One batch of a group commit, as a pure function over what the store holds: each unit of work is decided over an overlay
 * in which the units before it already happened; a refused unit leaves nothing in it.
 *
 * A backend gives a `Base` (what is stored, read under its locks) and writes what the batch answers in one transaction.
 * Source: spec ledger (group commit).
 */
import { assert, canonicalize, type Json, LIMITS, Refusal } from '../core/index.js';
import { type EventText, eventFromText, eventHash } from './event.js';
import { type AnyKind, type Kind, type KindName, type Kinds, type LedgerEvent, recordName, type RecordRef } from './kind.js';
import type { Committed, Decided, LookupRow, NewEvent, NewPayload, Projection, Snapshot, View, Work } from './ledger.js';

/** A record as it stands: its state is parsed once. */
export interface StoredState extends Snapshot<Json> {
  readonly ref: RecordRef;
}

/** A claim that is taken, and the event that took it. */
export interface TakenClaim {
  readonly scope: string;
  readonly principal: string;
  readonly key: string;
  readonly command: string;
  readonly record: RecordRef;
  readonly revision: number;
}

/** What a batch may ask the store, all of it read under the locks of the batch. */
export interface Base {
  readonly ledgerId: string;
  readonly kinds: Kinds;
  /** Read after the last lock. */
  readonly now: number;
  record(ref: RecordRef): StoredState | undefined;
  lookup(kind: KindName, key: string): readonly LookupRow[];
  claim(scope: string, principal: string, key: string): TakenClaim | undefined;
  /** The outcome that the event of a taken claim recorded. */
  outcome(claim: TakenClaim): Json;
}

export interface WrittenPayload extends NewPayload {
  readonly record: RecordRef;
  readonly revision: number;
}

/** An event with the canonical text of its data, which is what a store writes. */
export interface WrittenEvent extends LedgerEvent {
  readonly dataText: string;
}

/** Everything that one transaction writes. */
export interface Batch {
  readonly events: WrittenEvent[];
  readonly payloads: WrittenPayload[];
  readonly claims: TakenClaim[];
  /** Each record that changed, as it stands after the batch. */
  readonly records: ReadonlyMap<string, StoredState>;
}

export type UnitResult = { readonly committed: Committed<Json> } | { readonly refused: unknown };

/** The overlay of one batch. It lives as long as its transaction. */
export class BatchRun {
  readonly #base: Base;
  readonly #records = new Map<string, StoredState>();
  readonly #read = new Map<string, StoredState | undefined>();
  readonly #claims = new Map<string, TakenClaim>();
  readonly #outcomes = new Map<TakenClaim, Json>();
  readonly batch: Batch;

  constructor(base: Base) {
    this.#base = base;
    this.batch = { events: [], payloads: [], claims: [], records: this.#records };
  }

  /** Decides one unit; on success its events stand in the overlay. */
  runUnit(work: Work<Json>, monotonic: number): UnitResult {
    try {
      const { claim } = work;
      const taken = claim === undefined ? undefined : this.#claimOf(claim.scope, claim.principal, claim.key);
      if (claim !== undefined && taken !== undefined) {
        if (taken.command !== claim.command) {
          return { refused: new Refusal('idempotency_reuse', 'this key stands for another command') };
        }
        const outcome = this.#outcomes.get(taken) ?? this.#base.outcome(taken);
        return { committed: { outcome, replayed: true, events: [], monotonic } };
      }
      for (const once of work.once ?? []) {
        if (this.#claimOf(once.scope, '', once.key) !== undefined) {
          return { refused: new Refusal('replay', `this ${once.scope} was used already`) };
        }
      }
      const decided = work.decide(this.#view(work));
      if (decided instanceof Refusal) return { refused: decided };
      const events = this.#append(work, decided);
      return { committed: { outcome: decided.outcome, replayed: false, events, monotonic } };
    } catch (error) {
      return { refused: error };
    }
  }

  /** Lets a projection append what follows from the events so far. */
  runProjection(projection: Projection, batch: readonly LedgerEvent[]): void {
    const view = {
      now: this.#base.now,
      get: <State extends Json>(kind: Kind<State>, id: string) =>
        this.#record({ kind: kind.name, id }) as Snapshot<State> | undefined,
    };
    const writes = projection.targets(batch, view);
    if (writes.length === 0) return;
    const events = projection.project(batch, view);
    if (events.length > 0) this.#append({ actor: 'engine:gate', writes }, { events, outcome: null });
  }

  /** A record is read once a batch: nobody else changes it while the batch holds its locks. */
  #record(ref: RecordRef): StoredState | undefined {
    const name = recordName(ref);
    const changed = this.#records.get(name);
    if (changed !== undefined) return changed;
    if (this.#read.has(name)) return this.#read.get(name);
    const record = this.#base.record(ref);
    this.#read.set(name, record);
    return record;
  }

  #claimOf(scope: string, principal: string, key: string): TakenClaim | undefined {
    return this.#claims.get(`${scope} ${principal} ${key}`) ?? this.#base.claim(scope, principal, key);
  }

  #view(work: Work<Json>): View {
    const named = new Set<string>();
    let now = this.#base.now;
    for (const ref of work.reads ?? []) named.add(recordName(ref));
    for (const ref of work.writes) {
      named.add(recordName(ref));
      now = Math.max(now, this.#record(ref)?.headAt ?? 0);
    }
    assert(named.size <= LIMITS.unitRecordsMax, 'a unit of work names too many records');
    return {
      now,
      get: <State extends Json>(kind: Kind<State>, id: string) => {
        const ref = { kind: kind.name, id };
        assert(named.has(recordName(ref)), 'decide looked at a record that its work did not name');
        return this.#record(ref) as Snapshot<State> | undefined;
      },
      lookup: (kind, key) => {
        assert(work.lookups?.some((l) => l.kind === kind && l.key === key), 'decide made a lookup that was not named');
        return this.#lookup(kind, key);
      },
    };
  }

  #lookup(kind: KindName, key: string): readonly LookupRow[] {
    const rows = this.#base.lookup(kind, key).filter((row) => !this.#records.has(`${kind}/${row.id}`));
    for (const record of this.#records.values()) {
      if (record.ref.kind !== kind) continue;
      const columns = this.#kind(kind).columns(record.state);
      if (columns.lookup === key) rows.push({ id: record.id, status: columns.status, principal: columns.principal });
    }
    return rows;
  }

  #kind(name: KindName): AnyKind {
    const kind = this.#base.kinds.get(name);
    assert(kind !== undefined, `kind ${name} is not registered`);
    return kind;
  }

  /** Builds every event first and publishes them together, so that a failing `evolve` leaves nothing behind. */
  #append(work: Pick<Work<Json>, 'actor' | 'writes' | 'claim' | 'once'>, decided: Decided<Json>): LedgerEvent[] {
    const writable = new Set(work.writes.map(recordName));
    const fresh = new Map<string, StoredState>();
    const events: WrittenEvent[] = [];
    const payloads: WrittenPayload[] = [];
    const claims = decided.events.length === 0 ? [] : this.#claimsOf(work, decided.events[0] as NewEvent);
    assert(claims.length > 0 || (work.claim === undefined && !work.once?.length), 'a claim needs an event that takes it');
    for (const draft of decided.events) {
      const name = recordName(draft.record);
      assert(writable.has(name), 'an event for a record that its work did not name');
      const first = events.length === 0 && claims.length > 0;
      const data = first ? { ...draft.data, claims: this.#claimData(work, claims, decided.outcome) } : draft.data;
      const before = fresh.get(name) ?? this.#record(draft.record);
      const event = this.#event(work.actor, { ...draft, data }, before);
      const state = this.#kind(draft.record.kind).evolve(before?.state, event) as Json;
      fresh.set(name, {
        ref: draft.record,
        id: draft.record.id,
        revision: event.revision,
        head: event.hash,
        headAt: event.at,
        state,
      });
      events.push(event);
      for (const payload of draft.payloads ?? []) {
        payloads.push({ ...payload, record: draft.record, revision: event.revision });
      }
    }
    this.batch.events.push(...events);
    this.batch.payloads.push(...payloads);
    for (const [name, state] of fresh) this.#records.set(name, state);
    for (const claim of claims) {
      this.#claims.set(`${claim.scope} ${claim.principal} ${claim.key}`, claim);
      this.#outcomes.set(claim, decided.outcome);
      this.batch.claims.push(claim);
    }
    return events;
  }

  #event(actor: string, draft: NewEvent, before: StoredState | undefined): WrittenEvent {
    const text: EventText = {
      record: draft.record,
      revision: before === undefined ? 0 : before.revision + 1,
      type: draft.type,
      at: Math.max(this.#base.now, before?.headAt ?? 0),
      actor,
      dataText: canonicalize(draft.data),
      payloads: (draft.payloads ?? []).map((payload) => payload.ref),
      prev: before?.head ?? null,
    };
    return { ...eventFromText(text, draft.data, eventHash(this.#base.ledgerId, text)), dataText: text.dataText };
  }

  #claimsOf(work: Pick<Work<Json>, 'claim' | 'once'>, first: NewEvent): TakenClaim[] {
    const before = this.#record(first.record);
    const at = { record: first.record, revision: before === undefined ? 0 : before.revision + 1 };
    const claims: TakenClaim[] = (work.once ?? []).map(({ scope, key }) => ({
      scope,
      principal: '',
      key,
      command: '',
      ...at,
    }));
    if (work.claim !== undefined) claims.push({ ...work.claim, ...at });
    return claims;
  }

  /** The claims as they stand in the event that takes them, so that the chain covers them and the outcome. */
  #claimData(work: Pick<Work<Json>, 'claim'>, claims: readonly TakenClaim[], outcome: Json): Json {
    const taken = claims.map(({ scope, principal, key, command }) => [scope, principal, key, command]);
    return work.claim === undefined ? { taken } : { taken, outcome };
  }
}
