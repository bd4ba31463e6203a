/**
 * Counters and gauges for Prometheus: how many requests of which route ended how, how long they took, what runs, and
 * how far the log is. No label holds anything that a caller chose.
 * Source: spec doors (HTTP API: metrics).
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { CountersignGate } from '../app/index.js';

export class ServerMetrics {
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: 'countersign_http_requests_total',
    help: 'requests by route and status',
    labelNames: ['route', 'status'],
    registers: [this.#registry],
  });
  readonly #seconds = new Histogram({
    name: 'countersign_http_request_seconds',
    help: 'how long requests took, in seconds',
    labelNames: ['route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers: [this.#registry],
  });
  readonly #running = new Gauge({
    name: 'countersign_http_requests_running',
    help: 'requests that are being answered, event streams among them',
    registers: [this.#registry],
  });
  readonly #sequence = new Gauge({
    name: 'countersign_log_sequence',
    help: 'the sequence of the last event of the log',
    registers: [this.#registry],
  });

  readonly #notifications = new Gauge({
    name: 'countersign_notifications',
    help: 'notifications that are kept, by channel and state; dead ones were given up',
    labelNames: ['channel', 'state'],
    registers: [this.#registry],
  });

  begun(): void {
    this.#running.inc();
  }

  /** `route` is a name of the contract, or `none`. */
  ended(route: string, status: number, seconds: number): void {
    this.#running.dec();
    this.#requests.inc({ route, status: String(status) });
    this.#seconds.observe({ route }, seconds);
  }

  async text(owner: CountersignGate): Promise<string> {
    this.#sequence.set((await owner.ledger.head()).sequence);
    this.#notifications.reset();
    for (const { channel, state, count } of await owner.ledger.outbox.counts()) {
      this.#notifications.set({ channel, state }, count);
    }
    return this.#registry.metrics();
  }
}
