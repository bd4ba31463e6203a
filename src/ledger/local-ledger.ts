/**
 * A ledger over a store inside this process. Work that waits shares one transaction; a lone caller waits for one
 * sync to disk and for no timer. The log and its projections are written in the same transaction as the events.
 *
 * It promises what `Ledger` promises, also while other processes work on the same file. After a commit whose outcome
 * is not certain it opens the store again, and its callers get a Fault: they read what became of their claim.
 * Source: spec ledger (commit, the log).
 */
import {
  assert,
  type Clock,
  type Failpoint,
  Fault,
  isOurs,
  type Json,
  LIMITS,
  type Random,
  Refusal,
} from '../core/index.js';
import { asideOf } from './aside.js';
import type { UnitResult, WrittenPayload } from './batch.js';
import { BatchRun } from './batch-run.js';
import { nextLogHash } from './event.js';
import type { Kind, KindName, Kinds, LedgerEvent, RecordRef } from './kind.js';
import { type Leases, localLeases } from './leases.js';
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
import { LocalReader } from './local-reader.js';
import { localOutbox, type Outbox } from './outbox.js';
import { headOf, type LocalStore, logEntry, storeError } from './store.js';
import { verifyStore } from './verify.js';
import { closedFault, rejectAll, type Waiting } from './waiting.js';
import { LogWatch } from './watch.js';

export interface LocalLedgerOptions {
  readonly store: LocalStore;
  readonly kinds: Kinds;
  readonly clock: Clock;
  readonly random: Random;
  readonly projections?: readonly Projection[];
  readonly failpoint?: Failpoint;
}

export class LocalLedger implements Ledger {
  readonly outbox: Outbox;
  readonly leases: Leases;
  readonly #store: LocalStore;
  readonly #reader: LocalReader;
  readonly #options: LocalLedgerOptions;
  readonly #watch: LogWatch;
  #queue: Waiting[] = [];
  #scheduled = false;
  #closed: Promise<void> | undefined;
  /** Set while nobody waits for the queue to be empty. */
  #onIdle: () => void = () => undefined;
  /** True after the store could not be opened again: it is tried before the next use. */
  #lost = false;

