/**
 * How long units of work wait for others before their transaction begins. Pure.
 *
 * A transaction costs nearly the same whatever its size, so callers that come in waves share one: after a transaction
 * of several units the next one waits for as long as callers keep coming, or read what they will decide over. A lone
 * caller never waits. Beside a transaction that runs a few units wait for its end, unless it takes long, as one does
 * that waits for a lock.
 */

/** So many units begin a transaction of their own at once; fewer, when the one that runs has taken this long. */
const ASIDE_UNITS = 24;
const ASIDE_MS = 15;
/** A wave is over when nobody came for this long, or this long after its first. */
const GAP_MS = 2;
const WAVE_MS = 12;
/** Transactions of so many units make a wave. */
const WAVE_UNITS = 4;

export class Patience {
  #began = 0;
  /** Units of the last two transactions. */
  #sizes: readonly [number, number] = [1, 1];
  #first: number | undefined;
  #last = 0;

  /** A unit came. */
  came(now: number): void {
    this.#first ??= now;
    this.#last = now;
  }

  /** A transaction of so many units began; so many are left. */
  began(now: number, size: number, left: number): void {
    this.#began = now;
    this.#sizes = [size, this.#sizes[0]];
    this.#first = left > 0 ? now : undefined;
  }

  /** Milliseconds until it is worth another look; 0 to begin. */
  waitMs(now: number, waiting: number, running: number, isReading: boolean): number {
    if (waiting >= ASIDE_UNITS) return 0;
    if (running > 0) return atLeast(this.#began + ASIDE_MS - now);
    if (Math.max(...this.#sizes) < WAVE_UNITS) return 0;
    const end = (this.#first ?? now) + WAVE_MS;
    return isReading ? Math.min(atLeast(end - now), 1) : atLeast(Math.min(this.#last + GAP_MS, end) - now);
  }
}

/** Whole milliseconds, as timers count them. */
function atLeast(ms: number): number {
  return Math.max(0, Math.ceil(ms));
}
