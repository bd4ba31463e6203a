/**
 * Tells people and programs what waits and what happened, as long as it runs: it plans from the inbox and from the log,
 * puts what it planned into the outbox, and delivers.
 *
 * It promises: the work of the gate never waits for it, nor fails by it; of several gates one plans and delivers, by a
 * lease; what another one left is taken up. An action's end is planned from the log, from where the last one stopped;
 * what waits is planned from the inbox as it stands, so that nothing depends on who saw an event.
 * Source: spec doors (notifications), ledger (outbox, leases); docs/decisions/0016.
 */
import type { Services } from '../actions/index.js';
import { bytesToHex } from '../core/index.js';
import type { LogEntry, NewOutboxEntry, OutboxEntry } from '../ledger/index.js';
import {
  type Channel,
  ChannelDelivery,
  type ChannelHost,
  type Delivered,
  entriesOf,
  messageOf,
  NOTIFY_LIMITS,
  type Notice,
  type Notifications,
  noticeOfUndelivered,
  noticesOf,
  noticesOfWaiting,
  notificationsConfig,
  openChannel,
  readEntry,
} from '../notifications/index.js';
import { noticesOfLog } from './ended.js';
import { isStillNews } from './news.js';
import { knownPeople, waitingNow } from './waiting.js';

export interface NotifierOptions {
  /** Where the pages of the gate stand, unless the configuration says so. */
  readonly publicUrl?: string;
  readonly host: ChannelHost;
  /** For tests: the time of the lease. */
  readonly leaseMs?: number;
}

/** Who holds it plans and delivers. */
const LEASE = 'outbox';

/** Kinds of records that the inbox is made of. */
const INBOX = new Set(['action', 'request', 'package', 'invitation', 'config', 'person']);

export class Notifier {
  readonly #services: Services;
  readonly #options: NotifierOptions;
  readonly #holder: string;
  readonly #ending = new AbortController();
  readonly #deliveries = new Map<string, ChannelDelivery>();
  readonly #running = new Map<string, Promise<unknown>>();
  /** Keys that were put: the inbox is planned anew at each look, and most of it stands in the outbox. */
  readonly #put = new Set<string>();
  #configHead: string | undefined;
  #config: Notifications | undefined;
  #channels: ReadonlyMap<string, Channel> = new Map();
  #heldUntil = Number.NEGATIVE_INFINITY;
  #askAt = Number.NEGATIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  #sweepAt = Number.NEGATIVE_INFINITY;
  #loop: Promise<void> | undefined;
  #wake: () => void = () => undefined;

  constructor(services: Services, options: NotifierOptions) {
    this.#services = services;
    this.#options = options;
    this.#holder = bytesToHex(services.random.bytes(16));
  }

