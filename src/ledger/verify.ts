/**
 * Recomputes a whole store: each event's hash and link, each record's state and columns, the log's order and running
 * hash, each payload's digest, and the claims against the events both ways. Repairs nothing; memory does not grow
 * with the store.
 * Source: spec ledger (verify).
 */
import { contentRef, type Json, type JsonObject, LIMITS } from '../core/index.js';
import { documentOf } from './admit.js';
import { EMPTY_LOG_HASH, nextLogHash } from './event.js';
import {
  type AnyKind,
  type Columns,
  compareRecords,
  type Kinds,
  type LedgerEvent,
  type RecordRef,
  recordName,
} from './kind.js';
import type { Defect, LogHead, VerifyReport } from './ledger.js';
import { eventDefect } from './local-reader.js';
import { type EventRow, eventOf, type LocalStore, type RecordRow } from './store.js';

const DEFECTS_MAX = 100;

/** What a verification found so far. */
export class Report {
  events = 0;
  records = 0;
  payloads = 0;
  erased = 0;
  readonly defects: Defect[] = [];
  /** Where the first of the payloads stood that are gone. */
  readonly gone: Defect[] = [];

  defect(ref: RecordRef, revision: number, what: string): void {
    this.add({ where: `${recordName(ref)}#${revision}`, what });
  }

  /** Payloads of an event are gone: whether somebody was allowed to erase them is for others to say. */
  lost(ref: RecordRef, revision: number, count: number): void {
    this.erased += count;
    if (count === 0 || this.gone.length >= DEFECTS_MAX) return;
    this.gone.push({ where: `${recordName(ref)}#${revision}`, what: 'a payload is gone' });
  }

  add(defect: Defect): void {
    if (this.defects.length < DEFECTS_MAX) this.defects.push(defect);
  }
}

/** Run it inside `snapshot`, so that the parts it compares are of one moment. Throws what the store throws. */
export function verifyStore(store: LocalStore, kinds: Kinds, expected?: LogHead): VerifyReport {
  const report = new Report();
  for (const what of store.damage()) report.add({ where: 'store', what });
  const { head, entries } = verifyLog(store, report, expected);
  verifyRecords(store, kinds, report);
  if (entries !== report.events) report.add({ where: 'log', what: 'the log and the records hold different events' });
  verifyClaims(store, report);
  verifyStrayPayloads(store, report);
  const { events, records, payloads, erased, gone, defects } = report;
  return { events, records, payloads, erased, gone, head, defects };
}

/** The total order has no gap, its running hash is right, and it contains the head that somebody remembers. */
function verifyLog(store: LocalStore, report: Report, expected?: LogHead): { head: LogHead; entries: number } {
  let head: LogHead = { sequence: 0, logHash: EMPTY_LOG_HASH };
  let entries = 0;
  let contained = expected === undefined || expected.sequence === 0;
  for (
    let rows = store.log(0, LIMITS.pageRowsMax);
    rows.length > 0;
    rows = store.log(head.sequence, LIMITS.pageRowsMax)
  ) {
    for (const { sequence, logHash, hash, record, revision } of rows) {
      entries += 1;
      if (sequence !== head.sequence + 1) report.defect(record, revision, 'entries of the log are missing before');
      if (nextLogHash(head.logHash, hash) !== logHash) {
        report.defect(record, revision, 'the log was another one up to here');
      }
      head = { sequence, logHash };
      if (expected?.sequence === sequence) contained = expected.logHash === logHash;
    }
    // Beyond that, reading on behind a number that is not exact would meet the same entry for ever.
    if (!Number.isSafeInteger(head.sequence)) break;
  }
  if (!contained)
    report.add({ where: `log#${expected?.sequence}`, what: 'the log does not contain the remembered head' });
  return { head, entries };
}

/** A record whose events are being walked. */
export class RecordWalk {
  readonly ref: RecordRef;
  last: LedgerEvent | undefined;
  state: Json | undefined;
  /** Set at its first defect, behind which nothing more can be said about it. */
  broken = false;
  readonly #context: WalkContext;

  constructor(context: WalkContext, ref: RecordRef) {
    this.#context = context;
    this.ref = ref;
  }

