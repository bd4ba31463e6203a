/**
 * What was answered under an idempotency key, for a while, in memory: whoever asks the same again under it gets that
 * answer, and nothing is done; whoever is still waiting for the first one waits for the same.
 *
 * It promises that a key is one caller's own, with what their scope was; that what was refused is asked anew, since
 * nothing changed; and that what is kept is bounded, for each caller and in all: the oldest goes
 * first. What is proposed has its
 * keys in the ledger instead, for good. Nothing here is what keeps an effect from happening twice.
 * Source: spec doors (HTTP API).
 */
import { LIMITS, Refusal } from '../core/index.js';

interface Kept {
  /** The fingerprint of what was asked. */
  readonly asked: string;
  readonly answer: Promise<string>;
  readonly until: number;
  chars: number;
}

export class KeptAnswers {
  readonly #callers = new Map<string, Map<string, Kept>>();
  readonly #monotonic: () => number;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /**
   * The answer to what is asked under a key: the one that is kept, or what `act` makes. Refuses `idempotency_reuse` for
   * something else under a key that was used.
   * INVARIANT: one key, one thing asked, one answer, of one caller (server.idempotency).
   */
  async once(caller: string, key: string, asked: string, act: () => Promise<string>): Promise<string> {
    const kept = this.#of(caller);
    const known = kept.get(key);
    if (known !== undefined) {
      if (known.asked === asked) return known.answer;
      throw new Refusal('idempotency_reuse', 'something else was asked under this idempotency key', {
        next: 'use a new key for it',
      });
    }
    const answer = act();
    const one: Kept = { asked, answer, until: this.#monotonic() + LIMITS.answersKeptMs, chars: 0 };
    kept.set(key, one);
    try {
      const text = await answer;
      one.chars = text.length;
      return text;
    } catch (error) {
      if (kept.get(key) === one) kept.delete(key);
      throw error;
    } finally {
      this.#bound(caller, kept);
    }
  }

  /** What is kept for a caller, without what is over. */
  #of(caller: string): Map<string, Kept> {
    const now = this.#monotonic();
    for (const [name, kept] of this.#callers) {
      // In the order in which they came: the first that is not over ends it.
      for (const [key, { until }] of kept) {
        if (now < until) break;
        kept.delete(key);
      }
      if (kept.size === 0) this.#callers.delete(name);
    }
    const known = this.#callers.get(caller) ?? new Map<string, Kept>();
    // Whoever asks last stands last.
    this.#callers.delete(caller);
    this.#callers.set(caller, known);
    return known;
  }

  #bound(caller: string, kept: Map<string, Kept>): void {
    let chars = [...kept.values()].reduce((sum, one) => sum + one.chars, 0);
    for (const [key, one] of kept) {
      if (kept.size <= LIMITS.answersKeptMax && chars <= LIMITS.answersKeptCharsMax) break;
      kept.delete(key);
      chars -= one.chars;
    }
    if (kept.size === 0) this.#callers.delete(caller);
    for (const [name] of this.#callers) {
      if (this.#callers.size <= LIMITS.answersKeptCallersMax) break;
      this.#callers.delete(name);
    }
  }
}
