/**
 * What the benchmarks of the gate work on: a gate with a software key, and the whole life of one action.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { homeAt, initialize, makeKey, open, signWith, trustRecipe, unlockKey } from '../../src/app/index.js';
import { bootstrapApprover } from '../../src/app/internal.js';
import type { Connector, Operation } from '../../src/connectors/index.js';

const Args = z.strictObject({ to: z.string(), text: z.string() });

/** A connector that does nothing and says so at once. */
export const nothing: Connector = {
  name: 'nothing',
  operations: ['send'],
  operation: async (name) => (name === 'send' ? send : undefined),
};
const send: Operation = {
  digest: `sha256:${'0'.repeat(64)}`,
  args: Args,
  timeoutMs: 10_000,
  dedupe: 'none',
  classify: () => 'irreversible',
  facts: (args) => ({ target: String(args.to) }),
  summary: (call) => [{ name: 'to', value: String(call.args.to) }],
  execute: async () => ({ result: 'confirmed' }),
};

/** A new home with one agent, one approver and a connector that does nothing, and its gate; `store` names a database. */
export async function prepareGate(store?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  const home = homeAt(join(folder, 'home'), {});
  const recipe = await trustRecipe({ name: 'bench', repositories: {}, agents: ['bench'] });
  // Nobody minds how often a benchmark asks.
  const trust = recipe.replace('bench: {}', 'bench: { pending_max: none, asks_per_hour: none }');
  const { ledgerId } = await initialize(home, { trust, demo: true, ...(store === undefined ? {} : { store }) });
  const made = await makeKey(ledgerId, 'human:alice', 'bench passphrase', join(home.keysFolder, 'alice.key'));
  const keyText = readFileSync(made.path, 'utf8');
  const key = await unlockKey(keyText, 'bench passphrase');
  let commits = 0;
  const gate = await open({
    home: home.folder,
    as: 'agent:bench',
    connectors: [nothing],
    failpoint: (name) => {
      if (name === 'ledger.after-commit') commits += 1;
    },
  });
  await bootstrapApprover(gate.ledger, ledgerId, keyText, made.code, 'demo');
  return { folder, home, gate, key, commits: () => commits };
}

export type Prepared = Awaited<ReturnType<typeof prepareGate>>;

let serial = 0;

/** One action from proposal to confirmation. */
export async function cycle({ gate, key }: Pick<Prepared, 'gate' | 'key'>): Promise<void> {
  serial += 1;
  const to = `customer-${process.pid}-${serial}`;
  const { action_id } = await gate.propose({
    project: 'bench',
    connector: 'nothing',
    operation: 'send',
    target: to,
    args: { to, text: 'x'.repeat(400) },
  });
  const { request } = await gate.request(action_id, { approver: 'human:alice' });
  await gate.approve(action_id, signWith(key, request));
  const { state, code } = await gate.execute(action_id);
  if (state !== 'confirmed') throw new Error(`the action is ${state}: ${code}`);
}

/** Another gate at a home that was prepared, as another process would have it. */
export function openBeside(folder: string) {
  return open({ home: folder, as: 'agent:bench', connectors: [nothing] });
}
