/**
 * The two round trips of a transaction: what is named is locked in the one order and read behind the last lock; what
 * was decided is written and committed. `decide` runs in between, without the server.
 * Source: spec ledger (group commit); docs/decisions/0006.
 */
import { Fault, type Json, type JsonObject } from '../../core/index.js';
import type { Base, Batch, TakenClaim, WrittenPayload } from '../batch.js';
import { eventHash } from '../event.js';
import { type RecordRef, recordName } from '../kind.js';
import type { LogHead } from '../ledger.js';
import { RecordMap } from '../record-map.js';
import { eventOf, type RecordRow } from '../store.js';
import { bigintArray, booleanArray, byteaArray, intArray, textArray } from './arrays.js';
import type { Connection, Row, Value } from './connection.js';
import { corrupt, type FoldContext } from './fold.js';
import { EMPTY_HEAD, type Ordered } from './order.js';
import type { EventColumns } from './remembered.js';
import { STATEMENTS } from './statements.js';
import type { Found, FoundClaim, States, Wanted } from './states.js';
import type { Lock } from './unit-queue.js';

/** A moment of the server, as `STATEMENTS.moment` tells it. */
export interface Moment {
  readonly now: number;
  /** The oldest transaction that runs, and the first that is not begun. */
  readonly horizon: readonly [number, number];
  /** The end of the log. */
  readonly head: LogHead;
  /** The time of the log's last event; what is written and not in order yet is some milliseconds younger. */
  readonly lastAt: number;
  /** Whether the log still holds the end that this process knew. */
  readonly isContinued: boolean;
}

/** What a transaction begins with: everything that it named, locked and read. */
export interface Begun {
  readonly found: Found;
  /** Behind the last lock. */
  readonly moment: Moment;
  /** Hashes of the events that an attempt before may have written. */
  readonly written: ReadonlySet<string>;
}

/** One round trip. Nothing that is read was read before the last lock was held. */
export async function begin(
  connection: Connection,
  states: States,
  locks: readonly Lock[],
  wanted: Omit<Wanted, 'records'>,
  known: LogHead,
  before?: Batch,
): Promise<Begun> {
  const records = locks.map(({ ref }) => ref);
  const locked = [textArray(records.map(recordName)), booleanArray(locks.map(({ alone }) => alone))];
  const [, , found, moment, written] = await connection.together(() => [
    connection.ask(STATEMENTS.begin),
    locks.length === 0 ? undefined : connection.ask(STATEMENTS.lock, locked),
    states.load(connection, { ...wanted, records }),
    connection.ask(STATEMENTS.moment, [known.sequence, known.logHash]),
    before === undefined ? undefined : connection.ask(STATEMENTS.eventHashes, placesOf(before)),
  ]);
  return {
    found,
    moment: momentOf(moment[0] as Row),
    written: new Set((written ?? []).map(([hash]) => hash as string)),
  };
}

export function momentOf(row: Row): Moment {
  const [now, xmin, xmax, sequence, logHash, at, isContinued] = row as [
    ...[number, number, number, number | null, string, number | null],
    boolean,
  ];
  const head = sequence === null ? EMPTY_HEAD : { sequence, logHash };
  return { now, horizon: [xmin, xmax], head, lastAt: at ?? 0, isContinued };
}

/** What a transaction writes. */
export interface Written {
  /** What its units decided; nothing for the sequencer's own. */
  readonly batch?: Batch;
  /** The places of its events, and what follows from them. */
  readonly ordered?: Ordered | undefined;
  /** Places of the queue that are taken. */
  readonly taken?: readonly number[];
  /** Of a transaction that does not hold the order yet: the place behind which nothing may wait. */
  readonly floor?: number;
}

/** One round trip, behind which all of it is durable. Answers whether its events have their places. */
export async function writeAndCommit(connection: Connection, written: Written): Promise<boolean> {
  const { batch = NOTHING, ordered, taken = [], floor } = written;
  const [, , log, done] = await connection.together(() => [
    ordered === undefined || floor === undefined ? undefined : askOrder(connection, ordered, floor),
    Promise.all([
      ...writeBatch(connection, batch, ordered?.projected ?? NOTHING),
      taken.length === 0 ? undefined : connection.ask(STATEMENTS.unqueue, [bigintArray(taken)]),
    ]),
    ordered === undefined
      ? connection.ask(STATEMENTS.writeQueue, placesOf(batch))
      : connection.ask(STATEMENTS.place, placeValues(ordered)),
    connection.run(STATEMENTS.commit),
  ]);
  // A transaction that failed before is rolled back by its commit, which says so.
  if (done !== 'COMMIT') throw new Fault('store', 'the server rolled the transaction back');
  return log.length > 0;
}

/** Tries for the order, and lets go of it where anything ends elsewhere than is known. */
function askOrder(connection: Connection, { after, before }: Ordered, floor: number): Promise<unknown> {
  const records = before.map(({ stored }) => ({ record: stored.ref, revision: stored.revision }));
  return Promise.all([
    connection.ask(STATEMENTS.tryOrder, [textArray(before.map(({ stored }) => recordName(stored.ref)))]),
    connection.ask(STATEMENTS.checkOrder, [
      floor,
      after.sequence,
      after.logHash,
      ...placesOf({ events: records }),
      textArray(before.map(({ stored }) => stored.head)),
      textArray(before.map(({ document = null }) => document)),
      intArray(before.map(({ version }) => version)),
    ]),
  ]);
}

