/**
 * Every noun and verb of the command line, with its options and an example. The handlers load when they run.
 */
import { Command, CommanderError, Option } from 'commander';
import type { InboxOptions, ListOptions, RequestOptions } from './commands/action.js';
import type { KeyOptions, SignOptions, VerifyReceiptOptions } from './commands/approver.js';
import type { DemoOptions } from './commands/demo.js';
import type { ProposeOptions } from './commands/propose.js';
import type { InitOptions } from './commands/setup.js';
import { CLASS_NAMES } from './options.js';
import { EXIT, processStreams, type Streams } from './output.js';
import { type CommonOptions, type Command as Handler, runCommand } from './run.js';
import { VERSION } from './version.js';

/** Runs one command line, given without the names of node and the script, and answers its exit code. */
export async function runProgram(words: readonly string[], streams: Streams = processStreams): Promise<number> {
  const finished: Finished = { exit: EXIT.done };
  try {
    await buildProgram(streams, finished).parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  return finished.exit;
}

/** What the verb that ran answered; each command line has one. */
export interface Finished {
  exit: number;
}

const contexts = new WeakMap<Command, { readonly streams: Streams; readonly finished: Finished }>();

export function buildProgram(streams: Streams, finished: Finished): Command {
  const program = new Command('countersign')
    .description('Agents ask; a person signs exactly that call; it runs once.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeOut: streams.out, writeErr: streams.err })
    .showHelpAfterError('(see --help)')
    .configureHelp({ sortSubcommands: false })
    .commandsGroup('Commands:');
  addInbox(program);
  addAction(program);
  addPolicy(program);
  addAudit(program);
  program.commandsGroup('More:');
  addThread(program);
  addConfig(program);
  addApprover(program);
  addSetup(program);
  contexts.set(program, { streams, finished });
  return program;
}

/** What every verb takes, and how its handler runs. */
function verb(parent: Command, usage: string, description: string, example: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option('--json', 'one JSON value on standard output')
    .option('--home <folder>', 'the home of the gate (else COUNTERSIGN_HOME)')
    .option('--by <agent>', 'speak as agent:NAME, where the configuration allows it')
    .addOption(new Option('--debug', 'show the cause of a fault').hideHelp())
    .addHelpText('after', `\nExample:\n  $ countersign ${example}`);
}

/** `O` are the options of the verb itself, as its lines above declare them. */
function run<O = object>(
  command: Command,
  load: (options: CommonOptions & O, args: readonly string[]) => Promise<Handler>,
): Command {
  return command.action(async (...given: unknown[]) => {
    const options = command.opts() as CommonOptions & O;
    const args = given.slice(0, command.registeredArguments.length) as string[];
    const context = contexts.get(rootOf(command));
    if (context === undefined) return;
    const handler: Handler = async (given) => (await load(options, args))(given);
    context.finished.exit = await runCommand(options, handler, context.streams);
  });
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

/** An option that may be given several times. */
function repeated(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, before: string[] | undefined) => [
    ...(before ?? []),
    value,
  ]);
}

const actions = () => import('./commands/action.js');

function addInbox(program: Command): void {
  for (const name of ['inbox', 'decisions']) {
    const command = verb(program, name, 'what waits for a person, most urgent first', `${name} --for human:alice`)
      .option('--for <person>', 'only what human:NAME can decide')
      .option('--watch', 'again at every change');
    run<InboxOptions>(command, async (options) => (await actions()).inbox(options));
  }
}

function proposalOptions(command: Command): Command {
  return command
    .option('--connector <name>', 'the door out, such as git-local')
    .option('--operation <name>', 'what to do there, such as merge')
    .option('--project <name>', 'the project whose thread records it')
    .option('--target <target>', 'the account or object affected')
    .option('--args <json>', 'arguments as JSON, @FILE, or - for standard input')
    .option('--amount <minor units>', 'whole number of minor units')
    .option('--currency <code>', 'ISO 4217, such as EUR')
    .addOption(new Option('--class <class>', 'raise the risk').choices([...CLASS_NAMES]))
    .option('--work-item <text>', 'what it belongs to')
    .addOption(repeated('--approver <person>', 'narrow who may approve; may be given again'))
    .option('--approve-within <duration>', 'such as 4h')
    .option('--launch-within <duration>', 'such as 30m, counted from the approval')
    .addOption(repeated('--content <file>', 'content that the arguments name by its digest; may be given again'));
}

function addAction(program: Command): void {
  const action = program.command('action').description('ask for an effect, approve it, run it once');
  const id = 'act_01JD0000000000000000000000';
  const merge =
    'action propose --connector git-local --operation merge --project web --target web#main --args @merge.json';
  const propose = proposalOptions(verb(action, 'propose', 'ask for an effect; nothing runs yet', merge))
    .option('--idempotency-key <key>', 'the same key and command: the same action')
    .option('--dry-run', 'tell what would be decided, write nothing')
    .option('--like <action>', 'ask again for what an action asked for');
  run<ProposeOptions>(propose, async (options) => (await import('./commands/propose.js')).propose(options));
  run(verb(action, 'show <action>', 'all that is known of an action', `action show ${id}`), async (_o, [a = '']) =>
    (await actions()).show(a),
  );
  run(
    verb(action, 'summary <action>', 'the text that a person signs, and the change itself', `action summary ${id}`),
    async (_o, [a = '']) => (await actions()).summary(a),
  );
  const list = verb(action, 'list', 'actions, newest first', 'action list --project web')
    .option('--project <name>', 'only of this project')
    .addOption(repeated('--state <state>', 'only in this state; may be given again'))
    .option('--limit <count>', 'rows of a page, 200 at most', '50')
    .option('--after <cursor>', 'the page behind this one');
  run<ListOptions>(list, async (options) => (await actions()).list(options));
  const request = verb(
    action,
    'request <action>',
    'ask a person to sign it',
    `action request ${id} --approver human:alice`,
  )
    .option('--approver <person>', 'whom to ask')
    .option('--deny', 'a request whose signature denies')
    .option('--expires <duration>', 'how long it can be signed; 15m unless given');
  run<RequestOptions>(request, async (options, [a = '']) => (await actions()).request(a, options));
  run(
    verb(
      action,
      'fetch-receipt <action>',
      'attach what was signed; exit 5 while nothing is',
      `action fetch-receipt ${id}`,
    ),
    async (_o, [a = '']) => (await actions()).fetchReceipt(a),
  );
  const approve = verb(
    action,
    'approve <action>',
    'attach a receipt that you hold',
    `action approve ${id} --receipt r.json`,
  )
    .requiredOption('--receipt <file>', 'the receipt, or - for standard input')
    .option('--reason <words>', 'words for the agent, with a denial');
  run<{ readonly receipt: string; readonly reason?: string }>(approve, async (options, [a = '']) =>
    (await actions()).approve(a, options),
  );
  run(verb(action, 'execute <action>', 'run it, once', `action execute ${id}`), async (_o, [a = '']) =>
    (await actions()).execute(a),
  );
  run(
    verb(action, 'reconcile <action>', 'check an unknown outcome with the connector', `action reconcile ${id}`),
    async (_o, [a = '']) => (await actions()).reconcile(a),
  );
  const cancel = verb(action, 'cancel <action>', 'take it back before it runs', `action cancel ${id}`).option(
    '--reason <words>',
    'why',
  );
  run<{ readonly reason?: string }>(cancel, async (options, [a = '']) => (await actions()).cancel(a, options));
  run(verb(action, 'recover', 'end what nobody answered for; calls nothing', 'action recover'), async () =>
    (await actions()).recover(),
  );
  const wait = verb(
    action,
    'wait <action>',
    'until it is decided; exit 5 when it is not',
    `action wait ${id} --timeout 5m`,
  )
    .option('--timeout <duration>', 'at most 24h; 10m unless given')
    .option('--settled', 'until its outcome is known');
  run<{ readonly timeout?: string; readonly settled?: boolean }>(wait, async (options, [a = '']) =>
    (await actions()).wait(a, options),
  );
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
  run(verb(policy, 'show', 'the active configuration', 'policy show'), async () => (await load()).show());
}

function addConfig(program: Command): void {
  const load = () => import('./commands/policy.js');
  const config = program.command('config').description('compare and apply the trust configuration');
  run(verb(config, 'diff [file]', 'what the file would change', 'config diff'), async (_o, [file]) =>
    (await load()).configDiff(file),
  );
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

function addApprover(program: Command): void {
  const load = () => import('./commands/approver.js');
  const approver = program.command('approver').description('the people who sign');
  const passphrase = (command: Command) =>
    command.option('--passphrase-from <source>', 'env:NAME or file:PATH instead of the terminal');
  const key = passphrase(
    verb(approver, 'key <name>', 'make a key in a file that a passphrase encrypts', 'approver key alice').option(
      '--out <file>',
      'where the key goes',
    ),
  );
  run<KeyOptions>(key, async (options, [name = '']) => (await load()).key(name, options));
  const sign = passphrase(
    verb(approver, 'sign <request>', 'see a request in full, and sign it', 'approver sign req_01JD…'),
  )
    .option('--key <file>', 'the key file')
    .option('--deny', 'sign that it must not run')
    .option('--reason <words>', 'words for the agent, with --deny')
    .option('--out <file>', 'write the receipt to a file instead of handing it in');
  run<SignOptions>(sign, async (options, [request = '']) => (await load()).sign(request, options));
  run(verb(approver, 'list', 'people and their keys', 'approver list'), async () => (await load()).listApprovers());
  run(
    verb(
      approver,
      'revoke <key or person>',
      'ask an operator to revoke a key or remove a person',
      'approver revoke sha256:…',
    ),
    async (_o, [name = '']) => (await load()).revoke(name),
  );
  const receipt = program.command('receipt').description('signed approvals as files');
  const verifyReceipt = verb(
    receipt,
    'verify <file>',
    'whether a receipt is genuine',
    'receipt verify receipt.json',
  ).option('--public-key <hex>', 'by this key alone, offline');
  run<VerifyReceiptOptions>(verifyReceipt, async (options, [file = '']) => (await load()).verifyReceipt(file, options));
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
