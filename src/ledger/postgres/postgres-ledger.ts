/**
 * A ledger on a PostgreSQL server that any number of gates share. It keeps what `Ledger` promises: a commit that was
 * answered is durable on the server; units on disjoint records, of this gate and of others, are committed at the same
 * time. The log is written with them, or follows a moment later, by whichever gate has the lock of the order.
 *
 * Times are the server's, so that gates on machines with different clocks agree. What this process committed is in the
 * log and in the threads for whoever reads them through it.
 * Source: spec ledger; docs/decisions/0006.
 */
import { type Clock, type Failpoint, Fault, type Json, LIMITS, Refusal } from '../../core/index.js';
import { admitWork } from '../admit.js';
import type { Kind, KindName, Kinds, LedgerEvent, RecordRef } from '../kind.js';
import type { Leases } from '../leases.js';
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
} from '../ledger.js';
import type { Outbox } from '../outbox.js';
import { LogWatch } from '../watch.js';
import { Committer } from './committer.js';
import { Connection } from './connection.js';
import { serverError } from './errors.js';
import { type AskLease, Lease } from './lease.js';
import { serverLeases } from './leases.js';
import { ledgerIdOf } from './migrate.js';
import { Order } from './order.js';
import { type AskServer, serverOutbox } from './outbox.js';
import { connectWithin } from './pool.js';
import { Reader } from './reader.js';
import { Sequencer } from './sequencer.js';
import { States } from './states.js';
import { claimsOf } from './unit-queue.js';
import { verifyServer } from './verify.js';

export interface PostgresLedgerOptions {
  /** `postgres://…` of a database that was migrated. */
  readonly url: string;
  readonly kinds: Kinds;
  /** Its monotonic side is asked; the time of commits is the server's. */
  readonly clock: Clock;
  readonly projections?: readonly Projection[];
  readonly failpoint?: Failpoint;
  /** For tests: how long a lease runs, and how many events of this gate may wait for their place in the log. */
  readonly leaseMs?: number;
  readonly unsequencedMax?: number;
  /** For tests and simulation: the time of a commit in place of the server's. */
  readonly time?: (server: number) => number;
}

export class PostgresLedger implements Ledger {
  readonly ledgerId: string;
  readonly outbox: Outbox;
  readonly leases: Leases;
  readonly #url: string;
  readonly #kinds: Kinds;
  readonly #reader: Reader;
  readonly #committer: Committer;
  readonly #order: Order;
  readonly #sequencer: Sequencer;
  readonly #watch: LogWatch;
  readonly #lease: Lease;
  #head = 0;
  #closed: Promise<void> | undefined;

  /** Opens the ledger of a database. Refuses `not_initialized`, `invalid`; faults `store`. */
  static async open(options: PostgresLedgerOptions): Promise<PostgresLedger> {
    let connection: Connection | undefined;
    let ledger: PostgresLedger | undefined;
    try {
      connection = await connectWithin(options.url, LIMITS.connectMsMax, () => false);
      ledger = new PostgresLedger(options, await ledgerIdOf(connection));
      await ledger.#sequencer.start();
      await ledger.#lease.start();
      return ledger;
    } catch (error) {
      await ledger?.close().catch(() => undefined);
      throw serverError('the store could not be opened', error);
    } finally {
      await connection?.end();
    }
  }