  constructor(options: LocalLedgerOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#reader = new LocalReader(options.store, options.kinds);
    this.#watch = new LogWatch(() => this.#store.tail().sequence);
    const aside = asideOf({
      ...{ store: this.#store, clock: options.clock, jitterMs: () => this.#jitterMs() },
      ...{ use: (act) => this.#try(act), broken: (error) => this.#broken([], error) },
    });
    this.outbox = localOutbox(aside);
    this.leases = localLeases(aside, options.clock);
  }

  commit<Outcome extends Json>(work: Work<Outcome>): Promise<Committed<Outcome>> {
    if (this.#closed !== undefined) return Promise.reject(closedFault());
    if (this.#queue.length >= LIMITS.commitQueueMax) {
      return Promise.reject(new Refusal('busy', 'too much work waits for the ledger'));
    }
    return new Promise((resolve, reject) => {
      const since = this.#options.clock.monotonic();
      this.#queue.push({ work, alone: false, since, resolve: resolve as Waiting['resolve'], reject });
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
    if (this.#queue.length > 0) this.#take();
    if (this.#queue.length === 0) this.#onIdle();
    else this.#schedule();
  }

  /** Takes the lock and decides what waits, or comes back to it later. */
  #take(): void {
    let locked: boolean;
    try {
      this.#revive();
      locked = this.#store.begin();
    } catch (error) {
      this.#broken(this.#queue.splice(0), error);
      return;
    }
    if (!locked) {
      this.#waitForLock();
      return;
    }
    const single = this.#queue.findIndex(({ alone }) => alone);
    const shared = single === -1 ? this.#queue.length : single;
    this.#runBatch(this.#queue.splice(0, Math.min(Math.max(shared, 1), LIMITS.batchUnitsMax)));
  }

  /** Another process writes: yields to the loop for a while, differently long each time. */
  #waitForLock(): void {
    const limit = this.#options.clock.monotonic() - LIMITS.storeWaitMsMax;
    const late = this.#queue.filter((unit) => unit.since < limit);
    this.#queue = this.#queue.filter((unit) => unit.since >= limit);
    rejectAll(late, new Refusal('busy', 'other processes kept the ledger locked'));
    if (this.#queue.length === 0) return;
    this.#scheduled = true;
    setTimeout(() => this.#flush(), this.#jitterMs());
  }

  #runBatch(units: readonly Waiting[]): void {
    const results: UnitResult[] = [];
    let run: BatchRun;
    let head: LogHead;
    try {
      run = this.#decide(units, results);
    } catch (error) {
      if (error instanceof Fault && error.code === 'store') this.#broken(units, error);
      else this.#undecided(units, error);
      return;
    }
    try {
      head = this.#write(run);
      this.#options.failpoint?.('ledger.before-commit');
      this.#store.commit();
      this.#options.failpoint?.('ledger.after-commit');
    } catch (error) {
      this.#broken(units, error);
      return;
    }
    this.#reader.remember(run.batch.records.values());
    if (run.batch.events.length > 0) this.#watch.notify(head.sequence);
    units.forEach((unit, i) => {
      const result = results[i] as UnitResult;
      if ('committed' in result) unit.resolve(result.committed);
      else
        unit.reject(
          isOurs(result.refused) ? result.refused : new Fault('internal', 'a decision failed', result.refused),
        );
    });
  }

  /** Decides each unit and lets the projections append, over one overlay. Throws when a projection fails. */
  #decide(units: readonly Waiting[], results: UnitResult[]): BatchRun {
    const { clock, projections = [] } = this.#options;
    const monotonic = clock.monotonic();
    const [wall, { at }] = [clock.now(), this.#store.tail()];
    const run = new BatchRun(this.#reader.base(Math.max(wall, at), Math.max(0, at - wall)));
    for (const unit of units) results.push(run.runUnit(unit.work, monotonic));
    const decided = [...run.batch.events];
    if (decided.length > 0) for (const projection of projections) run.runProjection(projection, decided);
    return run;
  }

  /** Writes the batch; answers the head of the log. */
  #write(run: BatchRun): LogHead {
    const { events, payloads, claims, records } = run.batch;
    let { sequence, logHash } = this.#store.tail();
    let at = 0;
    for (const event of events) {
      sequence += 1;
      logHash = nextLogHash(logHash, event.hash);
      this.#store.writeEvent(sequence, logHash, event);
      // Payloads stand in the order of their events.
      for (; payloads[at]?.record === event.record; at += 1) {
        this.#store.writePayload(sequence, payloads[at] as WrittenPayload);
      }
    }
    assert(at === payloads.length, 'a payload without its event');
    for (const claim of claims) this.#store.writeClaim(claim);
    for (const { row, created } of records.values()) this.#store.writeRecord(row, created);
    return { sequence, logHash };
  }

  /** A projection failed, and nothing is written. Which unit it failed over shows when each is decided by itself. */
  #undecided(units: readonly Waiting[], error: unknown): void {
    try {
      this.#store.rollback();
    } catch (cause) {
      this.#broken(units, cause);
      return;
    }
    if (units.length > 1) this.#queue.unshift(...units.map((unit) => ({ ...unit, alone: true })));
    else rejectAll(units, isOurs(error) ? error : new Fault('internal', 'a projection failed', error));
  }

  /** Nothing of the batch is known to be durable, and nothing in memory is trusted any more. */
  #broken(units: readonly Waiting[], error: unknown): void {
    this.#reader.forget();
    this.#lost = true;
    try {
      this.#store.rollback();
    } catch {
      // A transaction that can't be rolled back ends with its connection.
    }
    try {
      this.#revive();
    } catch {
      // The next use of the store tries again, and reports what it meets.
    }
    rejectAll(units, storeError('the commit failed', error));
  }

  #revive(): void {
    if (this.#lost) this.#store.reopen();
    this.#lost = false;
  }

  read<State extends Json>(kind: Kind<State>, id: string): Promise<Snapshot<State> | undefined> {
    return this.#try(() => this.#reader.record({ kind: kind.name, id }) as Snapshot<State> | undefined);
  }

  readVerified<State extends Json>(kind: Kind<State>, id: string): Promise<Snapshot<State> | undefined> {
    return this.#try(() => this.#reader.verified(kind, { kind: kind.name, id }) as Snapshot<State> | undefined);
  }

  lookup(kind: KindName, key: string): Promise<readonly LookupRow[]> {
    return this.#try(() => this.#store.lookup(kind, key));
  }

  list(query: ListQuery): Promise<Page> {
    return this.#try(() => this.#reader.list(query));
  }

  events(ref: RecordRef, from = 0): Promise<readonly LedgerEvent[]> {
    return this.#try(() => this.#reader.events(ref, from));
  }

  payload(ref: RecordRef, revision: number, address: string): Promise<Uint8Array | undefined> {
    return this.#try(() => this.#reader.payload(ref, revision, address));
  }

  head(): Promise<LogHead> {
    return this.#try(() => headOf(this.#store.tail()));
  }

  log(after: number, limit: number = LIMITS.pageRowsMax): Promise<readonly LogEntry[]> {
    return this.#try(() => this.#store.log(after, Math.min(limit, LIMITS.pageRowsMax)).map(logEntry));
  }

  watch(after: number, signal: AbortSignal): AsyncIterable<LogEntry> {
    return this.#watch.follow(after, signal, (from) => this.log(from));
  }

  verify(expected?: LogHead): Promise<VerifyReport> {
    return this.#try(() => this.#store.snapshot(() => verifyStore(this.#store, this.#options.kinds, expected)));
  }

  async backup(path: string): Promise<void> {
    await this.#try(() => undefined);
    try {
      await this.#store.backup(path);
    } catch (error) {
      throw storeError('the backup failed', error);
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    if (this.#queue.length > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    this.#watch.close();
    try {
      this.#store.close();
    } catch (error) {
      throw storeError('the store could not be closed', error);
    }
  }

  #jitterMs(): number {
    return 1 + ((this.#options.random.bytes(1)[0] ?? 0) % 16);
  }

  /** Every read passes here, so that no native exception leaves. */
  async #try<T>(read: () => T): Promise<T> {
    if (this.#closed !== undefined) throw closedFault();
    try {
      this.#revive();
      return read();
    } catch (error) {
      throw storeError('the store could not be read', error);
    }
  }
}
