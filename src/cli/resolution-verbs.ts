/**
 * The verbs of an outcome that nobody knows, of one that is regretted, and of the brake.
 */
import type { Command } from 'commander';
import type { FindingOptions, FreezeOptions } from './commands/resolution.js';
import { run, verb } from './verbs.js';

const load = () => import('./commands/resolution.js');
const id = 'act_01JD0000000000000000000000';

/** What people do about an outcome that nobody knows, and about one that they regret. */
export function addResolutions(action: Command): void {
  run(
    verb(action, 'retry <action>', 'run it again under the same key, once people approved that', `action retry ${id}`),
    async (_o, [a = '']) => (await load()).retry(a),
  );
  const finding = verb(
    action,
    'finding <action>',
    'ask a person to sign what they found out about it',
    `action finding ${id} --outcome failed --evidence 'no such payment in the ledger of the bank'`,
  )
    .requiredOption('--outcome <outcome>', 'confirmed: the effect is there; failed: it is not, and will not be')
    .requiredOption('--evidence <words>', 'what was found, which is signed with it')
    .option('--approver <person>', 'whom to ask');
  run<FindingOptions>(finding, async (options, [a = '']) => (await load()).finding(a, options));
  const replace = verb(
    action,
    'replace <action>',
    'ask a person to let it run again as another action (possible duplicate)',
    `action replace ${id}`,
  ).option('--approver <person>', 'whom to ask');
  run<{ readonly approver?: string }>(replace, async (options, [a = '']) => (await load()).replace(a, options));
  run(
    verb(action, 'undo <action>', 'propose what would undo it, as an action of its own', `action undo ${id}`),
    async (_o, [a = '']) => (await load()).undo(a),
  );
}

export function addFreeze(program: Command): void {
  for (const op of ['freeze', 'unfreeze'] as const) {
    const what = op === 'freeze' ? 'ask a person to stop everything, or one part' : 'ask an operator to lift a freeze';
    const command = verb(program, op, what, `${op} --project web`)
      .option('--project <name>', 'one project')
      .option('--agent <name>', 'one agent, such as bot')
      .option('--connector <name>', 'one connector')
      .option('--for <person>', 'who shall sign');
    run<FreezeOptions>(command, async (options) => (await load()).freeze(op, options));
  }
}
