/**
 * The end of the log as this process knows it, so that a transaction puts its own events in order as it writes them,
 * and no pass of the sequencer has to follow.
 *
 * Nothing known is believed: the server compares the end of the log, the queue and each record that a projection
 * appends to in the transaction itself, under the lock of the order, which is only tried. Where another gate was there
 * in between, the events are written without a place, and the sequencer finds them one. Transactions of this process
 * take turns, since each stands behind the one before, and wait for that a bounded time; none waits for another one.
 * Source: spec ledger (the log, after the commit); docs/decisions/0006.
 */
import { Refusal } from '../../core/index.js';
import type { Base, Batch, StoredState } from '../batch.js';
import { BatchRun } from '../batch-run.js';
import { EMPTY_LOG_HASH, nextLogHash } from '../event.js';
import type { KindName, LedgerEvent, RecordRef } from '../kind.js';
import type { LogHead, Projection } from '../ledger.js';
import type { Known } from './remembered.js';
import type { States } from './states.js';
import type { Moment } from './transaction.js';

/** After each try in vain so many are left out: 2, 4, 8, and so on up to 2 to this power. */
const MISSES_MAX = 5;
/** Longest wait for a turn with the locks of a transaction held. */
const TURN_MS_MAX = 500;

/** Events with their places in the log, and what the projections append behind them. */
export interface Ordered {
  /** The end of the log that they stand behind. */
  readonly after: LogHead;
  /** The records that the projections append to, as they have to stand, by the version of their kind. */
  readonly before: readonly (Known & { readonly version: number })[];
  readonly entries: readonly LedgerEvent[];
  /** The running hash of the log behind each. */
  readonly hashes: readonly string[];
  readonly projected: Batch;
}

export const EMPTY_HEAD: LogHead = { sequence: 0, logHash: EMPTY_LOG_HASH };

/** The places of events, and of what was projected from them, behind a head. */
export function orderedBehind(
  after: LogHead,
  events: readonly LedgerEvent[],
  projected: Batch,
  before: Ordered['before'],
): Ordered {
  const entries = [...events, ...projected.events];
  let { logHash } = after;
  const hashes = entries.map(({ hash }) => {
    logHash = nextLogHash(logHash, hash);
    return logHash;
  });
  return { after, before, entries, hashes, projected };
}

export function headOf({ after, hashes }: Ordered): LogHead {
  return { sequence: after.sequence + hashes.length, logHash: hashes.at(-1) ?? after.logHash };
}

export class Order {
  readonly #states: States;
  readonly #projections: readonly Projection[];
  readonly #onHead: (sequence: number) => void;
  #head = EMPTY_HEAD;
  /** Kinds of records that projections write, as far as they did. */
  readonly #projected = new Set<KindName>();
  #turn: Promise<void> = Promise.resolve();
  #misses = 0;
  /** Tries that are left out. */
  #skips = 0;
  #rolledBack = false;
  /** True while the sequencer waits for another process. */
  isHeldElsewhere = false;

  /** `onHead` is told of the head of the log whenever it has grown. */
  constructor(states: States, projections: readonly Projection[], onHead: (sequence: number) => void) {
    this.#states = states;
    this.#projections = projections;
    this.#onHead = onHead;
  }

  /** Told of the records that projections will write behind a commit. */
  projects(targets: readonly RecordRef[]): void {
    for (const { kind } of targets) this.#projected.add(kind);
  }

  isProjected(kind: KindName): boolean {
    return this.#projected.has(kind);
  }

  /** Waits for whoever of this process writes to the log; the answer lets the next one on. */
  async turn(): Promise<() => void> {
    const before = this.#turn;
    let done: () => void = () => undefined;
    this.#turn = new Promise((resolve) => {
      done = resolve;
    });
    await before;
    return done;
  }

  /**
   * A turn for a transaction that locked these records; undefined where it should write without places. One that locked
   * what a projection writes must not wait: the sequencer waits for that lock in its own turn.
   */
  async tryTurn(locked: readonly RecordRef[]): Promise<(() => void) | undefined> {
    if (this.isHeldElsewhere || locked.some(({ kind }) => this.#projected.has(kind))) return undefined;
    if (this.#skips > 0) {
      this.#skips -= 1;
      return undefined;
    }
    const turn = this.turn();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), TURN_MS_MAX);
    });
    const done = await Promise.race([turn, late]);
    clearTimeout(timer);
    if (done === undefined) void turn.then((letOn) => letOn());
    return done;
  }

  /** The end of the log, as far as it is known. */
  get head(): LogHead {
    return this.#head;
  }

  /** The end of the log as somebody saw it. */
  saw(head: LogHead): void {
    if (head.sequence > this.#head.sequence) this.#head = head;
  }

  /**
   * The end of the log as a transaction saw it, once the log still holds what was known. Refuses `ledger_rolled_back`
   * where it does not, from then on: the server was put back, or another one took over that was behind.
   * INVARIANT: a gate goes on in no log that misses what it has seen (postgres.continued).
   */
  demandContinued({ head, isContinued }: Pick<Moment, 'head' | 'isContinued'>): void {
    this.#rolledBack ||= !isContinued;
    if (this.#rolledBack) {
      const next = 'open the gate again: it tells what a person has to accept';
      throw new Refusal('ledger_rolled_back', 'the database misses what this gate has seen', { next });
    }
    this.saw(head);
  }

  /**
   * The places of a batch and what follows from it; undefined where a projection asks for a record that is not known.
   * `named` are the records that the transaction locked.
   */
  draft(base: Base, named: readonly RecordRef[], { batch }: BatchRun): Ordered | undefined {
    const locked = new Set(named.map(({ kind, id }) => `${kind}/${id}`));
    const before = new Map<string, Ordered['before'][number]>();
    let isKnown = true;
    const record = (ref: RecordRef): StoredState | undefined => {
      const changed = batch.records.get(ref);
      if (changed !== undefined) return changed.stored;
      const name = `${ref.kind}/${ref.id}`;
      if (locked.has(name)) return base.record(ref);
      const known = this.#projected.has(ref.kind) ? this.#states.known(ref) : undefined;
      if (known === undefined) isKnown = false;
      else before.set(name, { ...known, version: base.kinds.get(ref.kind)?.version ?? 0 });
      return known?.stored;
    };
    const run = new BatchRun({ ...base, record, lookup: () => [], claim: () => undefined });
    try {
      for (const projection of this.#projections) run.runProjection(projection, batch.events);
    } catch {
      // The sequencer meets the same, and says what it means.
      return undefined;
    }
    if (!isKnown) return undefined;
    return orderedBehind(this.#head, batch.events, run.batch, [...before.values()]);
  }

  /** What a durable transaction wrote to the log. */
  wrote(ordered: Ordered): void {
    this.#head = headOf(ordered);
    this.#states.remember(ordered.projected);
    this.#onHead(this.#head.sequence);
  }

  /** What became of a try; in vain, where another end of the log was found than was known, or somebody else at it. */
  tried(ordered: Ordered, isInOrder: boolean): void {
    this.#misses = isInOrder ? 0 : Math.min(this.#misses + 1, MISSES_MAX);
    this.#skips = isInOrder ? 0 : 2 ** this.#misses;
    if (isInOrder) this.wrote(ordered);
  }
}
