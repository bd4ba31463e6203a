/**
 * The verbs of standing approvals.
 */
import type { Command } from 'commander';
import type { StandingOptions } from './commands/standing.js';
import { run, verb } from './verbs.js';

const load = () => import('./commands/standing.js');
const id = 'grant_01JD0000000000000000000000';

export function addStanding(program: Command): void {
  const standing = program.command('standing').description('approvals that are signed once, for what is alike');
  const request = verb(
    standing,
    'request',
    'ask people to sign one: from an action, as narrow as it can be, or from a file',
    'standing request --from act_01JD… --count 20 --for 7d',
  )
    .option('--from <action>', 'an action that it shall fit')
    .option('--file <file>', 'the whole of it as JSON, or - for standard input')
    .option('--count <count>', 'how many actions; 10 unless given')
    .option('--for <duration>', 'how long it stands, 30d at most; 7d unless given')
    .option('--target <pattern>', 'a wider target: * stands for anything within one segment')
    .option('--per-action <amount>', 'minor units of one action')
    .option('--total <amount>', 'minor units of all of them together')
    .option('--signer <person>', 'whom to ask first');
  run<StandingOptions>(request, async (options) => (await load()).request(options));
  run(verb(standing, 'list', 'what stands, and what is left of it', 'standing list'), async () =>
    (await load()).list(),
  );
  run(verb(standing, 'show <grant>', 'one of them in full', `standing show ${id}`), async (_o, [grant = '']) =>
    (await load()).show(grant),
  );
  run(
    verb(standing, 'revoke <grant>', 'ask somebody to take it back', `standing revoke ${id}`),
    async (_o, [grant = '']) => (await load()).revoke(grant),
  );
}
