/**
 * What a store inside this process must do: synchronous reads, and one transaction at a time. `LocalLedger` makes a
 * ledger of it. A client-server store implements `Ledger` by itself, over the same `BatchRun`.
 */
import { Fault, isOurs, type JsonObject, parseTrusted, Refusal } from '../core/index.js';
import type { TakenClaim, WrittenEvent, WrittenPayload } from './batch.js';
import type { Columns, KindName, LedgerEvent, RecordRef } from './kind.js';
import type { LeaseTable } from './leases.js';
import type { ListQuery, LogEntry, LogHead, LookupRow, Page } from './ledger.js';
import type { OutboxTable } from './outbox.js';

/** A record as a store holds it, with the version of the kind that wrote its columns and its document. */
export interface RecordRow {
  readonly ref: RecordRef;
  readonly revision: number;
  readonly head: string;
  readonly headAt: number;
  readonly version: number;
  /** The state document, of a kind that keeps one. */
  readonly document: string | undefined;
  readonly columns: Columns;
}

/** An event as a store holds it, with its data as text and its place in the log. */
export interface EventRow extends Omit<LedgerEvent, 'data'> {
  readonly sequence: number;
  readonly logHash: string;
  readonly dataText: string;
}

/** The end of the log, with the time of its last event; 0 where there is none. */
export interface LogTail extends LogHead {
  readonly at: number;
}

export function headOf({ sequence, logHash }: LogTail): LogHead {
  return { sequence, logHash };
}

export interface LocalStore {
  readonly ledgerId: string;
  readonly outbox: OutboxTable;
  readonly leases: LeaseTable;
  /** Takes the write lock. False when another process holds it: nothing happened, try again. */
  begin(): boolean;
  /** Returns once everything written since `begin` is durable. Throws when that is not certain. */
  commit(): void;
  rollback(): void;
  /**
   * After a failed commit: closes and opens the store again, so that nothing in memory is trusted. Where that
   * throws, the store stays closed, and this may be tried again.
   */
  reopen(): void;
  /** Runs reads that all see the same moment, whatever other processes commit meanwhile. */
  snapshot<Result>(read: () => Result): Result;

  /**
   * A number that is another one after any other connection changed anything; undefined where a store can't tell.
   * What was
   * read and checked at one number stands in the store as long as the number does.
   */
  changes(): number | undefined;

  record(ref: RecordRef): RecordRow | undefined;
  lookup(kind: KindName, key: string): readonly LookupRow[];
  claim(scope: string, principal: string, key: string): TakenClaim | undefined;
  event(ref: RecordRef, revision: number): EventRow | undefined;
  events(ref: RecordRef, from: number, limit: number): readonly EventRow[];
  payload(ref: RecordRef, revision: number, address: string): Uint8Array | undefined;
  list(query: ListQuery): Page;
  tail(): LogTail;
  log(after: number, limit: number): readonly EventRow[];

  writeEvent(sequence: number, logHash: string, event: WrittenEvent): void;
  /** `sequence` is that of the payload's event. */
  writePayload(sequence: number, payload: WrittenPayload): void;
  writeClaim(claim: TakenClaim): void;
  /** `created` says that the store holds no such record yet. */
  writeRecord(row: RecordRow, created: boolean): void;

  /**
   * What is wrong with the store itself, below its rows: a damaged index, a missing trigger. In words, at most a few.
   */
  damage(): readonly string[];
  /** Everything, for `verify`: events by record and revision, records by name, claims, payloads without their bytes. */
  scanEvents(): IterableIterator<EventRow>;
  scanRecords(): IterableIterator<RecordRow>;
  scanClaims(): IterableIterator<TakenClaim>;
  scanPayloads(): IterableIterator<{ readonly sequence: number; readonly address: string }>;

  /** Refuses `invalid` for a path at which something stands. */
  backup(path: string): Promise<void>;
  close(): void;
}

/** The event of a row, with its data parsed. The caller has checked or will check its hash. */
export function eventOf(row: EventRow): LedgerEvent {
  const { record, revision, type, at, actor, dataText, payloads, prev, hash } = row;
  return { record, revision, type, at, actor, data: parseTrusted(dataText) as JsonObject, payloads, prev, hash };
}

/** The log entry of a row. */
export function logEntry(row: EventRow): LogEntry {
  const { sequence, logHash } = row;
  // Beyond that, two numbers of the store are one here, and whoever reads behind the last one would never end.
  if (!Number.isSafeInteger(sequence)) throw new Fault('corrupt', 'an entry of the log stands at an impossible place');
  return { sequence, logHash, event: eventOf(row) };
}

const AS_OWNER = 'let its owner read and write the file and its folder, and run this as that owner';

/** What of the file system keeps a store from working, in words; undefined where it is something else. */
function barredBy(code: string): string | undefined {
  if (code.startsWith('SQLITE_READONLY') || code === 'EROFS') return 'it can not be written here';
  const isKeptOut = code.startsWith('SQLITE_CANTOPEN') || code === 'EACCES' || code === 'EPERM';
  return isKeptOut ? 'this user may not read or write it' : undefined;
}

/** What leaves a ledger when a store throws: a Fault `store`, `corrupt` where the file is damaged, a Refusal `busy`. */
export function storeError(what: string, error: unknown): Fault | Refusal {
  if (isOurs(error)) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code.startsWith('SQLITE_BUSY')) return new Refusal('busy', 'another process keeps the store locked');
  const barred = barredBy(code);
  if (barred !== undefined) return new Fault('store', `${what}: ${barred}`, error, { next: AS_OWNER });
  const damaged = code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_NOTADB');
  return new Fault(damaged ? 'corrupt' : 'store', damaged ? 'the file of the store is damaged' : what, error);
}
