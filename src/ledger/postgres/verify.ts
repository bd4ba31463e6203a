/**
 * Recomputes a whole store on a server, in one snapshot: events, records, claims and payloads are walked side by
 * side in
 * the order of their keys, the log in its own order, all of it by cursors, so that memory does not grow with the store.
 * Repairs nothing.
 *
 * Events that wait for the sequencer are no defect: the log and the queue hold each event once.
 * Source: spec ledger (verify).
 */
import { contentRef } from '../../core/index.js';
import type { TakenClaim } from '../batch.js';
import { EMPTY_LOG_HASH, nextLogHash } from '../event.js';
import type { Kinds, RecordRef } from '../kind.js';
import type { LogHead, VerifyReport } from '../ledger.js';
import type { EventRow, RecordRow } from '../store.js';
import { claimsOf, compareScan, RecordWalk, Report, recordDefects, safeEvent } from '../verify.js';
import type { Connection, Row } from './connection.js';
import { CLAIM_COLUMNS, claimOf, EVENT_COLUMNS, eventRowOf, RECORD_COLUMNS, recordRowOf } from './rows.js';
import { TRIGGER_NAMES } from './schema.js';

const PAGE_ROWS = 500;

const SCANS = {
  log: `SELECT l.sequence, l.log_hash, l.kind, l.id, l.revision, e.hash FROM countersign.log l
    LEFT JOIN countersign.events e ON e.kind = l.kind AND e.id = l.id AND e.revision = l.revision ORDER BY l.sequence`,
  events: `SELECT ${EVENT_COLUMNS} FROM countersign.events e ORDER BY e.kind, e.id, e.revision`,
  records: `SELECT ${RECORD_COLUMNS} FROM countersign.records r ORDER BY r.kind, r.id`,
  claims: `SELECT ${CLAIM_COLUMNS} FROM countersign.claims c
    ORDER BY c.kind, c.id, c.revision, c.scope, c.principal, c.key`,
  payloads: `SELECT p.kind, p.id, p.revision, p.address, p.bytes FROM countersign.payloads p
    ORDER BY p.kind, p.id, p.revision, p.address`,
  queue: `SELECT q.kind, q.id, q.revision, EXISTS (SELECT 1 FROM countersign.log l
    WHERE l.kind = q.kind AND l.id = q.id AND l.revision = q.revision) FROM countersign.unsequenced q`,
} as const;

/** Plans for whole tables, not for keys. */
const WHOLE = 'SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on';

/** The rows of a scan, a page at a time. The connection is in a transaction. */
function scan(connection: Connection, name: keyof typeof SCANS): AsyncGenerator<Row> {
  return scanRows(connection, name, SCANS[name]);
}

/** The rows of a statement under a name of its own. The connection is in a transaction. */
export async function* scanRows(connection: Connection, name: string, text: string): AsyncGenerator<Row> {
  await connection.script(`DECLARE scan_${name} NO SCROLL CURSOR FOR ${text}`);
  const fetch = { name: `fetch ${name}`, text: `FETCH FORWARD ${PAGE_ROWS} FROM scan_${name}` };
  for (let rows = await connection.ask(fetch); rows.length > 0; rows = await connection.ask(fetch)) yield* rows;
  await connection.script(`CLOSE scan_${name}`);
}

/** A scan that is looked at one row ahead. */
class Ahead<T> {
  next: T | undefined;
  readonly #rows: AsyncGenerator<Row>;
  readonly #of: (row: Row) => T;

  constructor(connection: Connection, name: keyof typeof SCANS, of: (row: Row) => T) {
    this.#rows = scan(connection, name);
    this.#of = of;
  }

  async advance(): Promise<void> {
    const { value, done } = await this.#rows.next();
    this.next = done === true ? undefined : this.#of(value);
  }
}

interface StoredPayload {
  readonly record: RecordRef;
  readonly revision: number;
  readonly address: string;
  readonly bytes: Uint8Array;
}

interface Place {
  readonly record: RecordRef;
  readonly revision: number;
}

function comparePlace(a: Place, b: Place): number {
  return compareScan(a.record, b.record) || a.revision - b.revision;
}

