/**
 * Recomputes a whole store: each event's hash and link, each record's state and columns, the log's order and running hash,
 * each payload's digest, and the claims against the events both ways. Repairs nothing; memory does not grow with the store.
 * Source: spec ledger (verify).
 */
import { canonicalize, contentRef, type Json, type JsonObject, LIMITS } from '../core/index.js';
import { EMPTY_LOG_HASH, nextLogHash } from './event.js';
import { compareRecords, type Kinds, type LedgerEvent, recordName, type RecordRef } from './kind.js';
import type { Defect, LogHead, VerifyReport } from './ledger.js';
import { eventDefect, eventOf } from './local-reader.js';
import type { EventRow, LocalStore, RecordRow } from './store.js';

const DEFECTS_MAX = 100;

class Report {
  events = 0;
  records = 0;
  payloads = 0;
  erased = 0;
  readonly defects: Defect[] = [];

  defect(ref: RecordRef, revision: number, what: string): void {
    this.add({ where: `${recordName(ref)}#${revision}`, what });
  }

  add(defect: Defect): void {
    if (this.defects.length < DEFECTS_MAX) this.defects.push(defect);
  }
}

export function verifyStore(store: LocalStore, kinds: Kinds, expected?: LogHead): VerifyReport {
  const report = new Report();
  const head = verifyLog(store, report, expected);
  verifyRecords(store, kinds, report);
  verifyClaims(store, report);
  verifyStrayPayloads(store, report);
  const { events, records, payloads, erased, defects } = report;
  return { events, records, payloads, erased, head, defects };
}

/** The total order has no gap, its running hash is right, and it contains the head that somebody remembers. */
function verifyLog(store: LocalStore, report: Report, expected?: LogHead): LogHead {
  let at: LogHead = { sequence: 0, logHash: EMPTY_LOG_HASH };
  let contained = expected === undefined || expected.sequence === 0;
  for (;;) {
    const rows = store.log(at.sequence, LIMITS.pageRowsMax);
    for (const row of rows) {
      if (row.sequence !== at.sequence + 1) report.defect(row.record, row.revision, 'entries of the log are missing before');
      if (nextLogHash(at.logHash, row.hash) !== row.logHash) {
        report.defect(row.record, row.revision, 'the log was another one up to here');
      }
      at = { sequence: row.sequence, logHash: row.logHash };
      if (expected?.sequence === row.sequence) contained = expected.logHash === row.logHash;
    }
    if (rows.length === 0) break;
  }
  if (!contained) report.add({ where: `log#${expected?.sequence}`, what: 'the log does not contain the remembered head' });
  return at;
}

/** Walks events by record and revision beside the records: both lists are in the same order. */
function verifyRecords(store: LocalStore, kinds: Kinds, report: Report): void {
  const records = store.scanRecords();
  let next = records.next();
  let open: { ref: RecordRef; last: LedgerEvent | undefined; state: Json | undefined; broken: boolean } | undefined;
  const finish = () => {
    if (open === undefined) return;
    const { ref } = open;
    while (!next.done && compareScan(next.value.ref, ref) < 0) {
      report.defect(next.value.ref, next.value.revision, 'the record has no events');
      next = records.next();
    }
    const row = !next.done && compareScan(next.value.ref, ref) === 0 ? next.value : undefined;
    if (row !== undefined) next = records.next();
    if (!open.broken) verifyRecord(kinds, ref, open.last, open.state, row, report);
    report.records += 1;
  };
  for (const row of store.scanEvents()) {
    report.events += 1;
    if (open === undefined || compareScan(open.ref, row.record) !== 0) {
      finish();
      open = { ref: row.record, last: undefined, state: undefined, broken: false };
    }
    const defect = eventDefect(store.ledgerId, row, open.last);
    if (defect !== undefined) report.defect(row.record, row.revision, defect);
    open.broken ||= defect !== undefined;
    if (!open.broken) {
      open.last = eventOf(row);
      open.state = kinds.get(row.record.kind)?.evolve(open.state, open.last) as Json;
      verifyEventClaims(store, open.last, report);
    }
    verifyPayloads(store, row, report);
  }
  finish();
  for (; !next.done; next = records.next()) report.defect(next.value.ref, next.value.revision, 'the record has no events');
}

/** Scans go by kind and id as text, which is the order of an index. */
function compareScan(a: RecordRef, b: RecordRef): number {
  if (a.kind === b.kind) return compareRecords(a, b);
  return a.kind < b.kind ? -1 : 1;
}

function verifyRecord(
  kinds: Kinds,
  ref: RecordRef,
  last: LedgerEvent | undefined,
  state: Json | undefined,
  row: RecordRow | undefined,
  report: Report,
): void {
  const revision = last?.revision ?? 0;
  if (row === undefined) return report.defect(ref, revision, 'the record is missing beside its events');
  if (row.head !== last?.hash || row.revision !== last.revision || row.headAt !== last.at) {
    return report.defect(ref, revision, 'the record does not stand at its last event');
  }
  const kind = kinds.get(ref.kind);
  if (kind === undefined || row.version !== kind.version) return;
  if (state === undefined || canonicalize(state) !== row.stateText) {
    return report.defect(ref, revision, 'the state is not the one that the events lead to');
  }
  const columns = kind.columns(state);
  for (const name of ['project', 'status', 'principal', 'due', 'lookup'] as const) {
    if (columns[name] !== row.columns[name]) report.defect(ref, revision, `the column ${name} is not that of the state`);
  }
}

function verifyPayloads(store: LocalStore, row: EventRow, report: Report): void {
  for (const address of row.payloads) {
    const bytes = store.payload(row.record, row.revision, address);
    if (bytes === undefined) report.erased += 1;
    else if (contentRef(bytes) !== address) report.defect(row.record, row.revision, 'a payload is not the one that was written');
    else report.payloads += 1;
  }
}

/** Each claim that an event took stands in the table of claims, and names that event. */
function verifyEventClaims(store: LocalStore, event: LedgerEvent, report: Report): void {
  const taken = (event.data.claims as JsonObject | undefined)?.taken;
  if (!Array.isArray(taken)) return;
  for (const [scope, principal, key, command] of taken as [string, string, string, string][]) {
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
    const row = store.event(claim.record, claim.revision);
    const taken = row === undefined ? undefined : (safeData(row)?.claims as JsonObject | undefined)?.taken;
    const found =
      Array.isArray(taken) &&
      (taken as Json[][]).some((c) => c[0] === claim.scope && c[1] === claim.principal && c[2] === claim.key);
    if (!found) report.defect(claim.record, claim.revision, `a ${claim.scope} is claimed that no event took`);
  }
}

function verifyStrayPayloads(store: LocalStore, report: Report): void {
  for (const { record, revision, address } of store.scanPayloads()) {
    if (!store.event(record, revision)?.payloads.includes(address)) {
      report.defect(record, revision, 'a payload stands here that no event refers to');
    }
  }
}

/** The data of a row that may be damaged; undefined when it is not even JSON. */
function safeData(row: EventRow): JsonObject | undefined {
  try {
    return eventOf(row).data;
  } catch {
    return undefined;
  }
}
