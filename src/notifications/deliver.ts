/**
 * Takes what is due out of the outbox and over its channel: each channel by itself, so that one that hangs holds
 * nothing up; a few at once; again and again with growing waits, until it arrived or is given up.
 *
 * INVARIANT: a try is written before it is made, so that a process that dies over one has used it up
 * (notifications.at-least-once, notifications.bounded).
 * Source: spec doors (notifications), ledger (outbox).
 */
import type { Clock, Random } from '../core/index.js';
import type { Outbox, OutboxEntry, OutboxResult } from '../ledger/index.js';
import { NOTIFY_LIMITS } from './limits.js';
import type { Delivered } from './notice.js';

/** What the delivery of a channel is given. */
export interface DeliveryHost {
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether it is still news: what was decided meanwhile reaches nobody. */
  isNews(entry: OutboxEntry): Promise<boolean>;
  send(entry: OutboxEntry, signal: AbortSignal): Promise<Delivered>;
  /** An entry was given up. */
  dead(entry: OutboxEntry, code: string): Promise<void>;
}

/** How long until an entry is tried again after its `tries`-th try, with up to a fifth more or less. */
export function againMs(tries: number, random: Random): number {
  const ms = Math.min(NOTIFY_LIMITS.againMsMax, NOTIFY_LIMITS.againMsMin * 3 ** (tries - 1));
  const chance = (random.bytes(1)[0] ?? 128) / 255;
  return Math.floor(ms * (0.8 + 0.4 * chance));
}

/** The deliveries of one channel in this process. */
export class ChannelDelivery {
  readonly #name: string;
  readonly #host: DeliveryHost;
  #failures = 0;
  #restsUntil = 0;

  constructor(name: string, host: DeliveryHost) {
    this.#name = name;
    this.#host = host;
  }

  /** One look: what is due, until the channel fails. Answers how many arrived. Rejects where the store fails. */
  async look(signal: AbortSignal): Promise<number> {
    const { clock, outbox } = this.#host;
    if (clock.monotonic() < this.#restsUntil) return 0;
    const entries = await outbox.due(this.#name, clock.now(), NOTIFY_LIMITS.lookMax);
    let arrived = 0;
    for (let at = 0; at < entries.length && !signal.aborted; at += NOTIFY_LIMITS.atOnce) {
      const group = entries.slice(at, at + NOTIFY_LIMITS.atOnce);
      const ends = await Promise.all(group.map((entry) => this.#one(entry, signal)));
      arrived += ends.filter((end) => end === 'arrived').length;
      if (ends.includes('failed')) {
        this.#rest();
        return arrived;
      }
      if (ends.includes('arrived')) this.#failures = 0;
    }
    return arrived;
  }

  /** A channel that failed is left alone for a while, so that what waits does not use up its tries on it. */
  #rest(): void {
    const ms = Math.min(NOTIFY_LIMITS.restMsMax, NOTIFY_LIMITS.restMsMin * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 16);
    this.#restsUntil = this.#host.clock.monotonic() + ms;
  }

  async #one(entry: OutboxEntry, signal: AbortSignal): Promise<'arrived' | 'failed' | 'ended'> {
    const { outbox, clock, random } = this.#host;
    const tries = entry.tries + 1;
    const again = clock.now() + againMs(tries, random);
    if (!(await outbox.begin(entry.key, entry.tries, again))) return 'ended';
    const end = (state: OutboxResult['state'], code: string | null) =>
      outbox.end(entry.key, tries, { state, code, at: clock.now() });
    if (clock.now() >= entry.until || !(await this.#host.isNews(entry))) {
      await end('lapsed', entry.code);
      return 'ended';
    }
    if (entry.tries >= NOTIFY_LIMITS.triesMax) return this.#giveUp(entry, entry.code ?? 'no_answer', end);
    const sent = await within(signal, (own) => this.#host.send(entry, own));
    if (sent.ok) {
      await end('delivered', null);
      return 'arrived';
    }
    // What was called off by the end of this process is no failure: the next one tries again.
    if (signal.aborted) return 'ended';
    const isOver = tries >= NOTIFY_LIMITS.triesMax || clock.now() - entry.at >= NOTIFY_LIMITS.ageMsMax;
    if (sent.isFinal === true || isOver) await this.#giveUp(entry, sent.code, end);
    else await end('waiting', sent.code);
    return sent.isTheirs === true ? 'ended' : 'failed';
  }

  async #giveUp(
    entry: OutboxEntry,
    code: string,
    end: (state: OutboxResult['state'], code: string | null) => Promise<boolean>,
  ): Promise<'ended'> {
    if (await end('dead', code)) await this.#host.dead(entry, code);
    return 'ended';
  }
}

/**
 * Lends a delivery a signal of its own, which ends with its time, or with the one that lives as long as the process:
 * whatever listens to it is gone with it.
 */
async function within<T>(signal: AbortSignal, act: (own: AbortSignal) => Promise<T>): Promise<T> {
  const own = new AbortController();
  const end = () => own.abort();
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  const timer = setTimeout(end, NOTIFY_LIMITS.deliveryMsMax);
  try {
    return await act(own.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}
