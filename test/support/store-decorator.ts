/**
 * A local store that hands every call on to another one. Decorators change what they have to.
 */
import type { LocalStore } from '../../src/ledger/index.js';

type Parameter<Name extends keyof LocalStore> = LocalStore[Name] extends (...parts: infer Parts) => unknown
  ? Parts
  : never;

export class StoreDecorator implements LocalStore {
  readonly ledgerId: string;
  protected readonly inner: LocalStore;

  constructor(inner: LocalStore) {
    this.inner = inner;
    this.ledgerId = inner.ledgerId;
  }

  get outbox() {
    return this.inner.outbox;
  }
  get leases() {
    return this.inner.leases;
  }
  begin(): boolean {
    return this.inner.begin();
  }
  commit(): void {
    this.inner.commit();
  }
  rollback(): void {
    this.inner.rollback();
  }
  reopen(): void {
    this.inner.reopen();
  }
  snapshot<Result>(read: () => Result): Result {
    return this.inner.snapshot(read);
  }
  changes(): number | undefined {
    return this.inner.changes();
  }
  record(...parts: Parameter<'record'>) {
    return this.inner.record(...parts);
  }
  lookup(...parts: Parameter<'lookup'>) {
    return this.inner.lookup(...parts);
  }
  claim(...parts: Parameter<'claim'>) {
    return this.inner.claim(...parts);
  }
  event(...parts: Parameter<'event'>) {
    return this.inner.event(...parts);
  }
  events(...parts: Parameter<'events'>) {
    return this.inner.events(...parts);
  }
  payload(...parts: Parameter<'payload'>) {
    return this.inner.payload(...parts);
  }
  list(...parts: Parameter<'list'>) {
    return this.inner.list(...parts);
  }
  tail() {
    return this.inner.tail();
  }
  log(...parts: Parameter<'log'>) {
    return this.inner.log(...parts);
  }
  writeEvent(...parts: Parameter<'writeEvent'>): void {
    this.inner.writeEvent(...parts);
  }
  writePayload(...parts: Parameter<'writePayload'>): void {
    this.inner.writePayload(...parts);
  }
  writeClaim(...parts: Parameter<'writeClaim'>): void {
    this.inner.writeClaim(...parts);
  }
  writeRecord(...parts: Parameter<'writeRecord'>): void {
    this.inner.writeRecord(...parts);
  }
  damage() {
    return this.inner.damage();
  }
  scanEvents() {
    return this.inner.scanEvents();
  }
  scanRecords() {
    return this.inner.scanRecords();
  }
  scanClaims() {
    return this.inner.scanClaims();
  }
  scanPayloads() {
    return this.inner.scanPayloads();
  }
  backup(path: string): Promise<void> {
    return this.inner.backup(path);
  }
  close(): void {
    this.inner.close();
  }
}
