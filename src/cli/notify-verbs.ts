/**
 * The verbs of notifications.
 */
import type { Command } from 'commander';
import type { NotifyListOptions, NotifyTestOptions } from './commands/notify.js';
import { run, verb } from './verbs.js';

export function addNotify(program: Command): void {
  const load = () => import('./commands/notify.js');
  const notify = program.command('notify').description('who is told what waits, and what did not arrive');
  const test = verb(notify, 'test', 'send a test over every channel, to every address', 'notify test --channel chat')
    .option('--channel <name>', 'over this one alone')
    .option('--public-url <url>', 'the address that its link names, where the configuration names none');
  run<NotifyTestOptions>(test, async (options) => (await load()).notifyTest(options));
  const list = verb(notify, 'list', 'what did not arrive, and why', 'notify list').option(
    '--all',
    'also what arrived, and what waits',
  );
  run<NotifyListOptions>(list, async (options) => (await load()).notifyList(options));
}
