/**
 * Where launches and workers of this process meet. A launch takes a place of a worker before it is written, is offered
 * to every worker that has its operation, and goes to the first that claims it, once, before its time is over.
 *
 * It promises: what was not claimed in time is called back, and a later claim of it is refused; an answer is taken from
 * whoever claimed, once; what waits here is bounded, and ends with its signal.
 * Nothing here outlives the process: a worker that answers later shows what it was given with its claim.
 * Source: spec doors (workers), actions (launch).
 */
import { beforeRing, LIMITS, PATTERNS, Refusal, type Timer } from '../../core/index.js';
import type { Call, Outcome, Problem } from '../connector.js';
import { type Asked, Seats } from './seats.js';

export type { Asked, Seat } from './seats.js';

/** A call, or the question what became of one. */
export type WorkWhat = 'run' | 'reconcile';

/** What is told of a launch before it is claimed. */
export interface WorkOffer {
  readonly action_id: string;
  readonly attempt: number;
  readonly what: WorkWhat;
}

interface Asking {
  readonly what: WorkWhat;
  readonly call: Call;
  readonly asked: Asked;
  /** Wall time after which nobody may claim it. */
  readonly sendBy: number;
  readonly signal: AbortSignal;
}

interface Open extends Asking {
  readonly key: string;
  /** Workers that heard of it. */
  readonly told: Set<string>;
  claimedBy: string | undefined;
  onClaim(): void;
  onAnswer(outcome: Outcome): void;
}

/** Whether whoever asks may have what is asked of a worker. */
type MayTake = (asked: Asked) => boolean;

export interface DeskOptions {
  /** Wall time in milliseconds since the epoch, and a clock that never goes back. */
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly timer: (ms: number) => Timer;
}

export class WorkerDesk {
  readonly seats: Seats;
  readonly #options: DeskOptions;
  readonly #open = new Map<string, Open>();
  readonly #kept = new Map<string, { readonly asked: Asked; readonly until: number }>();
  #isServed = false;
  #declared: ReadonlyMap<string, { readonly pin: string; readonly digest: string }> = new Map();

  constructor(options: DeskOptions) {
    this.#options = options;
    this.seats = new Seats(options.monotonic);
  }

  /** From now on workers can come to this process. */
  serve(): void {
    this.#isServed = true;
  }

  /** What the configuration declares now, by name. */
  declare(declared: ReadonlyMap<string, { readonly pin: string; readonly digest: string }>): void {
    this.#declared = declared;
  }

  /** The digest of an operation for a worker that registers `pin`. Refuses `operation`, `binding_changed`. */
  digestFor(operation: string, pin: string): string {
    const known = this.#declared.get(operation);
    if (known === undefined) throw new Refusal('operation', 'the configuration declares no such operation of workers');
    if (known.pin === pin) return known.digest;
    const next = 'declare this version and schema, or start the worker that has the declared ones';
    throw new Refusal('binding_changed', 'the worker has another version or schema than the configuration', { next });
  }

  /** What a launch would lack here; undefined where a worker is connected that has it. */
  lacks(asked: Asked): Problem | undefined {
    if (this.seats.present(asked).length > 0) return undefined;
    if (this.#isServed) {
      const found = `no worker with \`${asked.operation}\` is connected here`;
      return { found, next: 'start the worker, and run it at the server that it comes to' };
    }
    // INVARIANT: to whom no worker can come does not say that there is none (connectors.worker.elsewhere).
    const found = `\`${asked.operation}\` is run by a worker, and workers come to a server: this process is none`;
    return { found, next: 'execute it over HTTP, at the server that its worker comes to' };
  }