  private constructor(options: PostgresLedgerOptions, ledgerId: string) {
    const { url, kinds, clock, projections = [], failpoint = () => undefined, time = (server) => server } = options;
    this.ledgerId = ledgerId;
    this.#url = url;
    this.#kinds = kinds;
    const states = new States({ ledgerId, kinds });
    this.#reader = new Reader(url, states);
    const ask: AskLease = async (statement, values) =>
      (await this.#reader.ask(statement, values))[0]?.[0] as string | undefined;
    const askOpen: AskServer = async (statement, values) => {
      this.#assertOpen();
      return this.#reader.ask(statement, values);
    };
    this.outbox = serverOutbox(askOpen);
    this.leases = serverLeases(askOpen);
    this.#lease = new Lease(ask, () => performance.now(), options.leaseMs);
    this.#watch = new LogWatch(() => this.#head);
    const onHead = (sequence: number) => {
      if (!(sequence > this.#head)) return;
      this.#head = sequence;
      this.#watch.notify(sequence);
    };
    const { unsequencedMax = LIMITS.unsequencedMax } = options;
    const order = new Order(states, projections, onHead);
    this.#order = order;
    this.#sequencer = new Sequencer({ url, states, projections, order, time, onHead, unsequencedMax });
    this.#committer = new Committer({
      url,
      states,
      clock,
      projections,
      failpoint,
      time,
      barrier: () => this.#sequencer.barrier(),
      isReading: () => this.#reader.isReading,
      order,
      floor: () => this.#sequencer.floor,
      committed: ({ targets, run }, isInOrder) => {
        order.projects(targets);
        if (isInOrder) return;
        this.#sequencer.owes(run.batch.events);
        void this.#sequencer.kick();
      },
    });
  }

  async commit<Outcome extends Json>(work: Work<Outcome>): Promise<Committed<Outcome>> {
    this.#assertOpen();
    admitWork(work);
    const hasNul = claimsOf(work).some(({ key }) => key.includes('\0'));
    if (hasNul) throw new Refusal('invalid', 'a key has a character that no text on a server can have');
    return (await this.#committer.commit(work)) as Committed<Outcome>;
  }

  async read<State extends Json>(kind: Kind<State>, id: string): Promise<Snapshot<State> | undefined> {
    await this.#follows(kind.name);
    return (await this.#reader.record({ kind: kind.name, id })) as Snapshot<State> | undefined;
  }

  async readVerified<State extends Json>(kind: Kind<State>, id: string): Promise<Snapshot<State> | undefined> {
    await this.#follows(kind.name);
    return (await this.#reader.verified({ kind: kind.name, id })) as Snapshot<State> | undefined;
  }

  async lookup(kind: KindName, key: string): Promise<readonly LookupRow[]> {
    await this.#follows(kind);
    return this.#reader.lookup(kind, key);
  }

  async list(query: ListQuery): Promise<Page> {
    await this.#follows(query.kind);
    return this.#reader.list(query);
  }

  async events(ref: RecordRef, from = 0): Promise<readonly LedgerEvent[]> {
    await this.#follows(ref.kind);
    return this.#reader.events(ref, from);
  }

  async payload(ref: RecordRef, revision: number, address: string): Promise<Uint8Array | undefined> {
    await this.#follows(ref.kind);
    return this.#reader.payload(ref, revision, address);
  }

  async head(): Promise<LogHead> {
    await this.#follows();
    return this.#reader.head();
  }

  async log(after: number, limit?: number): Promise<readonly LogEntry[]> {
    await this.#follows();
    return this.#reader.log(after, limit);
  }

  watch(after: number, signal: AbortSignal): AsyncIterable<LogEntry> {
    return this.#watch.follow(after, signal, (from) => this.#reader.log(from));
  }

  async verify(expected?: LogHead): Promise<VerifyReport> {
    await this.#follows();
    let connection: Connection | undefined;
    try {
      connection = await Connection.open(this.#url, undefined, LIMITS.scanMsMax);
      return await verifyServer(connection, { ledgerId: this.ledgerId, kinds: this.#kinds }, expected);
    } catch (error) {
      throw serverError('the store could not be verified', error);
    } finally {
      await connection?.end();
    }
  }

  leaseBarrier(): Refusal | undefined {
    return this.#lease.barrier();
  }

  hasOthers(): Promise<boolean> {
    return this.#lease.hasOthers();
  }

  backup(): Promise<void> {
    const next = 'back the database up with pg_dump, or with what your provider offers';
    return Promise.reject(new Refusal('invalid', 'a store on a server is backed up by the server', { next }));
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    await this.#committer.close();
    await this.#lease.end();
    await this.#sequencer.close();
    this.#watch.close();
    await this.#reader.close();
  }

  #assertOpen(): void {
    if (this.#closed !== undefined) throw new Fault('store', 'the ledger is closed');
  }

  /**
   * What this process committed is in the log, and projected, for what is read next: all of it, or records of a
   * kind.
   */
  async #follows(kind?: KindName): Promise<void> {
    this.#assertOpen();
    if (kind === undefined || this.#order.isProjected(kind)) await this.#sequencer.caughtUp();
  }
}
