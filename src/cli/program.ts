/**
 * Every noun and verb of the command line, with its options and an example. The handlers load when they run.
 */
import { Argument, Command, CommanderError, Option } from 'commander';
import { addAction, addInbox, proposalOptions } from './action-verbs.js';
import { addApprover } from './approver-verbs.js';
import type { DemoOptions } from './commands/demo.js';
import type { ProposeOptions } from './commands/propose.js';
import type { InitOptions } from './commands/setup.js';
import { addNotify } from './notify-verbs.js';
import { SHELL_NAMES, TEMPLATE_NAMES } from './options.js';
import { EXIT, makeOutput, processStreams, type Streams, writeError } from './output.js';
import { addPackage } from './package-verbs.js';
import { addFreeze } from './resolution-verbs.js';
import { addAgent, addServe } from './serve-verbs.js';
import { addStanding } from './standing-verbs.js';
import { usageRefusal, wantsJson } from './usage.js';
import { contexts, type Finished, repeated, run, verb } from './verbs.js';
import { VERSION } from './version.js';

/** Runs one command line, given without the names of node and the script, and answers its exit code. */
export async function runProgram(words: readonly string[], streams: Streams = processStreams): Promise<number> {
  const finished: Finished = { exit: EXIT.done };
  const output = makeOutput(wantsJson(words), streams);
  // Help that is shown because a command is missing is for people; every other mistake is told as a refusal.
  const program = buildProgram({ out: streams.out, err: output.json ? () => undefined : streams.err }, finished);
  contexts.set(program, { streams, finished });
  try {
    await program.parseAsync([...words], { from: 'user' });
    return finished.exit;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done;
    if (error.code === 'commander.help' && !output.json) return EXIT.usage;
    return writeError(output, usageRefusal(program, words, error));
  }
}

