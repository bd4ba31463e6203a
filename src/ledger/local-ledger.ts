/**
 * A ledger over a store inside this process. Work that waits shares one transaction; a lone caller waits for one sync to
 * disk and for no timer. The log and its projections are written in the same transaction as the events.
 *
 * It promises what `Ledger` promises, also while other processes work on the same file. After a commit whose outcome is not
 * certain it opens the store again, and its callers get a Fault: they read what became of their claim.
 * Source: spec ledger (commit, the log).
 */
import { type Clock, type Failpoint, Fault, isOurs, type Json, LIMITS, type Random, Refusal } from '../core/index.js';
import { BatchRun, type StoredState, type UnitResult } from './batch.js';
import { nextLogHash } from './event.js';
import type { Kind, KindName, Kinds, RecordRef } from './kind.js';
import type {
  Committed,
  Ledger,
  ListQuery,
  LogEntry,
  LogHead,
  LookupRow,
  Page,
  Projection,
  Snapshot,
  VerifyReport,
  Work,
} from './ledger.js';
import { eventOf, LocalReader } from './local-reader.js';
import { type LocalStore, logEntry } from './store.js';
import { verifyStore } from './verify.js';
import { LogWatch } from './watch.js';

export interface LocalLedgerOptions {
  readonly store: LocalStore;
  readonly kinds: Kinds;
  readonly clock: Clock;
  readonly random: Random;
  readonly projections?: readonly Projection[];
  readonly failpoint?: Failpoint;
}

interface Waiting {
  readonly work: Work<Json>;
  readonly since: number;
  resolve(committed: Committed<Json>): void;
  reject(error: unknown): void;
}

export class LocalLedger implements Ledger {
  readonly #store: LocalStore;
  readonly #reader: LocalReader;
  readonly #options: LocalLedgerOptions;
  readonly #watch: LogWatch;
  #queue: Waiting[] = [];
  #scheduled = false;
  #closed = false;

  constructor(options: LocalLedgerOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#reader = new LocalReader(options.store, options.kinds);
    this.#watch = new LogWatch(() => this.#store.head().sequence);
  }

