/**
 * Ends what nobody will end, again and again while a server runs: launches that nobody answered for become unknown, and
 * what was not decided in time expires. It calls nothing outside, and each of several gates may do it.
 * Source: spec actions (transitions: recover, expiry), ledger (leases).
 */
import type { CountersignGate, Log } from '../app/index.js';
import { isOurs } from '../core/index.js';

/** How long it rests at most after looks that failed. */
const REST_MS_MAX = 10 * 60_000;

export class Upkeep {
  readonly #gate: CountersignGate;
  readonly #everyMs: number;
  readonly #log: Log | undefined;
  #end: () => void = () => undefined;
  readonly #ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });
  #isOver = false;
  #running: Promise<void> = Promise.resolve();

  constructor(gate: CountersignGate, everyMs: number, log?: Log) {
    this.#gate = gate;
    this.#everyMs = everyMs;
    this.#log = log;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Waits for the look that is under way. */
  async close(): Promise<void> {
    this.#isOver = true;
    this.#end();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let restMs = this.#everyMs; !this.#isOver; ) {
      restMs = (await this.#look()) ? this.#everyMs : Math.min(2 * restMs, REST_MS_MAX);
      const timer = this.#gate.services.timer(restMs);
      await Promise.race([timer.rings, this.#ended]);
      timer.stop();
    }
  }

  /** Whether it could look. */
  async #look(): Promise<boolean> {
    try {
      await this.#gate.recover();
      return true;
    } catch (error) {
      // A gate whose lease is away is busy: another one looks, or this one later.
      const isBusy = isOurs(error) && error.code === 'busy';
      if (!isBusy) this.#log?.write('error', 'what is overdue could not be ended', error);
      return isBusy;
    }
  }
}