function placeValues({ after, entries, hashes, projected }: Ordered): Value[] {
  const own = entries.length - projected.events.length;
  return [
    bigintArray(entries.map((_, i) => after.sequence + 1 + i)),
    ...placesOf({ events: entries }),
    textArray(hashes),
    booleanArray(entries.map((_, i) => i >= own)),
  ];
}

/** What a batch may read, over what was found. */
export function baseOf(context: FoldContext, found: Found, now: number, lastAt: number): Base {
  return {
    ...context,
    now: Math.max(now, lastAt),
    behindMs: Math.max(0, lastAt - now),
    record: (ref) => found.record(ref),
    lookup: (kind, key) => found.lookup(kind, key),
    claim: (scope, principal, key) => found.claim(scope, principal, key)?.taken,
    outcome: ({ scope, principal, key }) => outcomeOf(context, found.claim(scope, principal, key)),
  };
}

function outcomeOf({ ledgerId }: FoldContext, claim: FoundClaim | undefined): Json {
  if (claim === undefined) throw new Fault('internal', 'a claim was not read');
  const { event, taken } = claim;
  if (event === undefined || eventHash(ledgerId, event) !== event.hash) {
    throw corrupt(taken.record, taken.revision, 'the event of a claim is not the one that was written');
  }
  const claims = eventOf(event).data.claims as JsonObject | undefined;
  return claims?.outcome ?? null;
}

interface Place {
  readonly record: RecordRef;
  readonly revision: number;
}

/** The place of each event: kinds, ids, revisions. */
export function placesOf({ events }: { readonly events: readonly Place[] }): [Buffer, Buffer, Buffer] {
  return [
    textArray(events.map(({ record }) => record.kind)),
    textArray(events.map(({ record }) => record.id)),
    intArray(events.map(({ revision }) => revision)),
  ];
}

const NOTHING: Batch = { events: [], payloads: [], claims: [], records: new RecordMap() };

/** The rows of a batch, and those that follow from it. */
function writeBatch(connection: Connection, batch: Batch, projected: Batch): Promise<unknown>[] {
  const { claims } = batch;
  const events = [...batch.events, ...projected.events];
  const payloads = [...batch.payloads, ...projected.payloads];
  const records = [...batch.records.values(), ...projected.records.values()].map(({ row }) => row);
  const follows = (all: readonly unknown[], own: number) => booleanArray(all.map((_, i) => i >= own));
  const asked: Promise<unknown>[] = [];
  const ask = (name: keyof typeof STATEMENTS, values: Value[]) => asked.push(connection.ask(STATEMENTS[name], values));
  if (claims.length > 0) {
    ask('writeClaims', claimValues([...claims].sort((a, b) => (claimKey(a) < claimKey(b) ? -1 : 1))));
  }
  if (events.length > 0) ask('writeEvents', [...eventValues(events), follows(events, batch.events.length)]);
  if (payloads.length > 0) ask('writePayloads', [...payloadValues(payloads), follows(payloads, batch.payloads.length)]);
  if (records.length > 0) ask('writeRecords', [...recordValues(records), follows(records, batch.records.size)]);
  return asked;
}

/** Claims are written in one order, so that two transactions never wait for each other's. */
function claimKey({ scope, principal, key }: { scope: string; principal: string; key: string }): string {
  return `${scope} ${principal} ${key}`;
}

/** The columns of claims, of events, of payloads and of records, each as one array. */
export function claimValues(claims: readonly TakenClaim[]): Value[] {
  return [
    textArray(claims.map(({ scope }) => scope)),
    textArray(claims.map(({ principal }) => principal)),
    textArray(claims.map(({ key }) => key)),
    textArray(claims.map(({ command }) => command)),
    ...placesOf({ events: claims }),
  ];
}

export function eventValues(events: readonly EventColumns[]): Value[] {
  return [
    ...placesOf({ events }),
    textArray(events.map(({ type }) => type)),
    bigintArray(events.map(({ at }) => at)),
    textArray(events.map(({ actor }) => actor)),
    textArray(events.map(({ dataText }) => dataText)),
    textArray(events.map(({ payloads }) => (payloads.length === 0 ? '[]' : JSON.stringify(payloads)))),
    textArray(events.map(({ prev }) => prev)),
    textArray(events.map(({ hash }) => hash)),
  ];
}

export function payloadValues(payloads: readonly WrittenPayload[]): Value[] {
  return [
    ...placesOf({ events: payloads }),
    textArray(payloads.map(({ ref }) => ref)),
    byteaArray(payloads.map(({ bytes }) => bytes)),
  ];
}

export function recordValues(rows: readonly RecordRow[]): Value[] {
  const column = (name: 'project' | 'status' | 'principal' | 'lookup') =>
    textArray(rows.map(({ columns }) => columns[name] ?? null));
  return [
    textArray(rows.map(({ ref }) => ref.kind)),
    textArray(rows.map(({ ref }) => ref.id)),
    intArray(rows.map(({ revision }) => revision)),
    textArray(rows.map(({ head }) => head)),
    bigintArray(rows.map(({ headAt }) => headAt)),
    intArray(rows.map(({ version }) => version)),
    textArray(rows.map(({ document = null }) => document)),
    column('project'),
    column('status'),
    column('principal'),
    bigintArray(rows.map(({ columns }) => columns.due ?? null)),
    column('lookup'),
  ];
}