export function buildProgram(streams: Streams, finished: Finished): Command {
  const program = new Command('countersign')
    .description('Agents ask; a person signs exactly that call; it runs once.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeOut: streams.out, writeErr: streams.err, outputError: () => undefined })
    .configureHelp({ sortSubcommands: false })
    .commandsGroup('Commands:');
  addInbox(program);
  addAction(program);
  addPolicy(program);
  addAudit(program);
  program.commandsGroup('More:');
  addStanding(program);
  addFreeze(program);
  addPackage(program);
  addThread(program);
  addConfig(program);
  addApprover(program);
  addAgent(program);
  addServe(program);
  addNotify(program);
  addSetup(program);
  addMigrate(program);
  addCompletion(program);
  contexts.set(program, { streams, finished });
  return program;
}

function addPolicy(program: Command): void {
  const load = () => import('./commands/policy.js');
  const policy = program.command('policy').description('what may run, and who decides');
  const explain = proposalOptions(
    verb(policy, 'explain [id]', 'why: for an action, a decision, or with --what-if', 'policy explain act_01JD…'),
  ).option('--what-if', 'for a proposal that is not made');
  run<ProposeOptions & { readonly whatIf?: boolean }>(explain, async (options, [id]) =>
    (await load()).explain(id, options),
  );
  const show = verb(policy, 'show', 'the active configuration', 'policy show').option('--cedar', 'what it is in Cedar');
  run<{ readonly cedar?: boolean }>(show, async (options) => (await load()).show(options));
  run(
    verb(policy, 'check [file]', 'whether every policy of a file can be evaluated', 'policy check'),
    async (_o, [file]) => (await load()).check(file),
  );
  run(verb(policy, 'test [file]', 'the test cases of a file', 'policy test'), async (_o, [file]) =>
    (await load()).test(file),
  );
  const simulate = days(
    verb(policy, 'simulate [file]', 'a draft, tried on past actions', 'policy simulate draft.yaml'),
  );
  run<{ readonly days?: string }>(simulate, async (options, [file]) => (await load()).simulate(file, options));
}

function days(command: Command): Command {
  return command.option('--days <n>', 'how many days of past actions; 30 unless given');
}

function addConfig(program: Command): void {
  const load = () => import('./commands/config.js');
  const config = program.command('config').description('compare and apply the trust configuration');
  const diff = days(verb(config, 'diff [file]', 'what the file would change', 'config diff'));
  run<{ readonly days?: string }>(diff, async (options, [file]) => (await load()).configDiff(file, options));
  run(verb(config, 'apply [file]', 'ask an operator to sign the change', 'config apply'), async (_o, [file]) =>
    (await load()).configApply(file),
  );
}

function addAudit(program: Command): void {
  const load = () => import('./commands/audit.js');
  const audit = program.command('audit').description('check what was written');
  run(verb(audit, 'verify', 'every hash, link, state, receipt and launch', 'audit verify'), async () =>
    (await load()).verify(),
  );
}

function addThread(program: Command): void {
  const load = () => import('./commands/audit.js');
  const thread = program.command('thread').description('the readable record of a project');
  run(verb(thread, 'show <project>', 'every entry, oldest first', 'thread show web'), async (_o, [project = '']) =>
    (await load()).threadShow(project),
  );
  run(verb(thread, 'verify <project>', 'links and signatures', 'thread verify web'), async (_o, [project = '']) =>
    (await load()).threadVerify(project),
  );
}

function addSetup(program: Command): void {
  const load = () => import('./commands/setup.js');
  const init = verb(
    program,
    'init',
    'make a ledger, its configuration and its first approver',
    'init --repository web=.',
  )
    .option('--name <name>', 'the name of the ledger')
    .option('--approver <name>', 'the first approver')
    .option('--no-approver', 'none yet: nothing that needs a person can run')
    .addOption(repeated('--repository <alias=path>', 'a repository for git-local; may be given again'))
    .addOption(repeated('--agent <name>', 'an agent that this user may speak as; may be given again'))
    .option('--noop-folder <folder>', 'a folder for the connector shell-noop')
    .addOption(new Option('--template <name>', 'rules for a kind of work').choices(TEMPLATE_NAMES))
    .option('--store <url>', 'the ledger in a database: a postgres:// URL, or better env:NAME or file:PATH of one')
    .option('--project <name>', 'write a first countersign.yaml for this project into the working folder')
    .option('--passphrase-from <source>', 'env:NAME or file:PATH instead of the terminal');
  run<InitOptions>(init, async (options) => (await load()).init(options));
  run(verb(program, 'doctor', 'what is well, what is not, and how to mend it', 'doctor'), async () =>
    (await load()).doctor(),
  );
  const demo = verb(program, 'demo', 'the main job on a real repository, step by step', 'demo').option(
    '--folder <folder>',
    'where; a fresh folder of the system unless given',
  );
  run<DemoOptions>(demo, async (options) => (await import('./commands/demo.js')).demo(options));
  run(
    verb(program, 'backup <file>', 'a verified copy, while others work', 'backup ledger.backup'),
    async (_o, [file = '']) => (await load()).backup(file),
  );
  run(
    verb(program, 'restore [file]', 'put a backup back; an operator signs', 'restore ledger.backup'),
    async (_o, [file]) => (await load()).restore(file),
  );
}

function addMigrate(program: Command): void {
  const migrate = verb(
    program,
    'migrate',
    'bring the schema forward, or move the ledger to another store',
    'migrate --to env:LEDGER_URL',
  ).option(
    '--to <store>',
    'env:NAME or file:PATH of a postgres:// URL, the URL itself, or `embedded` for a file of the home',
  );
  run<{ readonly to?: string }>(migrate, async (options) => (await import('./commands/migrate.js')).migrate(options));
}

function addCompletion(program: Command): void {
  const completion = verb(
    program,
    'completion',
    'a script that completes the words of this program in a shell',
    'completion fish | source',
  ).addArgument(new Argument('<shell>', 'which shell').choices(SHELL_NAMES));
  run(completion, async (_o, [shell = 'bash']) =>
    (await import('./commands/completion.js')).completion(program, shell as (typeof SHELL_NAMES)[number]),
  );
}