/** Verifies over a connection of its own, which it leaves at rest. */
export async function verifyServer(
  connection: Connection,
  context: { readonly ledgerId: string; readonly kinds: Kinds },
  expected?: LogHead,
): Promise<VerifyReport> {
  await connection.script('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0');
  try {
    return await verifyWithin(connection, context, expected);
  } finally {
    if (!connection.isLost) await connection.script('ROLLBACK');
  }
}

/** Verifies what the transaction that a connection is in sees. */
export async function verifyWithin(
  connection: Connection,
  context: { readonly ledgerId: string; readonly kinds: Kinds },
  expected?: LogHead,
): Promise<VerifyReport> {
  const report = new Report();
  await connection.script(WHOLE);
  for (const what of await damage(connection)) report.add({ where: 'store', what });
  const { head, entries } = await verifyLog(connection, report, expected);
  await new Walk(connection, context, report).run();
  const queued = await countQueue(connection, report);
  if (entries + queued !== report.events) {
    report.add({ where: 'log', what: 'the log and the records hold different events' });
  }
  const { events, records, payloads, erased, gone, defects } = report;
  return { events, records, payloads, erased, gone, head, defects };
}

/** The triggers that keep events and log are there and on, and the indexes are whole. */
async function damage(connection: Connection): Promise<readonly string[]> {
  const rows = await connection.ask({
    name: 'triggers',
    text: `SELECT c.relname || ' ' || t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'countersign' AND NOT t.tgisinternal AND t.tgenabled IN ('O', 'A')`,
  });
  const found = new Set(rows.map(([name]) => name as string));
  const missing = TRIGGER_NAMES.filter((name) => !found.has(name));
  const invalid = await connection.ask({
    name: 'indexes',
    text: `SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'countersign' AND NOT i.indisvalid`,
  });
  return [
    ...missing.map((name) => `the trigger ${name} is not the one of this version`),
    ...invalid.map(([name]) => `the index ${name} is not valid`),
  ];
}

async function verifyLog(connection: Connection, report: Report, expected?: LogHead) {
  let head: LogHead = { sequence: 0, logHash: EMPTY_LOG_HASH };
  let entries = 0;
  let contained = expected === undefined || expected.sequence === 0;
  for await (const row of scan(connection, 'log')) {
    const [sequence, logHash, kind, id, revision, hash] = row as [
      number,
      string,
      RecordRef['kind'],
      string,
      number,
      string,
    ];
    const ref = { kind, id };
    entries += 1;
    if (sequence !== head.sequence + 1) report.defect(ref, revision, 'entries of the log are missing before');
    if (hash === null) report.defect(ref, revision, 'the log names an event that is not there');
    else if (nextLogHash(head.logHash, hash) !== logHash) {
      report.defect(ref, revision, 'the log was another one up to here');
    }
    head = { sequence, logHash };
    if (expected?.sequence === sequence) contained = expected.logHash === logHash;
  }
  if (!contained) {
    report.add({ where: `log#${expected?.sequence}`, what: 'the log does not contain the remembered head' });
  }
  return { head, entries };
}

async function countQueue(connection: Connection, report: Report): Promise<number> {
  let queued = 0;
  for await (const [kind, id, revision, isLogged] of scan(connection, 'queue')) {
    const ref = { kind, id } as RecordRef;
    if (isLogged === true) report.defect(ref, revision as number, 'the event stands in the log and waits for it');
    queued += 1;
  }
  return queued;
}

/** Walks the events beside the records, the claims and the payloads. */
class Walk {
  readonly #context: { readonly ledgerId: string; readonly kinds: Kinds };
  readonly #report: Report;
  readonly #events: Ahead<EventRow>;
  readonly #records: Ahead<RecordRow>;
  readonly #claims: Ahead<TakenClaim>;
  readonly #payloads: Ahead<StoredPayload>;

