/**
 * Notifications in the trust configuration: channels, who is reached over which of them, and where the pages of the
 * gate stand. Pure.
 *
 * It is a closed schema. A secret is named (`env:NAME`, `file:PATH`, `exec:COMMAND`) and stands in no file of ours; an
 * address that leads to a private network has to be allowed; an address that a person can read stands there in its one
 * spelling.
 * Source: spec doors (notifications, configuration), reliability T25.
 */
import * as z from 'zod';
import { isBase, isOpenBase, isReachableBase } from '../connectors/internal.js';
import { PATTERNS } from '../core/index.js';
import { NOTIFY_LIMITS } from './limits.js';

/** What people and programs are told of. */
export const NOTICE_KINDS = [
  'asked',
  'reminder',
  'escalation',
  'expiring',
  'expired',
  'settled',
  'undelivered',
] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

const SOURCE = /^(?:env:[A-Za-z_][A-Za-z0-9_]{0,127}|(?:file|exec):\/[^\0\n/][^\0\n]{0,999})$/;
const SOURCE_HELP = 'a secret is named: `env:NAME`, `file:/PATH` or `exec:/PROGRAM WORDS`';

/** Where a secret stands. */
const Source = z.string().regex(SOURCE, SOURCE_HELP);

export function isSource(text: string): boolean {
  return SOURCE.test(text);
}

/** Why an address may not be called; undefined where it may. `text` stands in no message. */
export function urlDefect(text: string, privateNetwork: boolean): string | undefined {
  if (text.length > NOTIFY_LIMITS.urlCharsMax || !/^[!-~]+$/.test(text) || !URL.canParse(text)) return 'is no address';
  const url = new URL(text);
  const isSpelledOut = url.href === text || url.href === `${text}/`;
  if (!isBase(url.origin) || !isSpelledOut || url.hash !== '' || url.username !== '' || url.password !== '') {
    return 'is not spelled out, such as https://hooks.example.com/path';
  }
  if (privateNetwork ? isReachableBase(url.origin) : isOpenBase(url.origin)) return undefined;
  return 'leads to no open network by https on its own port; a private network is allowed with `private_network: true`';
}

/** An address in plain, or where it stands: the whole address of an incoming webhook is a secret. */
const Address = z.string().max(NOTIFY_LIMITS.urlCharsMax);

const common = {
  /** Which notices go there; each channel has a default of its own. */
  notices: z.array(z.enum(NOTICE_KINDS)).min(1).optional(),
};
const called = { ...common, private_network: z.boolean().default(false) };

const Host = z.string().regex(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/, 'a host is written in small letters');
const Mail = z
  .string()
  .max(NOTIFY_LIMITS.addressCharsMax)
  .regex(/^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$/, 'no mail address');
const TOPIC = /^[A-Za-z0-9_-]{1,64}$/;

const Channel = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('webhook'), ...called, url: Address, secret: Source }),
  z.strictObject({ type: z.literal('slack'), ...called, url: Address }),
  z.strictObject({ type: z.literal('ntfy'), ...called, server: Address, token: Source.optional() }),
  z.strictObject({
    type: z.literal('smtp'),
    ...called,
    host: Host,
    port: z.int().min(1).max(65_535).optional(),
    /** `none` only into a private network. */
    security: z.enum(['tls', 'starttls', 'none']).default('tls'),
    from: Mail,
    user: z
      .string()
      .regex(/^[!-~]{1,254}$/)
      .optional(),
    password: Source.optional(),
  }),
  z.strictObject({ type: z.literal('desktop'), ...common }),
]);
export type ChannelConfig = z.infer<typeof Channel>;

/** What is said where no list is given: a program hears how actions ended, people hear what waits for them. */
export function noticesOf({ type, notices }: ChannelConfig): readonly NoticeKind[] {
  if (notices !== undefined) return notices;
  return type === 'webhook' ? ['settled'] : NOTICE_KINDS.filter((kind) => kind !== 'settled');
}

