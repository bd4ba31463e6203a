/**
 * Loads what a batch or a reader names, all of it in one round trip, and remembers the states of a bounded number of
 * records, so that only what happened since has to come over the wire.
 *
 * Nothing remembered is believed by itself: the record's row is read each time, and a state stands only while the row
 * names its head and its document.
 */
import { isOurs, LIMITS } from '../../core/index.js';
import type { Batch, StoredState, TakenClaim, WrittenEvent } from '../batch.js';
import { claimName } from '../batch.js';
import { type KindName, type RecordRef, recordName } from '../kind.js';
import type { LookupRow } from '../ledger.js';
import type { EventRow } from '../store.js';
import { intArray, textArray } from './arrays.js';
import type { Connection, Row } from './connection.js';
import { type FoldContext, stateOf, wholeUpTo } from './fold.js';
import { eventsBehind, hasFewPayloads, isAsKnown, type Known } from './remembered.js';
import { claimOf, eventRowOf, loadedOf, type RecordHead } from './rows.js';
import { STATEMENTS } from './statements.js';

/** What is to be loaded. No name stands in it twice. */
export interface Wanted {
  readonly records: readonly RecordRef[];
  readonly lookups?: readonly { readonly kind: KindName; readonly key: string }[];
  readonly claims?: readonly { readonly scope: string; readonly principal: string; readonly key: string }[];
  /** Asks for all events of the records, to be compared with what is remembered, or folded. */
  readonly anew?: boolean;
}

export interface FoundClaim {
  readonly taken: TakenClaim;
  readonly event: EventRow | undefined;
}

/** What was found. A record that can't be trusted throws when it is looked at, and only then. */
export interface Found {
  record(ref: RecordRef): StoredState | undefined;
  lookup(kind: KindName, key: string): readonly LookupRow[];
  claim(scope: string, principal: string, key: string): FoundClaim | undefined;
}

/** A record as it was read, with what was known of it before. */
interface FoundRecord {
  readonly name: string;
  readonly row: RecordHead;
  readonly events: readonly EventRow[];
  readonly known: Known | undefined;
  readonly standing: ReadonlySet<string> | undefined;
}

const NOTHING: ReadonlyMap<string, Known> = new Map();

export class States {
  readonly context: FoldContext;
  readonly #known = new Map<string, Known>();

  constructor(context: FoldContext) {
    this.context = context;
  }

  /** Asks for everything at once; what is asked on the connection in the same turn travels with it. */
  async load(connection: Connection, wanted: Wanted): Promise<Found> {
    const { lookups = [], claims = [], anew = false } = wanted;
    const refs = wanted.records;
    const known = new Map<string, Known>();
    for (const ref of refs) this.#recall(ref, known);
    const [rows, payloads, lookupRows, claimRows] = await connection.together(() => [
      refs.length === 0 ? [] : connection.ask(STATEMENTS.load, this.#knownOf(refs, anew ? NOTHING : known)),
      anew ? this.#standing(connection, refs, known) : undefined,
      lookups.length === 0
        ? []
        : connection.ask(STATEMENTS.lookups, [
            textArray(lookups.map(({ kind }) => kind)),
            textArray(lookups.map(({ key }) => key)),
          ]),
      claims.length === 0
        ? []
        : connection.ask(STATEMENTS.claims, [
            textArray(claims.map(({ scope }) => scope)),
            textArray(claims.map(({ principal }) => principal)),
            textArray(claims.map(({ key }) => key)),
          ]),
    ]);
    const states = this.#statesOf(refs, rows, known, payloads);
    const found = lookupsOf(lookupRows);
    const taken = claimsOf(claimRows);
    return {
      record: (ref) => states.get(recordName(ref))?.(),
      lookup: (kind, key) => [...(found.get(`${kind} ${key}`) ?? [])],
      claim: (scope, principal, key) => taken.get(claimName(scope, principal, key)),
    };
  }

  /** The state of a record as this process knows it, from that revision on. */
  recall(ref: RecordRef, revision: number): StoredState | undefined {
    const known = this.#known.get(recordName(ref))?.stored;
    return known !== undefined && known.revision >= revision ? known : undefined;
  }

  /** What this process knows of a record, and whether it still is so the server alone can tell. */
  known(ref: RecordRef): Known | undefined {
    return this.#known.get(recordName(ref));
  }

  /** Keeps what a durable commit wrote. */
  remember({ records, events }: Pick<Batch, 'records' | 'events'>): void {
    const written = new Map<string, WrittenEvent[]>();
    for (const event of events) addTo(written, recordName(event.record), event);
    for (const { stored, row, created } of records.values()) {
      const name = recordName(row.ref);
      const before = created ? [] : this.#known.get(name)?.events;
      const own = row.document === undefined ? eventsBehind(before, written.get(name) ?? []) : undefined;
      this.#keep(name, { stored, document: row.document, ...(own === undefined ? {} : { events: own }) });
    }
  }

  #recall(ref: RecordRef, into: Map<string, Known>): void {
    const name = recordName(ref);
    const known = this.#known.get(name);
    if (known !== undefined) into.set(name, known);
  }