  constructor(connection: Connection, context: { ledgerId: string; kinds: Kinds }, report: Report) {
    this.#context = context;
    this.#report = report;
    this.#events = new Ahead(connection, 'events', eventRowOf);
    this.#records = new Ahead(connection, 'records', recordRowOf);
    this.#claims = new Ahead(connection, 'claims', claimOf);
    this.#payloads = new Ahead(connection, 'payloads', ([kind, id, revision, address, bytes]) => ({
      record: { kind, id } as RecordRef,
      revision: revision as number,
      address: address as string,
      bytes: bytes as Uint8Array,
    }));
  }

  async run(): Promise<void> {
    for (const one of [this.#events, this.#records, this.#claims, this.#payloads]) await one.advance();
    for (let row = this.#events.next; row !== undefined; row = this.#events.next) await this.#record(row.record);
    await this.#recordsBefore(undefined);
    await this.#claimsBefore(undefined);
    await this.#payloadsBefore(undefined);
  }

  /** All events of one record, and then the record. */
  async #record(ref: RecordRef): Promise<void> {
    const report = this.#report;
    const walk = new RecordWalk(this.#context, ref);
    for (let row = this.#events.next; row !== undefined; row = this.#events.next) {
      if (compareScan(row.record, ref) !== 0) break;
      report.events += 1;
      const defect = walk.add(row);
      if (defect !== undefined) report.defect(ref, row.revision, defect);
      await this.#payloadsOf(row);
      await this.#claimsOf(row);
      await this.#events.advance();
    }
    report.records += 1;
    await this.#recordsBefore(ref);
    const isThere = this.#records.next !== undefined && compareScan(this.#records.next.ref, ref) === 0;
    const found = isThere ? this.#records.next : undefined;
    if (isThere) await this.#records.advance();
    if (walk.broken) return;
    for (const what of recordDefects(this.#context.kinds, walk, found)) {
      report.defect(ref, walk.last?.revision ?? 0, what);
    }
  }

  async #recordsBefore(ref: RecordRef | undefined): Promise<void> {
    for (let row = this.#records.next; row !== undefined; row = this.#records.next) {
      if (ref !== undefined && compareScan(row.ref, ref) >= 0) return;
      this.#report.defect(row.ref, row.revision, 'the record has no events');
      await this.#records.advance();
    }
  }

  /** The payloads that stand beside an event are those that it names, with those bytes. */
  async #payloadsOf(row: EventRow): Promise<void> {
    const report = this.#report;
    await this.#payloadsBefore(row);
    const found = new Set<string>();
    for (let one = this.#payloads.next; one !== undefined; one = this.#payloads.next) {
      if (comparePlace(one, row) !== 0) break;
      if (!row.payloads.includes(one.address)) {
        report.defect(row.record, row.revision, 'a payload stands here that no event refers to');
      } else if (contentRef(one.bytes) !== one.address) {
        report.defect(row.record, row.revision, 'a payload is not the one that was written');
      } else report.payloads += 1;
      found.add(one.address);
      await this.#payloads.advance();
    }
    report.lost(row.record, row.revision, row.payloads.filter((address) => !found.has(address)).length);
  }

  async #payloadsBefore(place: Place | undefined): Promise<void> {
    for (let one = this.#payloads.next; one !== undefined; one = this.#payloads.next) {
      if (place !== undefined && comparePlace(one, place) >= 0) return;
      this.#report.defect(one.record, one.revision, 'a payload stands here that no event refers to');
      await this.#payloads.advance();
    }
  }

  /** The claims that name an event are those that the event names. */
  async #claimsOf(row: EventRow): Promise<void> {
    await this.#claimsBefore(row);
    const event = safeEvent(row);
    const named = new Map(
      (event === undefined ? [] : claimsOf(event)).map((claim) => [JSON.stringify(claim), claim[0]]),
    );
    for (let one = this.#claims.next; one !== undefined; one = this.#claims.next) {
      if (comparePlace(one, row) !== 0) break;
      const { scope, principal, key, command } = one;
      if (!named.delete(JSON.stringify([scope, principal, key, command]))) {
        this.#report.defect(row.record, row.revision, `a ${scope} is claimed that no event took`);
      }
      await this.#claims.advance();
    }
    for (const scope of named.values()) {
      this.#report.defect(row.record, row.revision, `the ${scope} that the event took is not claimed by it`);
    }
  }

  async #claimsBefore(place: Place | undefined): Promise<void> {
    for (let one = this.#claims.next; one !== undefined; one = this.#claims.next) {
      if (place !== undefined && comparePlace(one, place) >= 0) return;
      this.#report.defect(one.record, one.revision, `a ${one.scope} is claimed that no event took`);
      await this.#claims.advance();
    }
  }
}
