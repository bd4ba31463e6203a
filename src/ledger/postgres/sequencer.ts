/**
 * Puts committed events in the one order: moves them from the queue into `log` with the running hash, and lets the
 * projections append what follows from them, in one transaction.
 *
 * Whoever has the lock of the order does it, one pass at a time: every gate after those of its own commits that could
 * not be given their places at once (`order`), and at least every 100 ms for those of gates that died. The lock is the
 * transaction's, so that it is free at once when its holder is gone. A pass that fails for another reason than the
 * server stops all commits: nothing goes on behind a log that stands still.
 * Source: spec ledger (the log, after the commit).
 */
import { Fault, isOurs, LIMITS, Refusal } from '../../core/index.js';
import { BatchRun } from '../batch-run.js';
import { eventHash } from '../event.js';
import type { LedgerEvent, RecordRef } from '../kind.js';
import type { Projection } from '../ledger.js';
import { eventOf } from '../store.js';
import { textArray } from './arrays.js';
import type { Connection, Row } from './connection.js';
import { isLost, mayTryAgain } from './errors.js';
import { Floor } from './floor.js';
import { corrupt } from './fold.js';
import { Loaded } from './loaded.js';
import { type Order, orderedBehind } from './order.js';
import { OwnEvents } from './own-events.js';
import { connectWithin } from './pool.js';
import { eventRowOf } from './rows.js';
import { STATEMENTS } from './statements.js';
import type { States } from './states.js';
import { momentOf, placesOf, writeAndCommit } from './transaction.js';

const POLL_MS = 100;
/** Passes of a busy gate begin at least this far apart, so that each takes the events of several commits. */
const SPACING_MS = 5;
/** Looks for records that a projection turned out to need: an event, what it names, what that names. */
const LOOKS_MAX = 4;
const HASH = 3;
const PLACE = 4;
const FIRST = 5;
const SIZE = 6;

export interface SequencerOptions {
  readonly url: string;
  readonly states: States;
  readonly projections: readonly Projection[];
  time(server: number): number;
  /** Events of this gate that may wait for their place before its commits are refused. */
  readonly unsequencedMax: number;
  readonly order: Order;
  /** Told of the head of the log whenever it may have grown. */
  onHead(sequence: number): void;
}

export class Sequencer {
  readonly #options: SequencerOptions;
  #connection: Connection | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #running: Promise<void> | undefined;
  /** The pass that begins when the running one ends. */
  #next: Promise<void> | undefined;
  #failed: Fault | Refusal | undefined;
  #began = Number.NEGATIVE_INFINITY;
  #owed = 0;
  /** Events of this process that wait for their place. */
  readonly #own = new OwnEvents();
  readonly #floor = new Floor();
  /** Records that the last pass wrote: the next one will most likely write them too. */
  #hot: readonly RecordRef[] = [];

  constructor(options: SequencerOptions) {
    this.#options = options;
  }

