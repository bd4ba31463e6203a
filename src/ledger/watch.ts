/**
 * Follows the log: woken at once by commits of this process, and by a look every 100 ms for those of others.
 */
import type { LogEntry } from './ledger.js';

const POLL_MS = 100;

export class LogWatch {
  readonly #head: () => number;
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #seen = 0;
  #closed = false;

  /** `head` answers the present sequence; it is asked every 100 ms while somebody waits. */
  constructor(head: () => number) {
    this.#head = head;
  }

  notify(sequence: number): void {
    this.#seen = Math.max(this.#seen, sequence);
    this.#wake();
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== undefined) clearInterval(this.#timer);
    this.#timer = undefined;
    this.#wake();
  }

  /** Yields every entry behind `after`, in order, until the signal aborts or the ledger closes. */
  async *follow(
    after: number,
    signal: AbortSignal,
    page: (from: number) => Promise<readonly LogEntry[]>,
  ): AsyncGenerator<LogEntry> {
    let at = after;
    while (!signal.aborted && !this.#closed) {
      const seen = this.#seen;
      const entries = await page(at);
      for (const entry of entries) {
        if (signal.aborted) return;
        at = entry.sequence;
        yield entry;
      }
      if (entries.length === 0) await this.#more(seen, signal);
      // A long log is followed page by page, and others get their turn in between.
      else await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  /** Resolves once the log may have grown since `seen` was the newest that anybody had told of. */
  #more(seen: number, signal: AbortSignal): Promise<void> {
    if (this.#seen > seen || signal.aborted || this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        this.#stopPolling();
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      this.#timer ??= setInterval(() => this.#poll(), POLL_MS);
    });
  }

  #poll(): void {
    try {
      const sequence = this.#head();
      if (sequence > this.#seen) this.notify(sequence);
    } catch {
      // The reader that is woken meets the same error and reports it.
      this.#wake();
    }
  }

  #stopPolling(): void {
    if (this.#waiting.size > 0 || this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
