/**
 * Group commit over a server. Units that wait share a transaction; units on disjoint records may run in several at
 * once. Each transaction takes two round trips, whatever its size.
 *
 * A connection that is lost in the middle is no end: once another transaction holds the same locks, the lost one is
 * over, and whether its events stand tells what became of it. Where they do not, the work is done again.
 * Source: spec ledger (group commit, backends).
 */
import {
  type Clock,
  type Failpoint,
  type FailpointName,
  Fault,
  isOurs,
  type Json,
  LIMITS,
  Refusal,
} from '../../core/index.js';
import type { Base, UnitResult } from '../batch.js';
import { BatchRun } from '../batch-run.js';
import { type Kind, type RecordRef, recordName } from '../kind.js';
import type { Committed, Projection, Snapshot, Work } from '../ledger.js';
import type { Connection } from './connection.js';
import { isLost, mayTryAgain, serverError } from './errors.js';
import type { Order } from './order.js';
import { Patience } from './patience.js';
import { Pool } from './pool.js';
import { STATEMENTS } from './statements.js';
import type { States } from './states.js';
import { baseOf, begin, writeAndCommit } from './transaction.js';
import { claimsOf, type Lock, locksOf, namesOf, UnitQueue, type Waiting } from './unit-queue.js';

export interface CommitterOptions {
  readonly url: string;
  readonly states: States;
  readonly clock: Clock;
  readonly projections: readonly Projection[];
  readonly failpoint: Failpoint;
  /** The time of a commit, from the server's. */
  time(server: number): number;
  /** Why nothing may be committed at present, if anything. */
  barrier(): Fault | Refusal | undefined;
  /** Whether reads are on their way, whose callers may have work next. */
  isReading(): boolean;
  readonly order: Order;
  /** Told after each durable transaction that wrote events, and whether they have their places in the log. */
  committed(attempt: Attempt, isInOrder: boolean): void;
  /** The place of the queue below which nothing can appear any more. */
  floor(): number;
}

/** What an attempt decided, kept while it is not known whether it was committed. */
export interface Attempt {
  readonly run: BatchRun;
  readonly results: readonly UnitResult[];
  /** The records that projections will write. */
  readonly targets: readonly RecordRef[];
}

/** Not an error of the server: the transaction has to be decided unit by unit. */
class Undecided {
  constructor(readonly cause: unknown) {}
}

