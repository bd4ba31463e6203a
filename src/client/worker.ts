/**
 * A worker: functions of this process that run what was launched at a gate. It waits for launches of its operations,
 * claims one, runs it, and tells what became of it; after a lost connection it comes again.
 *
 * It promises: a function runs for a launch that this worker claimed, and not where the claim came back late; a throw
 * is an unknown outcome unless it is a `NoEffect` or `noEffectIf` says that nothing can have happened; what became of a
 * call is told until it was recorded or refused. It never runs a call again by itself.
 * Source: spec doors (workers).
 */
import { isOurs, Refusal } from '../core/index.js';
import type { Client } from './client.js';
import { BACKOFF_MS, pause } from './pause.js';
import { type ReadWorker, readWorker } from './worker-given.js';
import { claimOffer, doClaimed } from './worker-job.js';

export interface WorkerStarted {
  /** Resolves after `stop`; rejects where the gate does not let this worker in. */
  readonly done: Promise<void>;
  /** Takes nothing new, and waits for what runs. */
  stop(): Promise<void>;
}

/** What another try does not change. */
const FINAL = new Set(['unauthenticated', 'forbidden', 'operation', 'binding_changed', 'invalid', 'not_found']);

export function startWorker(client: Client, given: unknown): WorkerStarted {
  const worker = readWorker(given);
  const stopping = new AbortController();
  const loop = new Shifts(client, worker, stopping.signal).work();
  // Whoever looks at `done` is told; a process that does not is not ended by it.
  loop.catch(() => undefined);
  return {
    done: loop,
    stop: async () => {
      stopping.abort();
      await loop.catch(() => undefined);
    },
  };
}

/** A name under which the gate knows this worker, and what runs under it. */
interface Shift {
  readonly name: string;
  readonly running: Set<Promise<void>>;
}

class Shifts {
  readonly #client: Client;
  readonly #worker: ReadWorker;
  readonly #signal: AbortSignal;
  #shift = newShift();
  /** How many calls run, under any name. */
  #count = 0;
  /** Those that take nothing new, until what they run is over. */
  readonly #ending = new Map<Shift, Promise<void>>();

  constructor(client: Client, worker: ReadWorker, signal: AbortSignal) {
    this.#client = client;
    this.#worker = worker;
    this.#signal = signal;
  }

  /** Works until the signal, and until what runs is over. Rejects where the gate does not let it in. */
  async work(): Promise<void> {
    try {
      for (let failures = 0; !this.#signal.aborted; ) {
        try {
          await this.#next();
          failures = 0;
        } catch (error) {
          if (this.#signal.aborted) return;
          if (!isOurs(error) || (error instanceof Refusal && FINAL.has(error.code))) throw error;
          await pause(BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] as number, this.#signal);
          failures += 1;
        }
      }
    } finally {
      this.#change();
      await Promise.all(this.#ending.values());
    }
  }

  async #next(): Promise<void> {
    const { name, running } = this.#shift;
    const others = () => [...this.#ending.keys()].flatMap((one) => [...one.running]);
    const ask = this.#ask(name, Math.max(0, this.#worker.atOnce - others().length));
    const { offer } = await this.#client.call('workNext', { body: ask, signal: this.#signal });
    if (offer === undefined) return;
    // INVARIANT: no more at once than was said, also where the gate forgot what runs here (client.worker.at-once).
    if (this.#count >= this.#worker.atOnce) return this.#stayUntil(name, Promise.race([...running, ...others()]));
    const claim = await claimOffer(this.#client, name, offer);
    if (claim === undefined) return;
    if (claim === 'lost') return this.#change();
    this.#count += 1;
    const job: Promise<void> = doClaimed(this.#client, this.#worker, claim, () => (this.#count -= 1))
      .catch(() => undefined)
      .finally(() => running.delete(job));
    running.add(job);
  }

  /**
   * Goes on under another name: the old one is heard as long as something runs under it, and no longer.
   * INVARIANT: a call that the gate gave and nobody got is not waited for, nor keeps a place (client.worker.lost).
   */
  #change(): void {
    const old = this.#shift;
    this.#shift = newShift();
    this.#ending.set(
      old,
      this.#stayWhile(old).finally(() => this.#ending.delete(old)),
    );
  }

  /** Until what it runs is over. */
  async #stayWhile({ name, running }: Shift): Promise<void> {
    if (running.size > 0) await this.#stayUntil(name, Promise.all(running));
  }

  /** Takes nothing new, and lets the gate hear of this worker until something is over. */
  async #stayUntil(name: string, isOver: Promise<unknown>): Promise<void> {
    const over = new AbortController();
    const ended = isOver.then(() => over.abort());
    while (!over.signal.aborted) {
      const isHeard = await this.#client.call('workNext', { body: this.#ask(name, 0), signal: over.signal }).then(
        () => true,
        () => false,
      );
      if (!isHeard) await pause(1_000, over.signal);
    }
    await ended;
  }

  #ask(name: string, atOnce: number) {
    return { worker: name, operations: this.#worker.described, at_once: atOnce, wait_ms: this.#client.waitMs };
  }
}

/** With a name that no other worker has. */
function newShift(): Shift {
  return { name: globalThis.crypto.randomUUID().replaceAll('-', ''), running: new Set() };
}
