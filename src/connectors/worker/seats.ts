/**
 * Workers that are connected to this process: who they are, what they have, how much of it they run, and since when
 * nothing was heard of them. Bounded, for each caller and in all.
 */
import { LIMITS, Refusal } from '../../core/index.js';

/** What is asked of a worker: an operation as it is pinned, in a project. */
export interface Asked {
  readonly project: string;
  readonly operation: string;
  readonly digest: string;
}

export interface Seat {
  /** How many calls it runs at once. */
  readonly atOnce: number;
  /** Calls that it claimed and has not answered. */
  readonly running: Set<string>;
  serves(asked: Asked): boolean;
}

interface Kept {
  readonly caller: string;
  seat: Seat;
  /** When it was last there for more; and when anything was last heard of it. */
  seenAt: number;
  heardAt: number;
  /** Its waits for work; whoever waits is there. */
  readonly wakers: Set<() => void>;
}

export class Seats {
  readonly #seats = new Map<string, Kept>();
  readonly #monotonic: () => number;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** A worker asks for work: what it has is what it says now. Refuses `busy` where there are too many. */
  sit(caller: string, worker: string, atOnce: number, serves: Seat['serves']): void {
    const known = this.#seats.get(worker);
    if (known === undefined) this.#demandRoom(caller);
    const seat: Seat = { atOnce, running: known?.seat.running ?? new Set(), serves };
    const wakers = known?.wakers ?? new Set();
    const now = this.#monotonic();
    this.#seats.set(worker, { caller, seat, wakers, seenAt: now, heardAt: now });
  }

  #demandRoom(caller: string): void {
    for (const [worker, kept] of this.#seats) if (!this.#isKept(kept)) this.#seats.delete(worker);
    const own = [...this.#seats.values()].filter((kept) => kept.caller === caller).length;
    if (own < LIMITS.workersPerCallerMax && this.#seats.size < LIMITS.workersMax) return;
    throw new Refusal('busy', 'as many workers are connected as may be');
  }

  #isKept({ seat, wakers, seenAt }: Kept): boolean {
    return wakers.size > 0 || seat.running.size > 0 || this.#isFresh(seenAt);
  }

  #isFresh(seenAt: number): boolean {
    return this.#monotonic() - seenAt < LIMITS.workerGapMsMax;
  }

  get(worker: string): Seat | undefined {
    return this.#seats.get(worker)?.seat;
  }

  /** Workers that are there, take more, and have what is asked. One that runs something may be silent meanwhile. */
  present(asked: Asked): readonly Seat[] {
    return [...this.#seats.values()]
      .filter((kept) => (kept.wakers.size > 0 || this.#isFresh(kept.seenAt)) && kept.seat.atOnce > 0)
      .filter(({ seat }) => seat.serves(asked))
      .map(({ seat }) => seat);
  }

  seen(worker: string): void {
    const kept = this.#seats.get(worker);
    if (kept !== undefined) kept.seenAt = this.#monotonic();
    this.#hear(kept);
  }

  #hear(kept: Kept | undefined): void {
    if (kept !== undefined) kept.heardAt = this.#monotonic();
  }

  /** Whether nothing was heard of it for too long. Whoever waits is heard. */
  isSilent(worker: string): boolean {
    const kept = this.#seats.get(worker);
    if (kept === undefined) return true;
    return kept.wakers.size === 0 && this.#monotonic() - kept.heardAt >= LIMITS.workerSilentMsMax;
  }

  /** It is not there until it asks again; since when nothing is heard of it counts from its last wait. */
  lose(worker: string): void {
    const kept = this.#seats.get(worker);
    if (kept === undefined) return;
    kept.seenAt = Number.NEGATIVE_INFINITY;
  }

  /** A call of it is over, and its place free again. */
  release(worker: string | undefined, key: string): void {
    const kept = worker === undefined ? undefined : this.#seats.get(worker);
    if (kept?.seat.running.delete(key) === true) wakeAll(kept);
  }

  /** A wait until there may be something new for a worker; it is there as long as it waits. */
  wait(worker: string): { readonly wakes: Promise<void>; stop(): void } {
    const kept = this.#seats.get(worker);
    let wake: () => void = () => undefined;
    const wakes = new Promise<void>((resolve) => (wake = resolve));
    kept?.wakers.add(wake);
    return { wakes, stop: () => this.#endWait(kept, wake) };
  }

  #endWait(kept: Kept | undefined, wake: () => void): void {
    if (kept?.wakers.delete(wake) === true) this.#hear(kept);
  }

  /** Tells whoever has what is asked. */
  wake(asked: Asked): void {
    for (const kept of this.#seats.values()) if (kept.seat.serves(asked)) wakeAll(kept);
  }
}

function wakeAll({ wakers }: Kept): void {
  for (const wake of wakers) wake();
}
