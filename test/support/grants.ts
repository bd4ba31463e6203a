/** Standing approvals over the counting connector, and actions that they cover. */
import type { Act, Grant } from '../../src/approvals/index.js';
import { ALICE, carriedOut, type Person, sending, type World } from './gate-world.js';

export async function grantOf(world: World, changes: Partial<Grant> = {}): Promise<Grant> {
  const operation = await world.gate.operation('counting', 'send');
  return {
    project: 'acme',
    agents: ['agent:local'],
    connector: 'counting',
    operations: { send: operation.digest },
    target: 'customers/*',
    class: 'irreversible',
    args: {},
    count: 3,
    until: world.clock.now() + 3_600_000,
    ...changes,
  };
}

let minted = 0;

/** The act that opens a grant of a new id. */
export async function openAct(world: World, changes: Partial<Grant> = {}) {
  minted += 1;
  const grant_id = `grant_01JDXW3Q4R8Y2M5N7P9S0T${String(minted).padStart(4, '0')}`;
  const grant = await grantOf(world, changes);
  return { kind: 'standing', change: { op: 'open', grant_id, grant } } as const satisfies Act;
}

export async function opened(world: World, changes: Partial<Grant> = {}, by: Person = ALICE): Promise<string> {
  const act = await openAct(world, changes);
  await carriedOut(world, act, by);
  return act.change.grant_id;
}

let texts = 0;

/** An action that such a grant covers, unless changed. */
export function alike(changes: Parameters<typeof sending>[0] = {}) {
  texts += 1;
  const account = changes.target ?? 'customers/acme';
  return sending({ target: account, args: { text: `text ${texts}`, account }, ...changes });
}
