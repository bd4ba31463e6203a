/**
 * Time as the gate is given it: the clocks of this machine, and its timers.
 */
import type { Clock, Timer } from '../core/index.js';

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** The longest time that a timer of the platform takes: longer ones would ring at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** A timer that rings after `ms` milliseconds. */
export function startTimer(ms: number): Timer {
  let handle: NodeJS.Timeout | undefined;
  const rings = new Promise<void>((resolve) => {
    handle = setTimeout(resolve, Math.min(ms, TIMER_MS_MAX));
  });
  return { rings, stop: () => clearTimeout(handle) };
}