  /** Looks again and again until it is closed. */
  start(): void {
    this.#loop ??= this.#run();
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#ending.signal.aborted; ) {
      try {
        await this.look();
        failures = 0;
      } catch (error) {
        this.#tell('notifications could not be looked after', error);
        failures = Math.min(failures + 1, 8);
      }
      await this.#pause(Math.min(NOTIFY_LIMITS.restMsMax, NOTIFY_LIMITS.tickMs * 2 ** failures));
    }
  }

  /** Until the time is over, or until the end. */
  async #pause(ms: number): Promise<void> {
    if (this.#ending.signal.aborted) return;
    const timer = this.#services.timer(ms);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      void timer.rings.then(resolve);
    });
    timer.stop();
  }

  /** One look: plans what is new, and begins to deliver what is due. False where another gate does. */
  async look(): Promise<boolean> {
    await this.#configure();
    const config = this.#config;
    if (config === undefined || !(await this.#holds())) return false;
    const isMoved = await this.#follow(config);
    const { clock } = this.#services;
    if (isMoved || clock.monotonic() >= this.#sweepAt) await this.#sweep(config);
    for (const name of this.#channels.keys()) this.#deliver(name);
    return true;
  }

  /** Waits for the deliveries that were begun. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#wake();
    await this.#loop;
    await this.idle();
    if (this.#heldUntil === Number.NEGATIVE_INFINITY) return;
    try {
      await this.#services.ledger.leases.release(LEASE, this.#holder);
    } catch (error) {
      // A lease that is not given back ends by itself.
      this.#tell('the lease to deliver could not be given back', error);
    }
  }

  #tell(what: string, error: unknown): void {
    this.#services.log?.write('error', what, error);
  }

  /** Takes the configuration over where it is another one. One that is not understood tells nobody anything. */
  async #configure(): Promise<void> {
    const { clock, reloadTrust, trust } = this.#services;
    if (clock.monotonic() >= this.#readAt) {
      this.#readAt = clock.monotonic() + NOTIFY_LIMITS.sweepMs;
      await reloadTrust();
    }
    const { config, head } = trust();
    if (head === this.#configHead) return;
    this.#configHead = head;
    const parsed = notificationsConfig.safeParse(config.notifications);
    this.#config = config.notifications === undefined ? undefined : parsed.data;
    const { host } = this.#options;
    const named = Object.entries(this.#config?.channels ?? {});
    this.#channels = new Map(named.map(([name, settings]) => [name, openChannel(settings, host)]));
    this.#deliveries.clear();
    this.#put.clear();
    this.#sweepAt = Number.NEGATIVE_INFINITY;
  }

  /** Whether this process has the lease, by its own clock from before it asked. */
  async #holds(): Promise<boolean> {
    const { clock, ledger } = this.#services;
    const { leaseMs = NOTIFY_LIMITS.leaseMs } = this.#options;
    const before = clock.monotonic();
    if (before < this.#askAt) return before < this.#heldUntil;
    const isHeld = await ledger.leases.hold(LEASE, this.#holder, leaseMs);
    // Whoever takes it over plans anew: what the one before put is put once all the same.
    if (isHeld && before >= this.#heldUntil) this.#sweepAt = Number.NEGATIVE_INFINITY;
    this.#heldUntil = isHeld ? before + leaseMs : Number.NEGATIVE_INFINITY;
    this.#askAt = before + leaseMs / 3;
    return isHeld;
  }

  /** Plans what the log says since the last look. True where something of the inbox may have changed. */
  async #follow(config: Notifications): Promise<boolean> {
    const { outbox } = this.#services.ledger;
    let isMoved = false;
    for (let pages = 0; pages < NOTIFY_LIMITS.pagesMax; pages += 1) {
      const from = await outbox.cursor();
      const entries = await this.#behind(from);
      if (entries === undefined) return true;
      const last = entries.at(-1);
      if (last === undefined) return isMoved;
      isMoved ||= entries.some(({ event }) => INBOX.has(event.record.kind));
      if (entries.some(({ event }) => event.record.kind === 'config')) this.#readAt = Number.NEGATIVE_INFINITY;
      const news = await this.#endsIn(entries, config);
      await outbox.put(await this.#bounded(news), { from, to: last.sequence });
    }
    return isMoved;
  }

  /** The next entries of the log; undefined where a place had to be made: the first is the present end. */
  async #behind(from: number | undefined): Promise<readonly LogEntry[] | undefined> {
    const { ledger } = this.#services;
    const entries = from === undefined ? [] : await ledger.log(from);
    if (entries.length > 0) return entries;
    const { sequence } = await ledger.head();
    if (from !== undefined && from <= sequence) return entries;
    await ledger.outbox.put([], { from, to: sequence });
    return undefined;
  }

  async #endsIn(entries: readonly LogEntry[], config: Notifications): Promise<readonly NewOutboxEntry[]> {
    const isSettledWanted = Object.values(config.channels).some((one) => noticesOf(one).includes('settled'));
    const { ledger, clock, trust } = this.#services;
    const world = { ledger, config: trust().config, now: clock.now(), isSettledWanted };
    const events = entries.map(({ event }) => event);
    return (await noticesOfLog(world, events)).flatMap((notice) => entriesOf(notice, config, this.#groups()));
  }

  /** Plans what waits. It takes a tenth of the time at most, however much waits. */
  async #sweep(config: Notifications): Promise<void> {
    const { clock, ledger, trust } = this.#services;
    const began = clock.monotonic();
    const now = clock.now();
    const people = await knownPeople(ledger, now);
    const waiting = await waitingNow({ ledger, now, people, config: trust().config });
    const notices = waiting.flatMap((one) => noticesOfWaiting(one, people.presence, now));
    await this.#putNew(notices, config);
    await this.#giveUpStray();
    const { keptMax, keptMsMax, clearMax } = NOTIFY_LIMITS;
    await ledger.outbox.clear(now - keptMsMax, keptMax, clearMax);
    this.#sweepAt = clock.monotonic() + Math.max(NOTIFY_LIMITS.sweepMs, 10 * (clock.monotonic() - began));
  }

  async #putNew(notices: readonly Notice[], config: Notifications): Promise<void> {
    const planned = notices.flatMap((notice) => entriesOf(notice, config, this.#groups()));
    const fresh = planned.filter(({ key }) => !this.#put.has(key));
    if (fresh.length === 0) return;
    const fit = await this.#bounded(fresh);
    await this.#services.ledger.outbox.put(fit);
    if (this.#put.size > NOTIFY_LIMITS.waitingMax) this.#put.clear();
    for (const { key } of fit) this.#put.add(key);
  }

  #groups() {
    return this.#services.trust().config.groups;
  }

  /** Leaves out what a channel with too much waiting can't take. */
  async #bounded(entries: readonly NewOutboxEntry[]): Promise<readonly NewOutboxEntry[]> {
    if (entries.length === 0) return entries;
    const counts = await this.#services.ledger.outbox.counts();
    const isFull = (channel: string) =>
      counts.some((one) => one.channel === channel && one.state === 'waiting' && one.count >= NOTIFY_LIMITS.waitingMax);
    const fit = entries.filter(({ channel }) => !isFull(channel));
    if (fit.length < entries.length)
      this.#tell('too many notifications wait for a channel: more are left out', undefined);
    return fit;
  }

  /** What waits for a channel that the configuration no longer has. */
  async #giveUpStray(): Promise<void> {
    const { ledger, clock } = this.#services;
    for (const { channel, state } of await ledger.outbox.counts()) {
      if (state !== 'waiting' || this.#channels.has(channel)) continue;
      for (const entry of await ledger.outbox.due(channel, Number.MAX_SAFE_INTEGER, NOTIFY_LIMITS.clearMax)) {
        const result = { state: 'dead', at: clock.now(), code: 'no_channel' } as const;
        await ledger.outbox.end(entry.key, entry.tries, result);
      }
    }
  }

  #deliver(name: string): void {
    if (this.#running.has(name)) return;
    const delivery = this.#deliveryOf(name);
    const running = delivery
      .look(this.#ending.signal)
      .catch((error: unknown) => this.#tell('what was delivered could not be noted', error))
      .finally(() => this.#running.delete(name));
    this.#running.set(name, running);
  }

  #deliveryOf(name: string): ChannelDelivery {
    const { ledger, clock, random } = this.#services;
    let delivery = this.#deliveries.get(name);
    if (delivery === undefined) {
      delivery = new ChannelDelivery(name, {
        ...{ outbox: ledger.outbox, clock, random },
        isNews: async (entry) => {
          const config = this.#config;
          if (config === undefined) return true;
          return isStillNews({ ledger, now: clock.now(), config, groups: this.#groups() }, entry);
        },
        send: (entry, signal) => this.#send(name, entry, signal),
        dead: (entry) => this.#tellDead(entry),
      });
      this.#deliveries.set(name, delivery);
    }
    return delivery;
  }

  async #send(name: string, entry: OutboxEntry, signal: AbortSignal): Promise<Delivered> {
    const stored = readEntry(entry);
    const channel = this.#channels.get(name);
    if (stored === undefined || channel === undefined) return { ok: false, code: 'not_understood', isFinal: true };
    const publicUrl = this.#config?.public_url ?? this.#options.publicUrl;
    const facts = { id: entry.key, name: this.#services.trust().config.name, publicUrl };
    return channel.deliver(messageOf(stored.notice, facts), stored.address, signal);
  }

  /** Operators hear it over the other channels, once a day for each; that this does not arrive is told to nobody. */
  async #tellDead({ channel, notice }: OutboxEntry): Promise<void> {
    this.#tell(`a notification over ${channel} was given up`, undefined);
    const config = this.#config;
    if (config === undefined || notice === 'undelivered') return;
    const { ledger, clock } = this.#services;
    const { presence } = await knownPeople(ledger, clock.now());
    const told = noticeOfUndelivered(channel, presence.operators, clock.now());
    await ledger.outbox.put(await this.#bounded(entriesOf(told, config, this.#groups(), channel)));
  }
}