  /** The payloads that stand of the records which are known. */
  async #standing(connection: Connection, refs: readonly RecordRef[], known: ReadonlyMap<string, Known>) {
    const few = refs.filter((ref) => {
      const one = known.get(recordName(ref));
      return one !== undefined && hasFewPayloads(one);
    });
    return standing(few.length === 0 ? [] : await connection.ask(STATEMENTS.payloadsStanding, namesOf(few)));
  }

  #knownOf(refs: readonly RecordRef[], known: ReadonlyMap<string, Known>) {
    const revisions = refs.map((ref) => known.get(recordName(ref))?.stored.revision ?? -1);
    const kinds = refs.map((ref) => this.context.kinds.get(ref.kind));
    const wholes = kinds.map((kind) => (kind === undefined ? 0 : wholeUpTo(kind)));
    return [...namesOf(refs), intArray(revisions), intArray(kinds.map((kind) => kind?.version ?? 0)), intArray(wholes)];
  }

  /** The states of what was read, each made when it is looked at first. `standing`: the payloads of a verified read. */
  #statesOf(
    refs: readonly RecordRef[],
    rows: readonly Row[],
    known: ReadonlyMap<string, Known>,
    standing: ReadonlySet<string> | undefined,
  ): ReadonlyMap<string, () => StoredState> {
    const states = new Map<string, () => StoredState>();
    for (let at = 0; at < rows.length; ) {
      const place = rows[at]?.[0] as number;
      const ref = refs[place - 1] as RecordRef;
      const events: EventRow[] = [];
      let row: RecordHead | undefined;
      for (; rows[at]?.[0] === place; at += 1) {
        const { record, event } = loadedOf(ref, rows[at] as Row);
        row = record;
        if (event !== undefined) events.push(event);
      }
      const name = recordName(ref);
      const found = { name, row: row as RecordHead, events, known: known.get(name), standing };
      let made: StoredState | undefined;
      states.set(name, () => {
        made ??= this.#stateOf(found);
        return made;
      });
    }
    return states;
  }

  #stateOf({ name, row, events, known, standing }: FoundRecord): StoredState {
    const hasPayload = (revision: number, address: string) => standing?.has(`${name}#${revision} ${address}`) === true;
    const isReadable = row.version <= (this.context.kinds.get(row.ref.kind)?.version ?? 0);
    const isCompared = standing !== undefined && known !== undefined && isReadable;
    if (isCompared && isAsKnown(known, row, events, hasPayload)) return known.stored;
    const from = standing === undefined ? known : undefined;
    try {
      const stored = stateOf(this.context, row, events, from);
      if (stored === from?.stored) return stored;
      const own = row.document === undefined ? eventsBehind(from === undefined ? [] : from.events, events) : undefined;
      this.#keep(name, { stored, document: row.document, ...(own === undefined ? {} : { events: own }) });
      return stored;
    } catch (error) {
      // What was remembered may be what is wrong: the next look reads everything.
      if (isOurs(error)) this.#known.delete(name);
      throw error;
    }
  }

  #keep(name: string, known: Known): void {
    const before = this.#known.get(name);
    if (before !== undefined && before.stored.revision > known.stored.revision) return;
    this.#known.delete(name);
    this.#known.set(name, known);
    if (this.#known.size <= LIMITS.cachedRecordsMax) return;
    const oldest = this.#known.keys().next().value;
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}

function addTo<Item>(lists: Map<string, Item[]>, name: string, item: Item): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [item]);
  else list.push(item);
}

function standing(rows: readonly Row[]): ReadonlySet<string> {
  return new Set(rows.map(([kind, id, revision, address]) => `${kind}/${id}#${revision} ${address}`));
}

function namesOf(refs: readonly RecordRef[]): [Buffer, Buffer] {
  return [textArray(refs.map(({ kind }) => kind)), textArray(refs.map(({ id }) => id))];
}

function lookupsOf(rows: readonly Row[]): ReadonlyMap<string, readonly LookupRow[]> {
  const found = new Map<string, LookupRow[]>();
  for (const row of rows) {
    const [kind, key, id, status, principal] = row as [string, string, string, string | null, string | null];
    const name = `${kind} ${key}`;
    const entry = { id, status: status ?? undefined, principal: principal ?? undefined };
    found.set(name, [...(found.get(name) ?? []), entry]);
  }
  return found;
}

const CLAIM_WIDTH = 7;

function claimsOf(rows: readonly Row[]): ReadonlyMap<string, FoundClaim> {
  const found = new Map<string, FoundClaim>();
  for (const row of rows) {
    const taken = claimOf(row);
    const isThere = row[CLAIM_WIDTH] !== null;
    const event = isThere ? eventRowOf(row.slice(CLAIM_WIDTH)) : undefined;
    found.set(claimName(taken.scope, taken.principal, taken.key), { taken, event });
  }
  return found;
}