  /** Keeps a place of a worker for a launch. Refuses `no_worker`, and `busy` where every worker has enough. */
  reserve(actionId: string, asked: Asked): void {
    const missing = this.lacks(asked);
    if (missing !== undefined) throw new Refusal('no_worker', missing.found, { next: missing.next });
    const now = this.#options.monotonic();
    for (const [id, { until }] of this.#kept) if (now >= until) this.#kept.delete(id);
    this.#kept.delete(actionId);
    const present = this.seats.present(asked);
    const free = present.reduce((sum, seat) => sum + Math.max(0, seat.atOnce - seat.running.size), 0);
    const waiting = [...this.#open.values()].filter(({ claimedBy }) => claimedBy === undefined);
    const taken = [...this.#kept.values(), ...waiting].filter((one) => present.some((seat) => seat.serves(one.asked)));
    if (taken.length >= free) throw new Refusal('busy', 'every worker that could run it has as much as it takes');
    this.#kept.set(actionId, { asked, until: now + LIMITS.workerPlaceMs });
  }

  /** Offers a call and waits for its answer; undefined where nobody claimed it in time: nobody can any more. */
  async ask(asking: Asking): Promise<Outcome | undefined> {
    const { call, what, signal, sendBy } = asking;
    const key = keyOf({ action_id: call.actionId, attempt: call.attempt, what });
    this.#kept.delete(call.actionId);
    if (this.#open.has(key)) return undefined;
    let onClaim: () => void = () => undefined;
    let onAnswer: (outcome: Outcome) => void = () => undefined;
    const claimed = new Promise<void>((resolve) => (onClaim = resolve));
    const answered = new Promise<Outcome>((resolve) => (onAnswer = resolve));
    const open: Open = { ...asking, key, told: new Set(), claimedBy: undefined, onClaim, onAnswer };
    this.#open.set(key, open);
    const over = once(signal);
    try {
      this.seats.wake(asking.asked);
      const wait = Math.min(LIMITS.launchToCallMsMax, Math.max(0, sendBy - this.#options.now()));
      const window = this.#options.timer(wait);
      await beforeRing(window, Promise.race([claimed, over.ends]));
      // A claim in the very moment of the ring is one all the same.
      if (open.claimedBy === undefined) {
        // Whoever heard of it and did not come is not there.
        for (const worker of open.told) this.seats.lose(worker);
        return undefined;
      }
      return await this.#answerOf(open.claimedBy, answered, over.ends);
    } finally {
      over.stop();
      this.#open.delete(key);
      this.seats.release(open.claimedBy, key);
    }
  }

  /**
   * What whoever claimed it says.
   * INVARIANT: silence is unknown, and no second worker is asked (connectors.worker.silent).
   */
  async #answerOf(worker: string, answered: Promise<Outcome>, ends: Promise<void>): Promise<Outcome> {
    const none: Outcome = { result: 'unknown', code: 'no_answer' };
    const asked = Promise.race([answered, ends.then(() => none)]);
    // The call's deadline ends this, if nothing else does.
    for (;;) {
      const heard = await beforeRing(this.#options.timer(LIMITS.workerGapMsMax), asked);
      if (heard !== undefined) return heard.answer;
      if (this.seats.isSilent(worker)) return { result: 'unknown', code: 'worker_silent' };
    }
  }

  /** The next offer that a worker may take, as soon as there is one; undefined when the wait is over. */
  async next(worker: string, mayTake: MayTake, waitMs: number, signal: AbortSignal): Promise<WorkOffer | undefined> {
    const timer = this.#options.timer(Math.min(waitMs, LIMITS.workerWaitMsMax));
    const isOver = { is: false };
    const over = once(signal);
    const ends = Promise.race([timer.rings, over.ends]).then(() => (isOver.is = true));
    try {
      for (;;) {
        const offer = signal.aborted ? undefined : this.#offerFor(worker, mayTake);
        if (offer !== undefined || isOver.is || signal.aborted) return offer;
        const wait = this.seats.wait(worker);
        await Promise.race([wait.wakes, ends]);
        wait.stop();
      }
    } finally {
      timer.stop();
      over.stop();
      // Whoever went away in the middle of a wait is not there until it comes again.
      if (signal.aborted) this.seats.lose(worker);
      else this.seats.seen(worker);
    }
  }

  #offerFor(worker: string, mayTake: MayTake): WorkOffer | undefined {
    const seat = this.seats.get(worker);
    if (seat === undefined || seat.running.size >= seat.atOnce) return undefined;
    for (const open of this.#open.values()) {
      if (open.claimedBy !== undefined || open.told.has(worker)) continue;
      if (!seat.serves(open.asked) || !mayTake(open.asked)) continue;
      open.told.add(worker);
      return { action_id: open.call.actionId, attempt: open.call.attempt, what: open.what };
    }
    return undefined;
  }

  /**
   * Gives the call to the first that claims it in its time, and may take it itself: a worker of its name may have asked
   * with more.
   * INVARIANT: one worker gets a call, once, and none after its time (connectors.worker.fenced). Refuses `state`.
   */
  claim(worker: string, mayTake: MayTake, offer: WorkOffer): Call {
    const open = PATTERNS.action.test(offer.action_id) ? this.#open.get(keyOf(offer)) : undefined;
    const seat = this.seats.get(worker);
    const now = this.#options.now();
    const isFree = open !== undefined && open.claimedBy === undefined && !open.signal.aborted;
    if (
      !isFree ||
      seat?.serves(open.asked) !== true ||
      !mayTake(open.asked) ||
      now > open.sendBy ||
      now >= open.call.deadline
    ) {
      throw new Refusal('state', 'this is no longer to be claimed: it was, or its time is over', {
        next: 'do not run it; ask for the next one',
      });
    }
    open.claimedBy = worker;
    seat.running.add(open.key);
    open.onClaim();
    return open.call;
  }

  /** Takes the answer of whoever claimed it; false where nothing waits for it here. */
  answer(worker: string, offer: WorkOffer, outcome: Outcome): boolean {
    const open = this.#open.get(keyOf(offer));
    if (open?.claimedBy !== worker) return false;
    open.onAnswer(outcome);
    return true;
  }
}

function keyOf({ action_id, attempt, what }: WorkOffer): string {
  return `${action_id}/${attempt}/${what}`;
}

/** The end of a signal as a promise that can be let go of. */
function once(signal: AbortSignal): { readonly ends: Promise<void>; stop(): void } {
  let stop: () => void = () => undefined;
  const ends = new Promise<void>((resolve) => {
    const hear = () => resolve();
    if (signal.aborted) return hear();
    signal.addEventListener('abort', hear, { once: true });
    stop = () => signal.removeEventListener('abort', hear);
  });
  return { ends, stop: () => stop() };
}
