/**
 * The embedded store: one SQLite file that several processes may share. A write transaction is BEGIN IMMEDIATE; a
 * lock held by another process for more than 50 ms is answered with `false`, never waited for on the thread.
 */
import { closeSync, openSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { Fault, isPathMistake, LIMITS, Refusal } from '../../core/index.js';
import type { TakenClaim, WrittenEvent, WrittenPayload } from '../batch.js';
import { EMPTY_LOG_HASH } from '../event.js';
import type { KindName, RecordRef } from '../kind.js';
import type { ListQuery, LookupRow, Page } from '../ledger.js';
import { pageLimit, pageOf, placeOf } from '../page.js';
import type { EventRow, LocalStore, LogTail, RecordRow } from '../store.js';
import { type Connection, openDatabase, type Statement, schemaDamage, syncFolder } from './database.js';
import { SqliteLeases } from './leases.js';
import { listStatement } from './list.js';
import { SqliteOutbox } from './outbox.js';
import { type ClaimColumns, claimOf, type EventColumns, eventRowOf, type RecordColumns, recordRowOf } from './rows.js';
import { prepareAll, SCANS, type Statements } from './statements.js';

const LISTS_MAX = 64;

export class SqliteStore implements LocalStore {
  readonly ledgerId: string;
  readonly #path: string;
  #database: Connection;
  #statements: Statements;
  #outbox: SqliteOutbox;
  #leases: SqliteLeases;
  #opened = 0;
  /** Statements of lists by their text: a query's conditions make a small number of them. */
  readonly #lists = new Map<string, Statement>();

  /** Opens the file, or creates it for a new ledger. Refuses and faults as `openDatabase`. */
  constructor(path: string, newLedgerId?: string) {
    const { database, ledgerId } = openDatabase(path, newLedgerId);
    this.#path = path;
    this.ledgerId = ledgerId;
    this.#database = database;
    this.#statements = prepareAll(database);
    this.#outbox = new SqliteOutbox(database);
    this.#leases = new SqliteLeases(database);
  }

  get outbox(): SqliteOutbox {
    return this.#outbox;
  }

  get leases(): SqliteLeases {
    return this.#leases;
  }

  /**
   * Runs `act` while no other connection has the file open. Refuses `busy` while one has: leaving the write-ahead log
   * takes the file for itself, which SQLite grants to a lone connection only.
   */
  static alone<Result>(path: string, act: (store: SqliteStore) => Result): Result {
    const store = SqliteStore.openAlone(path);
    try {
      return act(store);
    } finally {
      store.close();
    }
  }

  /** Opens a file that no other connection has open, and that none can open until it is closed. Refuses `busy`. */
  static openAlone(path: string): SqliteStore {
    const store = new SqliteStore(path);
    if (store.#takeAlone()) return store;
    store.close();
    throw new Refusal('busy', 'a gate is open on this store', { next: 'stop it first' });
  }

  #takeAlone(): boolean {
    try {
      if (this.#database.pragma('journal_mode = DELETE', { simple: true }) !== 'delete') return false;
      this.#database.pragma('locking_mode = EXCLUSIVE');
      this.#database.exec('BEGIN EXCLUSIVE; COMMIT');
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
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
    this.#outbox = new SqliteOutbox(database);
    this.#leases = new SqliteLeases(database);
    this.#opened += 1;
    this.#lists.clear();
  }

  snapshot<Result>(read: () => Result): Result {
    this.#database.exec('BEGIN');
    try {
      return read();
    } finally {
      this.#database.exec('COMMIT');
    }
  }

  damage(): readonly string[] {
    const checked = this.#database.pragma('integrity_check(5)', { simple: false }) as { integrity_check: string }[];
    const file = checked.map((row) => row.integrity_check).filter((what) => what !== 'ok');
    return [...file.map((what) => `the file is damaged: ${what}`), ...schemaDamage(this.#database)];
  }

  /** Counts connections too: the number of another connection says nothing about this one's. */
  changes(): number {
    return this.#opened * 2 ** 32 + (this.#statements.changes.get() as number);
  }

  record(ref: RecordRef): RecordRow | undefined {
    const row = this.#statements.record.get(ref.kind, ref.id) as RecordColumns | undefined;
    return row === undefined ? undefined : recordRowOf(row);
  }

  lookup(kind: KindName, key: string): readonly LookupRow[] {
    const rows = this.#statements.lookup.all(kind, key) as {
      id: string;
      status: string | null;
      principal: string | null;
    }[];
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
    const row = this.#statements.payload.get(address, ref.kind, ref.id, revision) as { bytes: Uint8Array } | undefined;
    return row?.bytes;
  }

  list(query: ListQuery): Page {
    const { text, values } = listStatement(query, placeOf(query), pageLimit(query) + 1);
    let statement = this.#lists.get(text);
    if (statement === undefined) {
      if (this.#lists.size >= LISTS_MAX) this.#lists.clear();
      statement = this.#database.prepare(text);
      this.#lists.set(text, statement);
    }
    return pageOf(query, (statement.all(...values) as RecordColumns[]).map(recordRowOf));
  }

  tail(): LogTail {
    return (this.#statements.tail.get() as LogTail | undefined) ?? { sequence: 0, logHash: EMPTY_LOG_HASH, at: 0 };
  }

  log(after: number, limit: number): readonly EventRow[] {
    return (this.#statements.log.all(after, limit) as EventColumns[]).map(eventRowOf);
  }

  writeEvent(sequence: number, logHash: string, event: WrittenEvent): void {
    const { record, revision, type, at, actor, dataText, prev, hash } = event;
    const payloads = event.payloads.length === 0 ? '[]' : JSON.stringify(event.payloads);
    const { kind, id } = record;
    const { writeEvent } = this.#statements;
    writeEvent.run(sequence, kind, id, revision, type, at, actor, dataText, payloads, prev, hash, logHash);
  }

  writePayload(sequence: number, { ref, bytes }: WrittenPayload): void {
    this.#statements.writePayload.run(sequence, ref, typeof bytes === 'string' ? Buffer.from(bytes, 'utf8') : bytes);
  }

  writeClaim(claim: TakenClaim): void {
    const { scope, principal, key, command, record, revision } = claim;
    this.#statements.writeClaim.run(scope, principal, key, command, record.kind, record.id, revision);
  }

  writeRecord(row: RecordRow, created: boolean): void {
    const { ref, revision, head, headAt, version, document = null, columns } = row;
    const { project = null, status = null, principal = null, due = null, lookup = null } = columns;
    const write = created ? this.#statements.insertRecord : this.#statements.updateRecord;
    const place = [project, status, principal, due, lookup] as const;
    const { changes } = write.run(revision, head, headAt, version, document, ...place, ref.kind, ref.id);
    if (changes !== 1) throw new Fault('corrupt', 'a record is gone from under its events');
  }

  *scanEvents(): IterableIterator<EventRow> {
    for (const row of this.#iterate(SCANS.events)) yield eventRowOf(row as EventColumns);
  }

  *scanRecords(): IterableIterator<RecordRow> {
    for (const row of this.#iterate(SCANS.records)) yield recordRowOf(row as RecordColumns);
  }

  *scanClaims(): IterableIterator<TakenClaim> {
    for (const row of this.#iterate(SCANS.claims)) yield claimOf(row as ClaimColumns);
  }

  *scanPayloads(): IterableIterator<{ sequence: number; address: string }> {
    for (const row of this.#iterate(SCANS.payloads)) yield row as { sequence: number; address: string };
  }

  /** A statement of its own for each scan, because scans run inside one another. */
  #iterate(text: string): IterableIterator<unknown> {
    return this.#database.prepare(text).iterate();
  }

  /**
   * Copies over a connection of its own that stays at one moment: the connection that writes goes on, and a copy never
   * starts over because another process wrote.
   */
  async backup(path: string): Promise<void> {
    const target = resolve(path);
    reserve(target);
    const source = new Database(this.#path, { readonly: true, timeout: LIMITS.storeBusyMsMax });
    try {
      source.exec('BEGIN');
      source.prepare('SELECT 1 FROM meta').get();
      await source.backup(target);
      syncFolder(dirname(target));
    } catch (error) {
      rmSync(target, { force: true });
      throw error;
    } finally {
      source.close();
    }
  }

  close(): void {
    this.#database.close();
  }
}

/** Makes the file of a backup, which nobody else may read. Refuses `invalid` where none can be made. */
function reserve(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!isPathMistake(error)) throw error;
    const next = 'name a file that is not there yet, in a folder of yours';
    throw new Refusal('invalid', 'no file can be made at the path of the backup', { path: 'file', next });
  }
}

function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED');
}
