/**
 * A gate's lease: a row that says until when the gate is alive, renewed at a third of its time. A gate that does not
 * hold it may have been taken for dead, so it launches nothing and recovers nothing; what it knows of a call it still
 * settles.
 *
 * It counts by this machine's monotonic clock from before the server was asked, so that a pause of the process, however
 * long, or a clock that is set, never makes it look held when the server thinks otherwise.
 * Source: spec ledger (leases).
 */
import { LIMITS, Refusal } from '../../core/index.js';
import type { Statement } from './connection.js';

/** Giving a lease back takes this long at most. */
const END_MS_MAX = 1_000;

const TAKE: Statement = {
  name: 'takeLease',
  text: `INSERT INTO countersign.leases (name, gate, until)
    SELECT 'gate/' || id, id, clock_timestamp() + CAST($1 AS int) * interval '1 ms'
    FROM CAST(gen_random_uuid() AS text) AS id
    RETURNING gate`,
};
const RENEW: Statement = {
  name: 'renewLease',
  text: `UPDATE countersign.leases SET until = clock_timestamp() + CAST($2 AS int) * interval '1 ms'
    WHERE gate = $1 AND until > clock_timestamp() RETURNING gate`,
};
const OTHERS: Statement = {
  name: 'otherLeases',
  text: `SELECT gate FROM countersign.leases
    WHERE gate <> $1 AND name LIKE 'gate/%' AND until > clock_timestamp() LIMIT 1`,
};
/** The row of a gate that died is of no use to anybody. */
const CLEAR: Statement = {
  name: 'clearLeases',
  text: "DELETE FROM countersign.leases WHERE gate = $1 OR until < clock_timestamp() - interval '1 day'",
};

/** Asks the server; answers the first column of the first row. */
export type AskLease = (statement: Statement, values: readonly string[]) => Promise<string | undefined>;

export class Lease {
  readonly #ask: AskLease;
  readonly #monotonic: () => number;
  readonly #ms: number;
  #gate: string | undefined;
  #until = 0;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | undefined;

  /** `monotonic` counts milliseconds, also while the process stands still. */
  constructor(ask: AskLease, monotonic: () => number, ms: number = LIMITS.leaseMs) {
    this.#ask = ask;
    this.#monotonic = monotonic;
    this.#ms = ms;
  }

  async start(): Promise<void> {
    await this.renew();
    this.#timer = setInterval(() => void this.renew().catch(() => undefined), this.#ms / 3);
    this.#timer.unref();
  }

  /** Why nothing may be launched or recovered; undefined while the lease is held. */
  barrier(): Refusal | undefined {
    if (this.#monotonic() < this.#until) return undefined;
    return new Refusal('busy', 'this gate does not hold its lease: others may have taken it for dead');
  }

  /** Renews it, or takes a new one after it ran out. One at a time. Rejects while the server is away. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renew(): Promise<void> {
    const before = this.#monotonic();
    const renewed = this.#gate === undefined ? undefined : await this.#ask(RENEW, [this.#gate, String(this.#ms)]);
    this.#gate = renewed ?? (await this.#ask(TAKE, [String(this.#ms)]));
    if (this.#gate !== undefined) this.#until = before + this.#ms;
  }

  /** Whether another gate is alive, or died less than a lease ago. */
  async hasOthers(): Promise<boolean> {
    return (await this.#ask(OTHERS, [this.#gate ?? ''])) !== undefined;
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    this.#until = 0;
    if (this.#gate === undefined) return;
    const cleared = this.#ask(CLEAR, [this.#gate]).catch(() => undefined);
    // A server that is away clears nothing, and nobody waits for it: the lease runs out by itself.
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, END_MS_MAX);
    });
    await Promise.race([cleared, late]);
    clearTimeout(timer);
  }
}