export class Committer {
  readonly #options: CommitterOptions;
  readonly #pool: Pool;
  readonly #queue = new UnitQueue();
  #scheduled = false;
  #running = 0;
  /** Time of the newest event that this gate wrote: the log may not have it yet. */
  #newestAt = 0;
  readonly #patience = new Patience();
  #timer: NodeJS.Timeout | undefined;
  #onIdle: () => void = () => undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#pool = new Pool(options.url, LIMITS.commitConnectionsMax);
  }

  commit(work: Work<Json>): Promise<Committed<Json>> {
    if (this.#queue.length >= LIMITS.commitQueueMax) {
      return Promise.reject(new Refusal('busy', 'too much work waits for the ledger'));
    }
    const barrier = this.#options.barrier();
    if (barrier !== undefined) return Promise.reject(barrier);
    return new Promise((resolve, reject) => {
      const since = this.#options.clock.monotonic();
      this.#queue.add({ work, names: namesOf(work), since, alone: false, resolve, reject });
      this.#patience.came(performance.now());
      this.#schedule();
    });
  }

  /** Finishes what waits, and ends the connections. */
  async close(): Promise<void> {
    if (this.#queue.length + this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await this.#pool.close();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const { isReading } = this.#options;
    while (this.#pool.hasFree && this.#queue.length > 0) {
      const waitMs = this.#patience.waitMs(performance.now(), this.#queue.length, this.#running, isReading());
      if (waitMs > 0) {
        this.#timer ??= setTimeout(() => {
          this.#timer = undefined;
          this.#flush();
        }, waitMs);
        return;
      }
      const units = this.#queue.take();
      if (units.length === 0) break;
      this.#running += 1;
      this.#patience.began(performance.now(), units.length, this.#queue.length);
      void this.#run(units).finally(() => {
        this.#running -= 1;
        this.#queue.done(units);
        if (this.#queue.length > 0) this.#schedule();
        else if (this.#running === 0) this.#onIdle();
      });
    }
  }

  /** Answers every unit, whatever happens. */
  async #run(units: readonly Waiting[]): Promise<void> {
    try {
      const { results } = await this.#persist(units);
      for (const [i, unit] of units.entries()) answer(unit, results[i] as UnitResult);
    } catch (error) {
      if (!(error instanceof Undecided)) {
        for (const unit of units) unit.reject(serverError('the commit failed', error));
      } else if (units.length > 1) {
        this.#queue.again(units);
      } else {
        const { cause } = error;
        units[0]?.reject(isOurs(cause) ? cause : new Fault('internal', 'a unit of work could not be written', cause));
      }
    }
  }

  /** Tries until the outcome is certain, for as long as the first unit may wait. */
  async #persist(units: readonly Waiting[]): Promise<Attempt> {
    const { clock } = this.#options;
    const until = Math.min(...units.map(({ since }) => since)) + LIMITS.storeWaitMsMax;
    let uncertain: Attempt | undefined;
    for (;;) {
      const connection = await this.#pool.take(Math.max(until - clock.monotonic(), 0));
      const tried: { attempt?: Attempt } = {};
      try {
        return await this.#attempt(connection, units, uncertain, tried);
      } catch (error) {
        if (error instanceof Undecided || isOurs(error)) throw error;
        const lost = connection.isLost || isLost(error);
        if (lost && tried.attempt !== undefined) uncertain = tried.attempt;
        const again = lost || mayTryAgain(error);
        if (!again) throw units.length > 1 ? new Undecided(error) : serverError('the commit failed', error);
        if (clock.monotonic() > until) throw serverError('whether it was committed is not known', error);
        if (lost) await connection.end();
      } finally {
        this.#pool.give(connection);
      }
    }
  }

  /** One transaction. `tried` is set as soon as it may have been committed. */
  async #attempt(
    connection: Connection,
    units: readonly Waiting[],
    uncertain: Attempt | undefined,
    tried: { attempt?: Attempt },
  ): Promise<Attempt> {
    const { states, clock, failpoint, committed } = this.#options;
    const works = units.map(({ work }) => work);
    const monotonic = clock.monotonic();
    const wanted = { lookups: unique(works.flatMap((w) => w.lookups ?? [])), claims: unique(works.flatMap(claimsOf)) };
    const locks = locksOf(works);
    try {
      const { order } = this.#options;
      const before = uncertain?.run.batch;
      const { found, moment, written } = await begin(connection, states, locks, wanted, order.head, before);
      order.demandContinued(moment);
      // INVARIANT: the locks of the lost transaction are free, so it is over (postgres.lost-commit).
      if (uncertain?.run.batch.events.every(({ hash }) => written.has(hash))) {
        await connection.run(STATEMENTS.rollback);
        committed(uncertain, false);
        return uncertain;
      }
      const lastAt = Math.max(moment.lastAt, this.#newestAt);
      const base = baseOf(states.context, found, this.#options.time(moment.now), lastAt);
      const attempt = this.#decide(base, works, monotonic);
      if (attempt.run.batch.events.length === 0) {
        await connection.run(STATEMENTS.rollback);
        return attempt;
      }
      reach(failpoint, 'ledger.before-commit');
      const { batch } = attempt.run;
      const isInOrder = await this.#write(connection, base, locks, attempt.run, () => {
        tried.attempt = attempt;
      });
      states.remember(batch);
      this.#newestAt = batch.events.reduce((newest, { at }) => Math.max(newest, at), this.#newestAt);
      committed(attempt, isInOrder);
      reach(failpoint, 'ledger.after-commit');
      return attempt;
    } catch (error) {
      if (!connection.isLost) await connection.run(STATEMENTS.rollback).catch(() => connection.end());
      throw error;
    }
  }

  /**
   * Writes a batch, with its places in the log where nobody else is at its end; answers whether it has them. `leaves`
   * is called as soon as it may be committed.
   */
  async #write(
    connection: Connection,
    base: Base,
    locks: readonly Lock[],
    run: BatchRun,
    leaves: () => void,
  ): Promise<boolean> {
    const { order, floor } = this.#options;
    const { batch } = run;
    const named = locks.map(({ ref }) => ref);
    const done = await order.tryTurn(named);
    try {
      const ordered = done === undefined ? undefined : order.draft(base, named, run);
      leaves();
      const isInOrder = await writeAndCommit(connection, { batch, ordered, floor: floor() });
      if (ordered !== undefined) order.tried(ordered, isInOrder);
      return isInOrder;
    } finally {
      done?.();
    }
  }

  /** Decides each unit over one overlay, and asks the projections whether they can follow. */
  #decide(base: Base, works: readonly Work<Json>[], monotonic: number): Attempt {
    const run = new BatchRun(base);
    const results = works.map((work) => run.runUnit(work, monotonic));
    const { events, records } = run.batch;
    if (events.length === 0) return { run, results, targets: [] };
    const changed = new Map([...records.values()].map(({ stored }) => [recordName(stored.ref), stored]));
    const get = <State extends Json>(kind: Kind<State>, id: string) => {
      const ref = { kind: kind.name, id };
      return (changed.get(recordName(ref)) ?? base.record(ref)) as Snapshot<State> | undefined;
    };
    try {
      const view = { now: base.now, get };
      return { run, results, targets: this.#options.projections.flatMap((one) => one.targets(events, view)) };
    } catch (error) {
      throw new Undecided(error);
    }
  }
}

/** A failpoint that throws stands for a store that fails there. */
function reach(failpoint: Failpoint, name: FailpointName): void {
  try {
    failpoint(name);
  } catch (error) {
    throw new Fault('store', 'the commit failed', error);
  }
}

function answer(unit: Waiting, result: UnitResult): void {
  if ('committed' in result) unit.resolve(result.committed);
  else
    unit.reject(isOurs(result.refused) ? result.refused : new Fault('internal', 'a decision failed', result.refused));
}

/** Each of these once. */
function unique<T extends object>(items: readonly T[]): readonly T[] {
  if (items.length < 2) return items;
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}
