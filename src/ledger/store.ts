/**
 * What a store inside this process must do: synchronous reads, and one transaction at a time. `LocalLedger` makes a ledger
 * of it. A client-server store implements `Ledger` by itself, over the same `BatchRun`.
 */
import type { Json } from '../core/index.js';
import type { TakenClaim, WrittenEvent, WrittenPayload } from './batch.js';
import type { Columns, KindName, LedgerEvent, RecordRef } from './kind.js';
import type { ListQuery, LogEntry, LogHead, LookupRow, Page } from './ledger.js';

/** A record as a store holds it: the state document as text, with the version of the kind that wrote it. */
export interface RecordRow {
  readonly ref: RecordRef;
  readonly revision: number;
  readonly head: string;
  readonly headAt: number;
  readonly version: number;
  readonly stateText: string;
  readonly columns: Columns;
}

/** An event as a store holds it, with its data as text and its place in the log. */
export interface EventRow extends Omit<LedgerEvent, 'data'> {
  readonly sequence: number;
  readonly logHash: string;
  readonly dataText: string;
}

export interface LocalStore {
  readonly ledgerId: string;
  /** Takes the write lock. False when another process holds it: nothing happened, try again. */
  begin(): boolean;
  /** Returns once everything written since `begin` is durable. Throws when that is not certain. */
  commit(): void;
  rollback(): void;
  /** After a failed commit: closes and opens the store again, so that nothing in memory is trusted. */
  reopen(): void;

  record(ref: RecordRef): RecordRow | undefined;
  lookup(kind: KindName, key: string): readonly LookupRow[];
  claim(scope: string, principal: string, key: string): TakenClaim | undefined;
  event(ref: RecordRef, revision: number): EventRow | undefined;
  events(ref: RecordRef, from: number, limit: number): readonly EventRow[];
  payload(ref: RecordRef, revision: number, address: string): Uint8Array | undefined;
  list(query: ListQuery): Page;
  head(): LogHead;
  log(after: number, limit: number): readonly EventRow[];

  writeEvent(sequence: number, logHash: string, event: WrittenEvent): void;
  writePayload(payload: WrittenPayload): void;
  writeClaim(claim: TakenClaim): void;
  writeRecord(row: RecordRow): void;

  /** Everything, for `verify`: events by record and revision, records by name, claims, payloads without their bytes. */
  scanEvents(): IterableIterator<EventRow>;
  scanRecords(): IterableIterator<RecordRow>;
  scanClaims(): IterableIterator<TakenClaim>;
  scanPayloads(): IterableIterator<{ readonly record: RecordRef; readonly revision: number; readonly address: string }>;

  backup(path: string): Promise<void>;
  close(): void;
}

/** A parsed log entry of a row. */
export function logEntry(row: EventRow, data: Json): LogEntry {
  const { sequence, logHash, dataText: _, ...event } = row;
  return { sequence, logHash, event: { ...event, data: data as LedgerEvent['data'] } };
}
