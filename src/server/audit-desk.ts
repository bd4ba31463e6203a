/**
 * The whole ledger verified for whoever is signed in: one run at a time, beside the server, so that nobody waits for it
 * who asks for something else. What the last run found is kept until the next one; nothing of it is written down.
 * Source: spec doors (console: audit), ledger (verify).
 */
import type { AuditReport, Log } from '../app/index.js';
import { type Clock, Fault, isOurs } from '../core/index.js';

/** Verifies the ledger once. The signal ends it. */
export type Auditor = (signal: AbortSignal) => Promise<AuditReport>;

/** What is known of an audit. Times are milliseconds since the epoch. */
export type AuditTold =
  | { readonly state: 'none' }
  | { readonly state: 'running'; readonly since: number }
  | {
      readonly state: 'failed';
      readonly since: number;
      readonly at: number;
      readonly code: string;
      readonly what: string;
    }
  | { readonly state: 'done'; readonly since: number; readonly at: number; readonly report: AuditReport };

export class AuditDesk {
  readonly #audit: Auditor;
  readonly #clock: Clock;
  readonly #log: Log | undefined;
  readonly #ending = new AbortController();
  #told: AuditTold = { state: 'none' };
  #run: Promise<void> = Promise.resolve();

  constructor(audit: Auditor, clock: Clock, log?: Log) {
    this.#audit = audit;
    this.#clock = clock;
    this.#log = log;
  }

  told(): AuditTold {
    return this.#told;
  }

  /** Begins a run, where none is under way. */
  begin(): AuditTold {
    if (this.#told.state === 'running' || this.#ending.signal.aborted) return this.#told;
    const since = this.#clock.now();
    this.#told = { state: 'running', since };
    this.#run = this.#finish(since);
    return this.#told;
  }

  /** Ends a run that is under way. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#run;
  }

  async #finish(since: number): Promise<void> {
    try {
      const report = await this.#audit(this.#ending.signal);
      this.#told = { state: 'done', since, at: this.#clock.now(), report };
    } catch (error) {
      const ours = isOurs(error) ? error : new Fault('internal', 'the audit failed', error);
      const what = ours.path === undefined ? ours.message : `${ours.path}: ${ours.message}`;
      this.#told = { state: 'failed', since, at: this.#clock.now(), code: ours.code, what };
      this.#log?.write('error', 'an audit could not be carried out', ours);
    }
  }
}
