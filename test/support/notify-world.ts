/**
 * A gate whose configuration tells somebody, with a notifier that a test moves by hand: a look, then what it began to
 * deliver. Time is that of the world.
 */
import { startTimer } from '../../src/app/clock.js';
import type { Gate } from '../../src/app/gate.js';
import { Notifier } from '../../src/app/notifier.js';
import type { Log } from '../../src/connectors/index.js';
import type { OutboxEntry, OutboxState } from '../../src/ledger/index.js';
import type { ChannelHost } from '../../src/notifications/index.js';
import { TRUST, type World } from './gate-world.js';
import { HOOK_SECRET } from './receivers.js';

export const PUBLIC_URL = 'https://gate.example.com';

/** Values that the configuration of a test names. */
export const SECRETS: Readonly<Record<string, string>> = { 'env:HOOK': HOOK_SECRET };

/** The trust configuration of the tests with a part `notifications` in YAML behind it. */
export function notifying(part: string, trust = TRUST): string {
  const lines = part.trim().split('\n');
  return `${trust}notifications:\n${lines.map((line) => `  ${line}`).join('\n')}\n`;
}

export function testHost(world: Pick<World, 'clock'>, more: Partial<ChannelHost> = {}): ChannelHost {
  return { clock: world.clock, secret: async (source) => SECRETS[source], platform: 'linux', ...more };
}

export interface Told {
  readonly notifier: Notifier;
  readonly logged: readonly string[];
  /** One look, and all that it began to deliver. False where another notifier has the lease. */
  look(): Promise<boolean>;
  entries(...states: OutboxState[]): Promise<readonly OutboxEntry[]>;
}

export function notifierOf(world: Pick<World, 'clock'>, gate: Gate, more: Partial<ChannelHost> = {}): Told {
  const logged: string[] = [];
  const log: Log = { write: (_level, what, cause) => void logged.push(`${what} ${String(cause ?? '')}`) };
  const host = testHost(world, more);
  const services = { ...gate.services, log, timer: startTimer };
  const notifier = new Notifier(services, { publicUrl: PUBLIC_URL, host });
  return {
    notifier,
    logged,
    look: async () => {
      const held = await notifier.look();
      await notifier.idle();
      return held;
    },
    entries: (...states) => gate.ledger.outbox.list(states, 200),
  };
}