  commit<Outcome extends Json>(work: Work<Outcome>): Promise<Committed<Outcome>> {
    if (this.#closed) return Promise.reject(new Fault('store', 'the ledger is closed'));
    if (this.#queue.length >= LIMITS.commitQueueMax) {
      return Promise.reject(new Refusal('busy', 'too much work waits for the ledger'));
    }
    return new Promise((resolve, reject) => {
      const since = this.#options.clock.monotonic();
      this.#queue.push({ work, since, resolve: resolve as Waiting['resolve'], reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#queue.length === 0) return;
    if (this.#closed) return this.#rejectAll(this.#queue.splice(0), new Fault('store', 'the ledger is closed'));
    let locked: boolean;
    try {
      locked = this.#store.begin();
    } catch (error) {
      return this.#broken(this.#queue.splice(0), error);
    }
    if (!locked) return this.#waitForLock();
    const units = this.#queue.splice(0, LIMITS.batchUnitsMax);
    this.#runBatch(units);
    if (this.#queue.length > 0) this.#schedule();
  }

  /** Another process writes: yields to the loop for a while, differently long each time. */
  #waitForLock(): void {
    const limit = this.#options.clock.monotonic() - LIMITS.storeWaitMsMax;
    const late = this.#queue.filter((unit) => unit.since < limit);
    this.#queue = this.#queue.filter((unit) => unit.since >= limit);
    this.#rejectAll(late, new Refusal('busy', 'other processes kept the ledger locked'));
    if (this.#queue.length === 0) return;
    this.#scheduled = true;
    const jitterMs = 1 + ((this.#options.random.bytes(1)[0] ?? 0) % 16);
    setTimeout(() => this.#flush(), jitterMs);
  }

  #runBatch(units: readonly Waiting[]): void {
    const results: UnitResult[] = [];
    let head: LogHead;
    let run: BatchRun;
    try {
      const { clock } = this.#options;
      const monotonic = clock.monotonic();
      const now = clock.now();
      run = new BatchRun(this.#reader.base(now));
      for (const unit of units) results.push(run.runUnit(unit.work, monotonic));
      head = this.#write(run);
      this.#options.failpoint?.('ledger.before-commit');
      this.#store.commit();
    } catch (error) {
      return this.#broken(units, error);
    }
    this.#reader.remember(run.batch.records.values());
    this.#options.failpoint?.('ledger.after-commit');
    if (run.batch.events.length > 0) this.#watch.notify(head.sequence);
    units.forEach((unit, i) => {
      const result = results[i] as UnitResult;
      if ('committed' in result) unit.resolve(result.committed);
      else unit.reject(isOurs(result.refused) ? result.refused : new Fault('internal', 'a decision failed', result.refused));
    });
  }

  /** Writes the batch and what its projections make of it; answers the head of the log. */
  #write(run: BatchRun): LogHead {
    const decided = [...run.batch.events];
    for (const projection of this.#options.projections ?? []) run.runProjection(projection, decided);
    const head = this.#store.head();
    let { sequence, logHash } = head;
    for (const event of run.batch.events) {
      sequence += 1;
      logHash = nextLogHash(logHash, event.hash);
      this.#store.writeEvent(sequence, logHash, event);
    }
    for (const payload of run.batch.payloads) this.#store.writePayload(payload);
    for (const claim of run.batch.claims) this.#store.writeClaim(claim);
    for (const record of run.batch.records.values()) this.#store.writeRecord(this.#reader.row(record));
    return { sequence, logHash };
  }

  /** Nothing of the batch is known to be durable, and nothing in memory is trusted any more. */
  #broken(units: readonly Waiting[], error: unknown): void {
    const fault = isOurs(error) ? error : new Fault('store', 'the commit failed', error);
    try {
      this.#store.rollback();
      this.#store.reopen();
    } catch {
      this.#closed = true;
    }
    this.#reader.forget();
    this.#rejectAll(units, fault);
    if (this.#queue.length > 0) this.#schedule();
  }

  #rejectAll(units: readonly Waiting[], error: Refusal | Fault): void {
    for (const unit of units) unit.reject(error);
  }

  read<State extends Json>(kind: Kind<State>, id: string): Promise<Snapshot<State> | undefined> {
    return this.#try(() => this.#reader.record({ kind: kind.name, id }) as (StoredState & Snapshot<State>) | undefined);
  }

  readVerified<State extends Json>(kind: Kind<State>, id: string): Promise<Snapshot<State> | undefined> {
    return this.#try(() => this.#reader.verified(kind, { kind: kind.name, id }) as Snapshot<State> | undefined);
  }

  lookup(kind: KindName, key: string): Promise<readonly LookupRow[]> {
    return this.#try(() => this.#store.lookup(kind, key));
  }

  list(query: ListQuery): Promise<Page> {
    return this.#try(() => this.#store.list(query));
  }

  events(ref: RecordRef, from = 0) {
    return this.#try(() => this.#store.events(ref, from, LIMITS.pageRowsMax).map(eventOf));
  }

  payload(ref: RecordRef, revision: number, address: string): Promise<Uint8Array | undefined> {
    return this.#try(() => this.#reader.payload(ref, revision, address));
  }

  head(): Promise<LogHead> {
    return this.#try(() => this.#store.head());
  }

  log(after: number): Promise<readonly LogEntry[]> {
    return this.#try(() => this.#store.log(after, LIMITS.pageRowsMax).map((row) => logEntry(row, eventOf(row).data)));
  }

  watch(after: number, signal: AbortSignal): AsyncIterable<LogEntry> {
    return this.#watch.follow(after, signal, (from) => this.log(from));
  }

  verify(expected?: LogHead): Promise<VerifyReport> {
    return this.#try(() => verifyStore(this.#store, this.#options.kinds, expected));
  }

  async backup(path: string): Promise<void> {
    try {
      await this.#store.backup(path);
    } catch (error) {
      throw isOurs(error) ? error : new Fault('store', 'the backup failed', error);
    }
  }

  async close(): Promise<void> {
    while (this.#queue.length > 0 && !this.#closed) await new Promise<void>((resolve) => setImmediate(resolve));
    if (this.#closed) return;
    this.#closed = true;
    this.#watch.close();
    this.#store.close();
  }

  /** Every read passes here, so that no native exception leaves. */
  async #try<T>(read: () => T): Promise<T> {
    if (this.#closed) throw new Fault('store', 'the ledger is closed');
    try {
      return read();
    } catch (error) {
      throw isOurs(error) ? error : new Fault('store', 'the store could not be read', error);
    }
  }
}
