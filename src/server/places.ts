/**
 * How many calls and event streams each caller has open: a token, a person who is signed in, or whoever shows nothing
 * to a route that takes that. Whoever has too many is told so; nobody else is.
 * INVARIANT: no caller shuts another one out (server.bounded).
 */
import { LIMITS, Refusal } from '../core/index.js';

type Sort = 'calls' | 'streams';

export class Places {
  readonly #open: Readonly<Record<Sort, Map<string, number>>> = { calls: new Map(), streams: new Map() };
  #streams = 0;

  /** Streams of everybody. */
  get streams(): number {
    return this.#streams;
  }

  /** Takes a place, and answers how to leave it. Refuses `busy`. */
  take(who: string, sort: Sort): () => void {
    const max = sort === 'calls' ? LIMITS.callsPerCallerMax : LIMITS.streamsPerCallerMax;
    const count = this.#open[sort].get(who) ?? 0;
    if (count >= max) throw new Refusal('busy', `this caller has ${count} ${sort} open, as many as it may`);
    if (sort === 'streams' && this.#streams >= LIMITS.streamsRunningMax) {
      throw new Refusal('busy', 'the server has as many streams open as it may');
    }
    this.#change(who, sort, 1);
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      this.#change(who, sort, -1);
    };
  }

  #change(who: string, sort: Sort, by: 1 | -1): void {
    const open = this.#open[sort];
    const count = (open.get(who) ?? 0) + by;
    if (count === 0) open.delete(who);
    else open.set(who, count);
    if (sort === 'streams') this.#streams += by;
  }
}