  /** Why nothing may be committed: the log stands still, or is too far behind. */
  barrier(): Fault | Refusal | undefined {
    if (this.#failed !== undefined || this.#owed < this.#options.unsequencedMax) return this.#failed;
    return new Refusal('busy', 'too many events wait for their place in the log');
  }

  /** Told of events that were committed and have no place yet. */
  owes(events: readonly LedgerEvent[]): void {
    this.#owed += events.length;
    this.#own.add(events);
  }

  async start(): Promise<void> {
    await this.#connect(0);
    this.#timer = setInterval(() => void this.#poll(), POLL_MS);
    this.#timer.unref();
  }

  /** The place of the queue below which nothing can appear any more. */
  get floor(): number {
    return this.#floor.place;
  }

  /** Resolves when everything committed before this call stands in the log, or could not be put there now. */
  kick(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#pass().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.kick();
    });
    return this.#next;
  }

  /** Resolves when the passes that were asked for are over. */
  async caughtUp(): Promise<void> {
    await (this.#next ?? this.#running);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.kick();
    this.#closed = true;
    await this.#connection?.end();
  }

  async #connect(msMax: number): Promise<Connection> {
    const known = this.#connection;
    if (known !== undefined && !known.isLost) return known;
    const { url, onHead } = this.#options;
    const notice = (_: string, text: string) => onHead(Number(text));
    const connection = await connectWithin(url, msMax, () => this.#closed, notice);
    await connection.script('LISTEN countersign_log');
    this.#connection = connection;
    return connection;
  }

  /** What another gate left in the queue, and what a notice that was lost would have told. */
  async #poll(): Promise<void> {
    if (this.#running !== undefined || this.#closed) return;
    try {
      const connection = await this.#connect(0);
      const { order } = this.#options;
      const [queued, moments] = await connection.together(() => [
        connection.ask(STATEMENTS.isQueued, [this.#floor.place]),
        connection.ask(STATEMENTS.moment, [order.head.sequence, order.head.logHash]),
      ]);
      const moment = momentOf(moments[0] as Row);
      order.demandContinued(moment);
      this.#options.onHead(moment.head.sequence);
      if (queued.length > 0 || this.#failed !== undefined) await this.kick();
    } catch {
      // The server is away, or behind what was known. Whoever commits or reads is told; this looks again in a while.
    }
  }

  async #pass(): Promise<void> {
    const waitMs = this.#began + SPACING_MS - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    this.#began = performance.now();
    if (this.#closed) return;
    let connection: Connection | undefined;
    try {
      connection = await this.#connect(0);
      const owed = this.#owed;
      for (let count: number = LIMITS.sequenceEventsMax; count === LIMITS.sequenceEventsMax; ) {
        count = await this.#inTurn(connection);
      }
      this.#owed -= owed;
      this.#failed = undefined;
    } catch (error) {
      if (connection !== undefined && !connection.isLost) {
        const { rollback } = STATEMENTS;
        await connection.run(rollback).catch(() => connection?.end());
      }
      // The next look finds the server again.
      if (connection === undefined || connection.isLost || isLost(error) || mayTryAgain(error)) return;
      this.#failed = isOurs(error) ? error : new Fault('internal', 'the log stands still', error);
    }
  }

  /** Moves one portion of the queue; answers how many events it had. */
  async #inTurn(connection: Connection): Promise<number> {
    const { order } = this.#options;
    let done = await order.turn();
    try {
      const [, taken] = await connection.together(() => [
        connection.ask(STATEMENTS.begin),
        connection.ask(STATEMENTS.tryOrder, [textArray([])]),
      ]);
      if (taken[0]?.[0] !== 'true') {
        // No turn is held while another process is waited for.
        done();
        order.isHeldElsewhere = true;
        await connection.ask(STATEMENTS.takeOrder);
        done = await order.turn();
      }
      return await this.#sequence(connection);
    } finally {
      order.isHeldElsewhere = false;
      done();
    }
  }

  async #sequence(connection: Connection): Promise<number> {
    const { order, states } = this.#options;
    const loaded = new Loaded(states);
    const [, moments, rows] = await connection.together(() => [
      this.#hot.length === 0 ? undefined : loaded.load(connection, [], this.#hot),
      connection.ask(STATEMENTS.moment, [order.head.sequence, order.head.logHash]),
      connection.ask(STATEMENTS.queue, [this.#floor.place, LIMITS.sequenceEventsMax]),
    ]);
    const moment = momentOf(moments[0] as Row);
    order.demandContinued(moment);
    const isAll = rows.length < LIMITS.sequenceEventsMax;
    const { queue, last } = wholeOf(rows, isAll);
    const settle = this.#floor.saw(moment.horizon, last, isAll);
    if (queue.length === 0) {
      await connection.run(STATEMENTS.rollback);
      settle();
      return 0;
    }
    const places = queue.map((row) => row[PLACE] as number);
    const events = await this.#eventsOf(connection, queue);
    loaded.follow(events);
    const run = await this.#project(connection, loaded, events, this.#options.time(moment.now));
    const ordered = orderedBehind(moment.head, events, run.batch, []);
    await writeAndCommit(connection, { ordered, taken: places });
    settle();
    order.wrote(ordered);
    this.#hot = [...run.batch.records.values()].map(({ row }) => row.ref);
    return rows.length;
  }

  /** The events of the queue: those that this process wrote as it wrote them, others read and hashed again. */
  async #eventsOf(connection: Connection, queue: readonly Row[]): Promise<readonly LedgerEvent[]> {
    const known = queue.map((row) => this.#own.take(row[HASH] as string));
    const missing = queue.filter((_, i) => known[i] === undefined);
    if (missing.length === 0) return known as LedgerEvent[];
    const wanted = missing.map(([kind, id, revision]) => ({
      record: { kind, id } as RecordRef,
      revision: Number(revision),
    }));
    const rows = await connection.ask(STATEMENTS.eventsAt, placesOf({ events: wanted }));
    const { ledgerId } = this.#options.states.context;
    const read = new Map(rows.map(eventRowOf).map((row) => [row.hash, row]));
    return queue.map((columns, i) => {
      const own = known[i];
      if (own !== undefined) return own;
      const row = read.get(columns[HASH] as string);
      if (row !== undefined && eventHash(ledgerId, row) === row.hash) return eventOf(row);
      const ref = { kind: columns[0], id: columns[1] } as RecordRef;
      throw corrupt(ref, columns[2] as number, 'the event is not the one that was written');
    });
  }

  /** Lets the projections append, over states that are loaded as they ask for them. */
  async #project(
    connection: Connection,
    loaded: Loaded,
    events: readonly LedgerEvent[],
    now: number,
  ): Promise<BatchRun> {
    const { projections } = this.#options;
    if (projections.length === 0) return new BatchRun(loaded.base(now));
    for (let look = 0; look < LOOKS_MAX; look += 1) {
      const targets = projections.flatMap((projection) => projection.targets(events, loaded.view(now)));
      const missing = [...loaded.missing(), ...targets.filter((ref) => !loaded.isLocked(ref))];
      if (missing.length === 0) {
        const run = new BatchRun(loaded.base(now));
        for (const projection of projections) run.runProjection(projection, events);
        if (loaded.missing().length === 0) return run;
      }
      await loaded.load(connection, loaded.missing(), targets);
    }
    throw new Fault('internal', 'a projection asks for ever more records');
  }
}

/**
 * The rows of whole transactions, which stay together in the log, and the last place below which everything was read.
 * One that the portion cut off waits for the next.
 */
export function wholeOf(
  rows: readonly Row[],
  isAll: boolean,
): { readonly queue: readonly Row[]; readonly last?: number } {
  if (rows.length === 0) return { queue: rows };
  if (isAll) return { queue: rows, last: rows.reduce((last, row) => Math.max(last, row[PLACE] as number), 0) };
  const first = rows.at(-1)?.[FIRST];
  const tail = rows.filter((row) => row[FIRST] === first);
  const isCut = tail.length < (tail[0]?.[SIZE] as number) && tail.length < rows.length;
  const queue = isCut ? rows.slice(0, -tail.length) : rows;
  return { queue, last: queue.at(-1)?.[FIRST] as number };
}
