/**
 * The embedded store: one SQLite file that several processes may share. A write transaction is BEGIN IMMEDIATE; a lock held
 * by another process for more than 50 ms is answered with `false`, never waited for on the thread.
 */
import { Fault, Refusal } from '../../core/index.js';
import type { TakenClaim, WrittenEvent, WrittenPayload } from '../batch.js';
import { EMPTY_LOG_HASH } from '../event.js';
import type { KindName, RecordRef } from '../kind.js';
import { type ListQuery, type LogHead, type LookupRow, type Page, pageLimit } from '../ledger.js';
import type { EventRow, LocalStore, RecordRow } from '../store.js';
import { type Connection, openDatabase } from './database.js';
import { listStatement } from './list.js';
import { type ClaimColumns, claimOf, type EventColumns, eventRowOf, type RecordColumns, recordRowOf } from './rows.js';

function prepareAll(database: Connection) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    record: database.prepare('SELECT * FROM records WHERE kind = ? AND id = ?'),
    lookup: database.prepare('SELECT id, status, principal FROM records WHERE kind = ? AND lookup = ? ORDER BY id'),
    claim: database.prepare('SELECT * FROM claims WHERE scope = ? AND principal = ? AND key = ?'),
    event: database.prepare('SELECT * FROM events WHERE kind = ? AND id = ? AND revision = ?'),
    events: database.prepare('SELECT * FROM events WHERE kind = ? AND id = ? AND revision >= ? ORDER BY revision LIMIT ?'),
    payload: database
      .prepare('SELECT bytes FROM payloads WHERE kind = ? AND id = ? AND revision = ? AND address = ?')
      .pluck(),
    head: database.prepare('SELECT sequence, log_hash AS logHash FROM events ORDER BY sequence DESC LIMIT 1'),
    log: database.prepare('SELECT * FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?'),
    writeEvent: database.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    writePayload: database.prepare('INSERT OR IGNORE INTO payloads VALUES (?, ?, ?, ?, ?)'),
    writeClaim: database.prepare('INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?, ?)'),
    insertRecord: database.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    updateRecord: database.prepare(
      `UPDATE records SET revision = ?, head = ?, head_at = ?, version = ?, state = ?,
       project = ?, status = ?, principal = ?, due = ?, lookup = ? WHERE kind = ? AND id = ?`,
    ),
    scanEvents: 'SELECT * FROM events ORDER BY kind, id, revision',
    scanRecords: 'SELECT * FROM records ORDER BY kind, id',
    scanClaims: 'SELECT * FROM claims',
    scanPayloads: 'SELECT kind, id, revision, address FROM payloads',
  };
}

type Statements = ReturnType<typeof prepareAll>;

export class SqliteStore implements LocalStore {
  readonly ledgerId: string;
  readonly #path: string;
  #database: Connection;
  #statements: Statements;

  /** Opens the file, or creates it for a new ledger. Refuses and faults as `openDatabase`. */
  constructor(path: string, newLedgerId?: string) {
    const { database, ledgerId } = openDatabase(path, newLedgerId);
    this.#path = path;
    this.ledgerId = ledgerId;
    this.#database = database;
    this.#statements = prepareAll(database);
  }

