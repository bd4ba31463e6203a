/**
 * Events that this process committed and that wait for their place in the log, by their hash, so that they need not be
 * read again. A bounded number: one that is not found is read. Pure.
 */
import { LIMITS } from '../../core/index.js';
import type { LedgerEvent } from '../kind.js';

export class OwnEvents {
  readonly #byHash = new Map<string, LedgerEvent>();

  add(events: readonly LedgerEvent[]): void {
    for (const event of events) this.#byHash.set(event.hash, event);
    for (const hash of this.#byHash.keys()) {
      if (this.#byHash.size <= LIMITS.ownEventsMax) return;
      this.#byHash.delete(hash);
    }
  }

  /** An event that is asked for has its place next; where that fails, it is read. */
  take(hash: string): LedgerEvent | undefined {
    const event = this.#byHash.get(hash);
    this.#byHash.delete(hash);
    return event;
  }
}
