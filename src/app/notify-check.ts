/**
 * Whether somebody is told what waits: secrets that are not there, people whom no channel reaches, links that lead
 * nowhere, and what did not arrive. Nothing is sent.
 */
import {
  type ChannelConfig,
  isSource,
  NOTIFY_LIMITS,
  type Notifications,
  webhookKeyOf,
} from '../notifications/index.js';
import type { Environment } from './config.js';
import type { Finding } from './doctor.js';
import { notificationsOf, unreached } from './notify.js';
import type { CountersignGate } from './open.js';
import { listPeople } from './people.js';
import { readSource } from './sources.js';

const NAME = 'notifications';

export async function notifications(gate: CountersignGate, environment: Environment): Promise<Finding[]> {
  const { config } = gate.services.trust();
  const apply = `correct \`notifications\` in ${gate.home.trustFile}, then config apply`;
  if (config.notifications === undefined) {
    return [
      { name: NAME, level: 'ok', found: 'none are configured: people look at the inbox by themselves', next: '' },
    ];
  }
  const found = notificationsOf(config);
  if (found === undefined) {
    return [
      { name: NAME, level: 'problem', found: 'this version does not understand their configuration', next: apply },
    ];
  }
  const secrets = await missingSecrets(found, environment);
  const people = (await listPeople(gate.ledger)).people.filter(({ state }) => state === 'active');
  const alone = unreached(
    config,
    people.map(({ person }) => person),
  );
  const ok = `channels: ${Object.keys(found.channels).join(', ') || 'none'}`;
  return [
    { name: NAME, level: 'ok', found: ok, next: '' },
    ...secrets.map((words): Finding => ({ name: NAME, level: 'problem', found: words, next: apply })),
    ...alone.map((person): Finding => warning(`no channel reaches ${person}`, apply)),
    ...linksOf(found, config.webauthn?.origins ?? [], apply),
    ...(await undelivered(gate)),
  ];
}

function warning(found: string, next: string): Finding {
  return { name: NAME, level: 'warning', found, next };
}

/** What a channel names and this process does not find; a program is not run for a look. */
async function missingSecrets({ channels, recipients }: Notifications, environment: Environment) {
  const found: string[] = [];
  for (const [name, settings] of Object.entries(channels)) {
    const addresses = Object.values(recipients).flatMap((reached) => reached[name] ?? []);
    for (const source of [...sourcesOf(settings), ...addresses.filter((one) => one !== true && isSource(one))]) {
      if (source === true || source.startsWith('exec:')) continue;
      const value = await readSource(source, environment);
      if (value === undefined) found.push(`${name}: there is nothing at ${source}`);
      else if (settings.type === 'webhook' && source === settings.secret && webhookKeyOf(value) === undefined) {
        found.push(`${name}: ${source} is no \`whsec_\` and 24 to 64 bytes in Base64`);
      }
    }
  }
  return found;
}

function sourcesOf(settings: ChannelConfig): readonly string[] {
  const values = Object.values(settings).filter((value): value is string => typeof value === 'string');
  return values.filter(isSource);
}

function linksOf({ public_url }: Notifications, origins: readonly string[], next: string): Finding[] {
  if (public_url === undefined || origins.length === 0 || origins.includes(public_url)) return [];
  return [warning(`\`public_url\` is ${public_url}, where no passkey is used`, next)];
}

async function undelivered(gate: CountersignGate): Promise<Finding[]> {
  const counts = await gate.ledger.outbox.counts();
  const list = 'countersign notify list --all';
  return counts.flatMap(({ channel, state, count }) => {
    if (state === 'dead') return [warning(`${count} did not arrive over ${channel}`, 'countersign notify list')];
    const isFull = state === 'waiting' && count >= NOTIFY_LIMITS.waitingMax;
    return isFull ? [warning(`${count} wait for ${channel}: more are left out until some of them ended`, list)] : [];
  });
}
