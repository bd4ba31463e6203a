/**
 * Whether somebody still waits for the answer: whoever waits for an action, or listens as its agent, says so again and
 * again; who dies is taken for gone a moment later. It is for people to see, and nothing is decided by it.
 * Source: spec actions (decisions: whether the caller still waits), ledger (leases).
 */
import type { Services } from '../actions/index.js';
import { bytesToHex } from '../core/index.js';
import type { Ledger } from '../ledger/index.js';

/** How long one word is good. */
const ATTEND_MS = 15_000;
const PREFIX = 'waits/';

/** Says that somebody is there until `leave` is called. It never throws. */
export class Attendance {
  readonly #services: Services;
  readonly #name: string;
  readonly #holder: string;
  #isOver = false;
  #leave: () => void = () => undefined;
  readonly #left = new Promise<void>((resolve) => {
    this.#leave = resolve;
  });
  readonly #running: Promise<void>;

  /** `of` is the id of an action that is waited for, or the agent that listens; it ends with the signal as well. */
  constructor(services: Services, of: string, signal?: AbortSignal) {
    this.#services = services;
    this.#holder = bytesToHex(services.random.bytes(8));
    this.#name = `${PREFIX}${of}/${this.#holder}`;
    signal?.addEventListener('abort', () => this.#end(), { once: true });
    if (signal?.aborted === true) this.#end();
    this.#running = this.#run();
  }

  async leave(): Promise<void> {
    this.#end();
    await this.#running;
  }

  #end(): void {
    this.#isOver = true;
    this.#leave();
  }

  async #run(): Promise<void> {
    const { ledger, timer } = this.#services;
    while (!this.#isOver) {
      await ledger.leases.hold(this.#name, this.#holder, ATTEND_MS).catch(() => undefined);
      const again = timer(ATTEND_MS / 3);
      await Promise.race([again.rings, this.#left]);
      again.stop();
    }
    await ledger.leases.release(this.#name, this.#holder).catch(() => undefined);
  }
}

/** The actions that are waited for, and the agents that listen. */
export async function attending(ledger: Ledger): Promise<ReadonlySet<string>> {
  const names = await ledger.leases.held(PREFIX);
  return new Set(names.map((name) => name.slice(PREFIX.length, name.lastIndexOf('/'))));
}
