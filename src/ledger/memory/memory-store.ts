/**
 * A store in memory, for unit tests and simulation. What is written since `begin` is seen by nobody until `commit`,
 * and is gone after `rollback` or `reopen`, as in a store whose process died.
 */
import { Fault } from '../../core/index.js';
import { claimName, type TakenClaim, type WrittenEvent, type WrittenPayload } from '../batch.js';
import { EMPTY_LOG_HASH } from '../event.js';
import { type KindName, type RecordRef, recordName } from '../kind.js';
import type { ListQuery, LookupRow, Page } from '../ledger.js';
import { type Place, pageLimit, pageOf, placeOf } from '../page.js';
import type { EventRow, LocalStore, LogTail, RecordRow } from '../store.js';
import { MemoryLeases } from './memory-leases.js';
import { MemoryOutbox } from './memory-outbox.js';

export class MemoryStore implements LocalStore {
  readonly ledgerId: string;
  readonly #log: EventRow[] = [];
  readonly #events = new Map<string, EventRow[]>();
  readonly #records = new Map<string, RecordRow>();
  readonly #claims = new Map<string, TakenClaim>();
  readonly #payloads = new Map<string, { sequence: number; address: string; bytes: Uint8Array }>();
  readonly outbox = new MemoryOutbox((undo) => this.#undo.push(undo));
  readonly leases = new MemoryLeases((undo) => this.#undo.push(undo));
  #undo: (() => void)[] = [];

  constructor(ledgerId: string) {
    this.ledgerId = ledgerId;
  }

  begin(): boolean {
    this.#undo = [];
    return true;
  }

  commit(): void {
    this.#undo = [];
  }

  rollback(): void {
    for (const undo of this.#undo.reverse()) undo();
    this.#undo = [];
  }

  reopen(): void {
    this.rollback();
  }

  snapshot<Result>(read: () => Result): Result {
    return read();
  }

  damage(): readonly string[] {
    return [];
  }

  /** Never sure: tests change it under its own feet. */
  changes(): undefined {}

  record(ref: RecordRef): RecordRow | undefined {
    return this.#records.get(recordName(ref));
  }

  lookup(kind: KindName, key: string): readonly LookupRow[] {
    return [...this.#records.values()]
      .filter((row) => row.ref.kind === kind && row.columns.lookup === key)
      .map((row) => ({ id: row.ref.id, status: row.columns.status, principal: row.columns.principal }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  claim(scope: string, principal: string, key: string): TakenClaim | undefined {
    return this.#claims.get(claimName(scope, principal, key));
  }

  event(ref: RecordRef, revision: number): EventRow | undefined {
    return this.#events.get(recordName(ref))?.[revision];
  }

  events(ref: RecordRef, from: number, limit: number): readonly EventRow[] {
    return this.#events.get(recordName(ref))?.slice(from, from + limit) ?? [];
  }

  payload(ref: RecordRef, revision: number, address: string): Uint8Array | undefined {
    return this.#payloads.get(`${recordName(ref)}#${revision} ${address}`)?.bytes;
  }

  list(query: ListQuery): Page {
    const rows = [...this.#records.values()].filter(
      ({ ref, columns }) =>
        ref.kind === query.kind &&
        (query.project === undefined || columns.project === query.project) &&
        (query.principal === undefined || columns.principal === query.principal) &&
        (query.statuses === undefined || query.statuses.includes(columns.status ?? '')) &&
        (query.waiting !== true || columns.due !== undefined),
    );
    const place = placeOf(query);
    const due = (row: RecordRow) => (query.waiting === true ? (row.columns.due ?? 0) : 0);
    const direction = query.waiting === true ? 1 : -1;
    const order = (a: Place, b: Place) => a.due - b.due || (a.id === b.id ? 0 : a.id < b.id ? -direction : direction);
    const placed = rows.map((row) => ({ row, due: due(row), id: row.ref.id })).sort(order);
    const behind = place === undefined ? placed : placed.filter((entry) => order(entry, place) > 0);
    return pageOf(
      query,
      behind.slice(0, pageLimit(query) + 1).map(({ row }) => row),
    );
  }

  tail(): LogTail {
    const last = this.#log.at(-1);
    return last === undefined
      ? { sequence: 0, logHash: EMPTY_LOG_HASH, at: 0 }
      : { sequence: last.sequence, logHash: last.logHash, at: last.at };
  }

  log(after: number, limit: number): readonly EventRow[] {
    return this.#log.slice(after, after + limit);
  }

  writeEvent(sequence: number, logHash: string, event: WrittenEvent): void {
    const { data: _, ...rest } = event;
    const row: EventRow = { ...rest, sequence, logHash };
    const name = recordName(event.record);
    const events = this.#events.get(name) ?? [];
    if (events.length !== event.revision) throw new Fault('store', 'the revision of a record is taken');
    this.#events.set(name, events);
    events.push(row);
    this.#log.push(row);
    this.#undo.push(() => {
      events.pop();
      this.#log.pop();
    });
  }

  writePayload(sequence: number, payload: WrittenPayload): void {
    const { ref: address, record, revision } = payload;
    const bytes = Uint8Array.from(
      typeof payload.bytes === 'string' ? Buffer.from(payload.bytes, 'utf8') : payload.bytes,
    );
    this.#set(this.#payloads, `${recordName(record)}#${revision} ${address}`, { sequence, address, bytes });
  }

  writeClaim(claim: TakenClaim): void {
    const name = claimName(claim.scope, claim.principal, claim.key);
    if (this.#claims.has(name)) throw new Fault('store', 'a claim is taken');
    this.#set(this.#claims, name, claim);
  }

  writeRecord(row: RecordRow): void {
    this.#set(this.#records, recordName(row.ref), row);
  }

  #set<V>(map: Map<string, V>, key: string, value: V): void {
    const before = map.get(key);
    map.set(key, value);
    this.#undo.push(() => (before === undefined ? map.delete(key) : map.set(key, before)));
  }

  *scanEvents(): IterableIterator<EventRow> {
    for (const name of [...this.#events.keys()].sort()) yield* this.#events.get(name) ?? [];
  }

  *scanRecords(): IterableIterator<RecordRow> {
    for (const name of [...this.#records.keys()].sort()) yield this.#records.get(name) as RecordRow;
  }

  *scanClaims(): IterableIterator<TakenClaim> {
    yield* this.#claims.values();
  }

  *scanPayloads(): IterableIterator<{ sequence: number; address: string }> {
    for (const { sequence, address } of this.#payloads.values()) yield { sequence, address };
  }

  backup(): Promise<void> {
    return Promise.reject(new Fault('store', 'a store in memory has no backup'));
  }

  close(): void {}
}