/** Whether each recipient has an address of their own there; the others reach one place. */
export function hasAddresses({ type }: ChannelConfig): boolean {
  return type === 'smtp' || type === 'ntfy';
}

const GROUP = /^group:[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

function isRecipient(name: string): boolean {
  return name === 'everybody' || PATTERNS.human.test(name) || GROUP.test(name);
}

const Notifications = z.strictObject({
  /** Where people find the pages of the gate; else what `serve` is told. */
  public_url: z
    .string()
    .refine((text) => isBase(text) && /^(?:https:|http:\/\/localhost(?::|$))/.test(text), {
      message: 'the public address is https, or http on localhost, without a path',
    })
    .optional(),
  channels: z.record(z.string().regex(PATTERNS.name), Channel).default({}),
  /** Whoever is reached, by channel: an address, or `true` where the channel is one place. */
  recipients: z
    .record(z.string(), z.record(z.string(), z.union([z.literal(true), z.string().min(1).max(1_010)])))
    .default({}),
});
export type Notifications = z.infer<typeof Notifications>;

/** The part `notifications` of a trust configuration. Absent: nobody is told anything. */
export const notificationsConfig = Notifications.superRefine((config, context) => {
  for (const [path, message] of mistakesIn(config)) context.addIssue({ code: 'custom', path: [...path], message });
});

type Mistake = readonly [readonly string[], string];

function* mistakesIn({ channels, recipients }: Notifications): Generator<Mistake> {
  if (Object.keys(channels).length > NOTIFY_LIMITS.channelsMax) yield [['channels'], 'too many channels'];
  if (Object.keys(recipients).length > NOTIFY_LIMITS.recipientsMax) yield [['recipients'], 'too many recipients'];
  for (const [name, channel] of Object.entries(channels)) {
    for (const [field, message] of channelMistakes(channel)) yield [['channels', name, field], message];
  }
  for (const [who, reached] of Object.entries(recipients)) {
    if (!isRecipient(who)) yield [['recipients', who], 'a recipient is `human:NAME`, `group:NAME` or `everybody`'];
    for (const [name, address] of Object.entries(reached)) {
      const channel = Object.hasOwn(channels, name) ? channels[name] : undefined;
      const mistake = channel === undefined ? 'there is no such channel' : addressMistake(channel, address);
      if (mistake !== undefined) yield [['recipients', who, name], mistake];
    }
  }
}

function* channelMistakes(channel: ChannelConfig): Generator<readonly [string, string]> {
  const field = channel.type === 'ntfy' ? 'server' : 'url';
  const address = channel.type === 'ntfy' ? channel.server : 'url' in channel ? channel.url : undefined;
  if (address !== undefined && !isSource(address)) {
    const defect = urlDefect(address, 'private_network' in channel && channel.private_network);
    if (defect !== undefined) yield [field, `the address ${defect}`];
  }
  if (channel.type === 'smtp') {
    if (channel.security === 'none' && !channel.private_network) {
      yield ['security', 'without security mail goes into a private network only: `private_network: true`'];
    }
    if ((channel.user === undefined) !== (channel.password === undefined)) {
      yield ['user', 'a user and a password come together'];
    }
    if (channel.security === 'none' && channel.user !== undefined) yield ['user', 'a password is sent by TLS alone'];
  }
  if (hasAddresses(channel) && channel.notices?.includes('settled') === true) {
    yield ['notices', '`settled` tells a program, over a webhook or a place of its own'];
  }
}

function addressMistake(channel: ChannelConfig, address: true | string): string | undefined {
  if (!hasAddresses(channel)) return address === true ? undefined : 'this channel is one place: write `true`';
  if (address === true) return 'this channel needs an address';
  if (channel.type === 'smtp') return Mail.safeParse(address).success ? undefined : 'no mail address';
  return TOPIC.test(address) || isSource(address) ? undefined : 'a topic is letters, digits, `_` and `-`';
}

/** Whether an address of a channel is one, once it was read from where it stands. */
export function isTopic(text: string): boolean {
  return TOPIC.test(text);
}
