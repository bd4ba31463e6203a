/**
 * What a gate has seen of its ledger, written down outside the store while it works, and why it may launch nothing: a
 * store that doesn't contain it was rolled back or replaced.
 * Source: spec authority (identity of the ledger).
 */
import type { Log } from '../connectors/index.js';
import { Refusal } from '../core/index.js';
import type { Ledger } from '../ledger/index.js';
import { epochOf } from './epoch.js';
import type { Home } from './home.js';
import { readSeen, rollbackBarrier, type Seen, seenOf, writeSeen } from './seen.js';
import { dropMark } from './unfinished.js';

/** How often it is written down. */
const SEEN_MS = 1_000;

export class Memory {
  barrier: Refusal | undefined;
  readonly #ledger: Ledger;
  readonly #ledgerId: string;
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;
  readonly #log: Log | undefined;
  #seen: Seen | undefined;

  static async open(ledger: Ledger, ledgerId: string, home: Home, log?: Log): Promise<Memory> {
    dropMark(home);
    const epoch = await epochOf(ledger);
    let barrier: Refusal | undefined;
    let seen: Seen | undefined;
    try {
      seen = readSeen(home.seenFile);
      barrier = await rollbackBarrier(ledger, ledgerId, epoch, seen);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      barrier = error;
    }
    const memory = new Memory(ledger, ledgerId, home.seenFile, barrier, log);
    memory.#seen = seen;
    return memory;
  }

  private constructor(ledger: Ledger, ledgerId: string, path: string, barrier: Refusal | undefined, log?: Log) {
    this.#ledger = ledger;
    this.#ledgerId = ledgerId;
    this.#path = path;
    this.barrier = barrier;
    this.#log = log;
    this.#timer = setInterval(() => {
      this.#write(false).catch((error: unknown) => {
        log?.write('error', 'this gate can not write down what it has seen', error);
        this.barrier = new Refusal('ledger_rolled_back', 'this gate can not write down what it has seen');
      });
    }, SEEN_MS);
    this.#timer.unref();
  }

  /** Accepts the store as it is, after a person's receipt said so. */
  async accept(): Promise<void> {
    this.barrier = undefined;
    await this.#write(true);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#write(false);
  }

  async #write(force: boolean): Promise<void> {
    if (this.barrier !== undefined) return;
    const head = await this.#ledger.head();
    const known = this.#seen;
    if (head.sequence === known?.sequence && head.logHash === known.log_hash && !force) return;
    const epoch = await epochOf(this.#ledger);
    // A server that was put back, or failed over to what is behind, under a gate that works.
    // INVARIANT: what was seen is never written over by what misses it (app.seen.running).
    const barrier = force ? undefined : await rollbackBarrier(this.#ledger, this.#ledgerId, epoch, known);
    if (barrier !== undefined) {
      this.#log?.write('error', 'the store misses what this gate has seen: it launches nothing any more', barrier);
      this.barrier = barrier;
      return;
    }
    const seen = seenOf(this.#ledgerId, epoch, head);
    writeSeen(this.#path, seen, { force });
    this.#seen = seen;
  }
}
