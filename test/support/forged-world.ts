/** A log of every kind of thing, for tests that change it as somebody would who can compute every hash. */
import assert from 'node:assert/strict';
import { keyId } from '../../src/identity/index.js';
import { personWithKey } from './gate-people.js';
import {
  addKeyAct,
  approved,
  BOB,
  carriedOut,
  configAct,
  deny,
  memoryWorld,
  proposed,
  TRUST,
  type World,
} from './gate-world.js';
import { alike, opened } from './grants.js';
import { type Forged, logOf } from './logs.js';

const EVE = personWithKey('human:eve', 7);
export const EVES_KEY = keyId(EVE.key.publicKey);

export interface Ids {
  readonly paid: string;
  readonly sent: string;
  readonly denied: string;
  readonly waiting: string;
  /** The same as `denied`, asked for once more. */
  readonly again: string;
  /** The same as `sent`, which ran once more. */
  readonly once: string;
}

export const NO_IDS: Ids = { paid: '', sent: '', denied: '', waiting: '', again: '', once: '' };

export type Edit = (events: Forged[], ids: Ids) => unknown;

export const at = (events: Forged[], type: string, id?: string) => {
  const found = events.findIndex((event) => event.type === type && (id === undefined || event.record.id === id));
  assert.ok(found >= 0, `${type} is in the log`);
  return found;
};
export const one = (events: Forged[], type: string, id?: string) => events[at(events, type, id)] as Forged;
export const again = (events: Forged[], type: string, id?: string) =>
  events.push(structuredClone(one(events, type, id)));

export function content(events: Forged[], id: string, changes: object): void {
  Object.assign(one(events, 'action-proposed', id).data.content, changes);
}

/** The end of an action, in words of somebody's own. */
export function ended(events: Forged[], id: string, actor: string, data: object, at?: number): void {
  const last = events.filter(({ record }) => record.id === id).at(-1) as Forged;
  const end = { ...structuredClone(last), type: 'action-cancelled', data, actor, revision: last.revision + 1 };
  events.push({ ...end, at: at ?? (events.at(-1) as Forged).at, payloads: [] });
}

export const textOf = (value: unknown) => JSON.stringify(value);

export async function forgedWorld(): Promise<{ world: World; honest: readonly Forged[]; ids: Ids }> {
  const world = await memoryWorld();
  await carriedOut(world, await configAct(world, TRUST.replace('name: test', 'name: tested')));
  const pay = await world.gate.operation('counting', 'pay');
  const money = { currency: 'EUR', per_action: 500, total: 900 } as const;
  await opened(world, { ...money, operations: { pay: pay.digest }, class: 'costly' });
  const args = { account: 'customers/acme', amount: 300, currency: 'EUR' };
  const paid = await world.gate.propose(alike({ operation: 'pay', args }));
  assert.equal((await world.gate.execute(paid.action_id)).state, 'confirmed');
  await carriedOut(world, { kind: 'freeze', op: 'set', scope: { scope: 'project', name: 'other' } });
  await carriedOut(world, addKeyAct(BOB));
  await carriedOut(world, addKeyAct(EVE));
  await carriedOut(world, { kind: 'registry', change: { change: 'revoke-key', key_id: EVES_KEY } });
  const sent = await approved(world);
  await world.gate.execute(sent);
  const denied = await proposed(world, { args: { text: 'denied' } });
  await deny(world, denied);
  const waiting = await proposed(world, { args: { text: 'waiting' } });
  const again = await proposed(world, { args: { text: 'denied' } });
  const once = await approved(world);
  await world.gate.execute(once);
  const ids = { paid: paid.action_id, sent, denied, waiting, again, once };
  return { world, ids, honest: await logOf(world.gate.ledger) };
}
