/**
 * What the command line and the doctor do with notifications: try every channel once, list what did not arrive, and
 * look at the configuration.
 */
import { bytesToHex, type Clock, Refusal } from '../core/index.js';
import type { OutboxEntry } from '../ledger/index.js';
import {
  type ChannelHost,
  type Delivered,
  isMeant,
  messageOf,
  NOTIFY_LIMITS,
  type Notice,
  type Notifications,
  notificationsConfig,
  openChannel,
  readEntry,
} from '../notifications/index.js';
import type { TrustConfig } from '../policy/index.js';
import type { Environment } from './config.js';
import type { Gate } from './gate.js';
import { programEnvironment, readSource } from './sources.js';

/** What channels are given on this machine. */
export function channelHost(environment: Environment, clock: Clock): ChannelHost {
  return {
    clock,
    secret: (source) => readSource(source, environment),
    session: programEnvironment(environment),
    platform: process.platform,
  };
}

/** The part of a configuration; undefined for none, and for one that this version does not understand. */
export function notificationsOf({ notifications }: TrustConfig): Notifications | undefined {
  return notifications === undefined ? undefined : notificationsConfig.safeParse(notifications).data;
}

export interface Tried {
  readonly channel: string;
  /** As the configuration has it: an address, or where it stands. Absent for a channel that is one place. */
  readonly address?: string;
  readonly delivered: boolean;
  /** Why not, in one word. */
  readonly code?: string;
}

/**
 * Sends a test to every address of a channel, or of all, by itself: not through the outbox, so that the answer is that
 * of the channel. Refuses `invalid` where there is no such channel.
 */
export async function tryChannels(
  gate: Gate,
  host: ChannelHost,
  given: { readonly channel?: string; readonly publicUrl?: string },
): Promise<readonly Tried[]> {
  const { services } = gate;
  const { config } = services.trust();
  const found = notificationsOf(config);
  const names = Object.keys(found?.channels ?? {});
  const { channel, publicUrl } = given;
  if (found === undefined || names.length === 0) {
    const next = 'add `notifications` to trust.yaml, then config apply: see docs/how-to/notify-people.md';
    throw new Refusal('invalid', 'the configuration has no channel', { path: 'notifications', next });
  }
  if (channel !== undefined && !names.includes(channel)) {
    const next = `name one that it has: ${names.join(', ')}`;
    throw new Refusal('invalid', 'the configuration has no such channel', { path: 'channel', next });
  }
  const wanted = channel === undefined ? names : [channel];
  const id = bytesToHex(services.random.bytes(16));
  const facts = { id, name: config.name, publicUrl: found.public_url ?? publicUrl };
  const message = messageOf(testNotice(services.clock.now()), facts);
  const tried: Tried[] = [];
  for (const name of wanted) {
    const settings = found.channels[name];
    if (settings === undefined) continue;
    const opened = openChannel(settings, host);
    for (const address of addressesOn(found, name)) {
      const limit = AbortSignal.timeout(2 * NOTIFY_LIMITS.sendMsMax);
      tried.push(triedOf(name, address, await opened.deliver(message, address, limit)));
    }
  }
  return tried;
}

/** Each address of a channel; that of a channel that is one place is empty. */
function addressesOn({ recipients }: Notifications, channel: string): readonly string[] {
  const found = Object.values(recipients).flatMap((reached) => {
    const address = Object.hasOwn(reached, channel) ? reached[channel] : undefined;
    return address === undefined ? [] : [address === true ? '' : address];
  });
  return found.length === 0 ? [''] : [...new Set(found)];
}

function triedOf(channel: string, address: string, delivered: Delivered): Tried {
  const place = address === '' ? {} : { address };
  return delivered.ok
    ? { channel, ...place, delivered: true }
    : { channel, ...place, delivered: false, code: delivered.code };
}

function testNotice(now: number): Notice {
  return {
    ...{ kind: 'asked', what: 'test', id: 'test', occasion: '', class: null, operation: '', project: null },
    ...{ approvals: 0, quorum: 0, people: [], at: now, until: now, by: null, settled: null },
  };
}

/** A delivery as lists show it. */
export interface DeliveryRow {
  readonly id: string;
  readonly channel: string;
  readonly address: string;
  readonly notice: string;
  /** What it is about: an action, a request. */
  readonly subject: string;
  readonly state: OutboxEntry['state'];
  readonly tries: number;
  readonly at: number;
  /** When it is tried again; null for one that ended. */
  readonly due: number | null;
  readonly code: string | null;
}

/** What did not arrive: given up, or failed and tried again. With `all`, everything that is kept; the newest first. */
export async function listDeliveries(gate: Gate, all: boolean): Promise<readonly DeliveryRow[]> {
  const { outbox } = gate.services.ledger;
  const states = all ? (['waiting', 'dead', 'delivered', 'lapsed'] as const) : (['dead', 'waiting'] as const);
  const entries = await outbox.list(states, 200);
  return entries.filter(({ state, code }) => all || state === 'dead' || code !== null).map(rowOf);
}

function rowOf(entry: OutboxEntry): DeliveryRow {
  const { key, channel, notice, state, tries, at, due, code } = entry;
  const stored = readEntry(entry);
  return {
    ...{ id: key, channel, address: stored?.address ?? '', notice, subject: stored?.notice.id ?? '' },
    ...{ state, tries, at, due: state === 'waiting' ? due : null, code },
  };
}

/** Who of these people no channel reaches. */
export function unreached(config: TrustConfig, people: readonly string[]): readonly string[] {
  const recipients = Object.entries(notificationsOf(config)?.recipients ?? {});
  const reaching = recipients.filter(([, reached]) => Object.keys(reached).length > 0).map(([who]) => who);
  return people.filter((person) => !reaching.some((who) => isMeant(who, person, config.groups)));
}