  begin(): boolean {
    try {
      this.#statements.begin.run();
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }

  commit(): void {
    this.#statements.commit.run();
  }

  rollback(): void {
    if (this.#database.open && this.#database.inTransaction) this.#statements.rollback.run();
  }

  reopen(): void {
    if (this.#database.open) this.#database.close();
    const { database, ledgerId } = openDatabase(this.#path);
    if (ledgerId !== this.ledgerId) throw new Fault('store', 'another ledger stands at the path of this one');
    this.#database = database;
    this.#statements = prepareAll(database);
  }

  record(ref: RecordRef): RecordRow | undefined {
    const row = this.#statements.record.get(ref.kind, ref.id) as RecordColumns | undefined;
    return row === undefined ? undefined : recordRowOf(row);
  }

  lookup(kind: KindName, key: string): readonly LookupRow[] {
    const rows = this.#statements.lookup.all(kind, key) as { id: string; status: string | null; principal: string | null }[];
    return rows.map((row) => ({ id: row.id, status: row.status ?? undefined, principal: row.principal ?? undefined }));
  }

  claim(scope: string, principal: string, key: string): TakenClaim | undefined {
    const row = this.#statements.claim.get(scope, principal, key) as ClaimColumns | undefined;
    return row === undefined ? undefined : claimOf(row);
  }

  event(ref: RecordRef, revision: number): EventRow | undefined {
    const row = this.#statements.event.get(ref.kind, ref.id, revision) as EventColumns | undefined;
    return row === undefined ? undefined : eventRowOf(row);
  }

  events(ref: RecordRef, from: number, limit: number): readonly EventRow[] {
    return (this.#statements.events.all(ref.kind, ref.id, from, limit) as EventColumns[]).map(eventRowOf);
  }

  payload(ref: RecordRef, revision: number, address: string): Uint8Array | undefined {
    return this.#statements.payload.get(ref.kind, ref.id, revision, address) as Uint8Array | undefined;
  }

  list(query: ListQuery): Page {
    const limit = pageLimit(query);
    const { text, values } = listStatement(query, limit + 1);
    const rows = (this.#database.prepare(text).all(...values) as RecordColumns[]).map(recordRowOf);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      rows: page.map((row) => ({ id: row.ref.id, revision: row.revision, updated: row.headAt, ...row.columns })),
      ...(rows.length > limit && last !== undefined
        ? { next: query.waiting === true ? `${String(last.columns.due).padStart(16, '0')} ${last.ref.id}` : last.ref.id }
        : {}),
    };
  }

  head(): LogHead {
    return (this.#statements.head.get() as LogHead | undefined) ?? { sequence: 0, logHash: EMPTY_LOG_HASH };
  }

  log(after: number, limit: number): readonly EventRow[] {
    return (this.#statements.log.all(after, limit) as EventColumns[]).map(eventRowOf);
  }

  writeEvent(sequence: number, logHash: string, event: WrittenEvent): void {
    const { record, revision, type, at, actor, dataText, prev, hash } = event;
    const payloads = event.payloads.length === 0 ? '[]' : JSON.stringify(event.payloads);
    const place = [sequence, record.kind, record.id, revision] as const;
    this.#statements.writeEvent.run(...place, type, at, actor, dataText, payloads, prev, hash, logHash);
  }

  writePayload(payload: WrittenPayload): void {
    const { record, revision, ref } = payload;
    const bytes = typeof payload.bytes === 'string' ? Buffer.from(payload.bytes, 'utf8') : payload.bytes;
    this.#statements.writePayload.run(record.kind, record.id, revision, ref, bytes);
  }

  writeClaim(claim: TakenClaim): void {
    const { scope, principal, key, command, record, revision } = claim;
    this.#statements.writeClaim.run(scope, principal, key, command, record.kind, record.id, revision);
  }

  writeRecord(row: RecordRow): void {
    const { ref, revision, head, headAt, version, stateText, columns } = row;
    const { project = null, status = null, principal = null, due = null, lookup = null } = columns;
    const found = [project, status, principal, due, lookup];
    const updated = this.#statements.updateRecord;
    const changes = updated.run(revision, head, headAt, version, stateText, ...found, ref.kind, ref.id).changes;
    if (changes > 0) return;
    this.#statements.insertRecord.run(ref.kind, ref.id, revision, head, headAt, version, stateText, ...found);
  }

  *scanEvents(): IterableIterator<EventRow> {
    for (const row of this.#iterate(this.#statements.scanEvents)) yield eventRowOf(row as EventColumns);
  }

  *scanRecords(): IterableIterator<RecordRow> {
    for (const row of this.#iterate(this.#statements.scanRecords)) yield recordRowOf(row as RecordColumns);
  }

  *scanClaims(): IterableIterator<TakenClaim> {
    for (const row of this.#iterate(this.#statements.scanClaims)) yield claimOf(row as ClaimColumns);
  }

  *scanPayloads(): IterableIterator<{ record: RecordRef; revision: number; address: string }> {
    for (const row of this.#iterate(this.#statements.scanPayloads)) {
      const { kind, id, revision, address } = row as { kind: KindName; id: string; revision: number; address: string };
      yield { record: { kind, id }, revision, address };
    }
  }

  /** A statement of its own for each scan, because scans run inside one another. */
  #iterate(text: string): IterableIterator<unknown> {
    return this.#database.prepare(text).iterate();
  }

  async backup(path: string): Promise<void> {
    if (path === this.#path) throw new Refusal('invalid', 'a backup can not replace its own store');
    await this.#database.backup(path);
  }

  close(): void {
    this.#database.close();
  }
}

function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED');
}