  /** Follows the next event. Answers what is wrong with it, or undefined. */
  add(row: EventRow): string | undefined {
    const defect = eventDefect(this.#context.ledgerId, row, this.last);
    this.broken ||= defect !== undefined;
    if (this.broken) return defect;
    try {
      this.last = eventOf(row);
      this.state = this.#context.kinds.get(row.record.kind)?.evolve(this.state, this.last) as Json | undefined;
      return undefined;
    } catch {
      // Whatever a kind can't follow is not what it wrote, and that is the defect.
      this.broken = true;
      return 'the event leads to no state';
    }
  }
}

interface WalkContext {
  readonly ledgerId: string;
  readonly kinds: Kinds;
}

/** Walks events by record and revision beside the records: both lists are in the same order. */
function verifyRecords(store: LocalStore, kinds: Kinds, report: Report): void {
  const records = store.scanRecords();
  try {
    let next = records.next();
    /** The row of a record; the rows in front of it have no events. */
    const rowOf = (ref: RecordRef | undefined): RecordRow | undefined => {
      for (; !next.done && (ref === undefined || compareScan(next.value.ref, ref) < 0); next = records.next()) {
        report.defect(next.value.ref, next.value.revision, 'the record has no events');
      }
      if (next.done || ref === undefined || compareScan(next.value.ref, ref) !== 0) return undefined;
      const { value } = next;
      next = records.next();
      return value;
    };
    const finish = (walk: RecordWalk | undefined): void => {
      if (walk === undefined) return;
      report.records += 1;
      verifyRecord(kinds, walk, rowOf(walk.ref), report);
    };
    let walk: RecordWalk | undefined;
    for (const row of store.scanEvents()) {
      report.events += 1;
      if (walk === undefined || compareScan(walk.ref, row.record) !== 0) {
        finish(walk);
        walk = new RecordWalk({ ledgerId: store.ledgerId, kinds }, row.record);
      }
      verifyEvent(store, walk, row, report);
      verifyPayloads(store, row, report);
    }
    finish(walk);
    rowOf(undefined);
  } finally {
    // A scan that is not finished would keep the store busy.
    records.return?.();
  }
}

function verifyEvent(store: LocalStore, walk: RecordWalk, row: EventRow, report: Report): void {
  if (!Number.isSafeInteger(row.sequence) || row.sequence < 1) {
    report.defect(row.record, row.revision, 'the event stands at no place of the log');
  }
  const defect = walk.add(row);
  if (defect !== undefined) report.defect(row.record, row.revision, defect);
  if (!walk.broken && walk.last !== undefined) verifyEventClaims(store, walk.last, report);
}

/** Scans go by kind and id as text, which is the order of an index. */
export function compareScan(a: RecordRef, b: RecordRef): number {
  if (a.kind === b.kind) return compareRecords(a, b);
  return a.kind < b.kind ? -1 : 1;
}

function verifyRecord(kinds: Kinds, walk: RecordWalk, row: RecordRow | undefined, report: Report): void {
  if (walk.broken) return;
  const revision = walk.last?.revision ?? 0;
  for (const what of recordDefects(kinds, walk, row)) report.defect(walk.ref, revision, what);
}

/** How a record's row differs from what its events lead to. */
export function recordDefects(
  kinds: Kinds,
  { ref, last, state }: RecordWalk,
  row: RecordRow | undefined,
): readonly string[] {
  if (row === undefined) return ['the record is missing beside its events'];
  if (row.head !== last?.hash || row.revision !== last.revision || row.headAt !== last.at) {
    return ['the record does not stand at its last event'];
  }
  const kind = kinds.get(ref.kind);
  if (kind === undefined || state === undefined) return ['the kind is not known here'];
  if (row.version < 1 || row.version > kind.version) return ['the state was written by another version of countersign'];
  // The state of an older version is made anew whenever it is read, and its columns whenever it is written.
  if (row.version < kind.version) return [];
  const made = madeOf(kind, state);
  if (made === undefined || made.document !== row.document) return ['the state is not the one that the events lead to'];
  const names = ['project', 'status', 'principal', 'due', 'lookup'] as const;
  const differing = names.filter((name) => made.columns[name] !== row.columns[name]);
  return differing.map((name) => `the column ${name} is not that of the state`);
}

/** What a kind makes of a state; undefined for one that it would never have led to. */
function madeOf(kind: AnyKind, state: Json): { document: string | undefined; columns: Columns } | undefined {
  try {
    return { document: documentOf(kind, state), columns: kind.columns(state) };
  } catch {
    return undefined;
  }
}

function verifyPayloads(store: LocalStore, row: EventRow, report: Report): void {
  for (const address of row.payloads) {
    const bytes = store.payload(row.record, row.revision, address);
    if (bytes === undefined) report.lost(row.record, row.revision, 1);
    else if (contentRef(bytes) !== address)
      report.defect(row.record, row.revision, 'a payload is not the one that was written');
    else report.payloads += 1;
  }
}

/** A claim as an event names it: scope, principal, key, command. */
type ClaimText = readonly [scope: string, principal: string, key: string, command: string];

/** The claims that an event took; whatever has not the form of a claim is none. */
export function claimsOf(event: LedgerEvent): readonly ClaimText[] {
  const claims = event.data?.claims as JsonObject | null | undefined;
  const taken = claims?.taken;
  if (!Array.isArray(taken)) return [];
  const isClaim = (entry: Json) =>
    Array.isArray(entry) && entry.length === 4 && entry.every((p) => typeof p === 'string');
  return (taken as readonly Json[]).filter(isClaim) as unknown as readonly ClaimText[];
}

/** Each claim that an event took stands in the table of claims, and names that event. */
function verifyEventClaims(store: LocalStore, event: LedgerEvent, report: Report): void {
  for (const [scope, principal, key, command] of claimsOf(event)) {
    const row = store.claim(scope, principal, key);
    const matches = row?.command === command && recordName(row.record) === recordName(event.record);
    if (!matches || row.revision !== event.revision) {
      report.defect(event.record, event.revision, `the ${scope} that the event took is not claimed by it`);
    }
  }
}

/** Each row of the table of claims was taken by the event that it names. */
function verifyClaims(store: LocalStore, report: Report): void {
  for (const claim of store.scanClaims()) {
    const event = safeEvent(store.event(claim.record, claim.revision));
    const found =
      event !== undefined &&
      claimsOf(event).some((c) => c[0] === claim.scope && c[1] === claim.principal && c[2] === claim.key);
    if (!found) report.defect(claim.record, claim.revision, `a ${claim.scope} is claimed that no event took`);
  }
}

function verifyStrayPayloads(store: LocalStore, report: Report): void {
  for (const { sequence, address } of store.scanPayloads()) {
    const [row] = store.log(sequence - 1, 1);
    if (row?.sequence === sequence && row.payloads.includes(address)) continue;
    report.add({ where: `log#${sequence}`, what: 'a payload stands here that no event refers to' });
  }
}

/** The event of a row that may be damaged; undefined when its data is not even JSON. */
export function safeEvent(row: EventRow | undefined): LedgerEvent | undefined {
  try {
    return row === undefined ? undefined : eventOf(row);
  } catch {
    return undefined;
  }
}
