/**
 * A channel: one way on which a message reaches people or a program. A channel delivers once and says how that ended;
 * when it is tried again is decided elsewhere.
 *
 * Every channel promises: it ends within its time; nothing that it answers holds a secret, an address or a text of the
 * other side; it follows no redirect.
 */
import type { Resolve } from '../connectors/internal.js';
import type { Clock } from '../core/index.js';
import { desktopChannel } from './desktop.js';
import type { Delivered, Message } from './notice.js';
import { ntfyChannel } from './ntfy.js';
import type { ChannelConfig } from './schema.js';
import { slackChannel } from './slack.js';
import { smtpChannel } from './smtp.js';
import { webhookChannel } from './webhook.js';

export interface Channel {
  /** `address` as the configuration has it; empty for a channel that is one place. */
  deliver(message: Message, address: string, signal: AbortSignal): Promise<Delivered>;
}

/** What channels are given. */
export interface ChannelHost {
  readonly clock: Clock;
  /** The value behind `env:`, `file:` or `exec:`; undefined where there is none. It never throws. */
  secret(source: string): Promise<string | undefined>;
  /** How names are resolved; by the system unless given. Whatever it answers is looked at. */
  readonly resolve?: Resolve;
  /** Certificates of authorities in PEM, instead of those that Node trusts. */
  readonly authorities?: string;
  /** What a program of the desktop finds its session by. */
  readonly session?: Readonly<Record<string, string>>;
  /** Of this machine, as Node names it. */
  readonly platform: string;
  /** For tests: programs in the place of the system's, by their names. */
  readonly programs?: Readonly<Record<string, string>>;
}

export function openChannel(config: ChannelConfig, host: ChannelHost): Channel {
  switch (config.type) {
    case 'webhook':
      return webhookChannel(config, host);
    case 'slack':
      return slackChannel(config, host);
    case 'ntfy':
      return ntfyChannel(config, host);
    case 'smtp':
      return smtpChannel(config, host);
    case 'desktop':
      return desktopChannel(host);
  }
}
