/**
 * The verbs around an action: what waits, asking, signing off, running, finding out.
 */
import { type Command, Option } from 'commander';
import { ACTION_CLASSES } from '../core/index.js';
import type { ApproveOptions, ListOptions, RequestOptions } from './commands/action.js';
import type { ServerOptions } from './commands/at-server.js';
import type { InboxOptions } from './commands/inbox.js';
import type { ProposeOptions } from './commands/propose.js';
import { STATE_NAMES } from './output.js';
import { addResolutions } from './resolution-verbs.js';
import { repeated, run, verb } from './verbs.js';

const actions = () => import('./commands/action.js');

export function addInbox(program: Command): void {
  for (const name of ['inbox', 'decisions']) {
    const command = verb(program, name, 'what waits for a person, most urgent first', `${name} --for human:alice`)
      .option('--for <person>', 'only what human:NAME can decide')
      .option('--limit <count>', 'rows of a page, 1000 at most', '100')
      .option('--after <cursor>', 'the page behind that one')
      .option('--watch', 'again at every change');
    run<InboxOptions>(command, async (options) => (await import('./commands/inbox.js')).inbox(options));
  }
}

/** The options that make a proposal. */
export function proposalOptions(command: Command): Command {
  return command
    .option('--connector <name>', 'the door out, such as git-local')
    .option('--operation <name>', 'what to do there, such as merge')
    .option('--project <name>', 'the project whose thread records it')
    .option('--target <target>', 'the account or object affected')
    .option('--args <json>', 'arguments as JSON, @FILE, or - for standard input')
    .option('--amount <minor-units>', 'whole number of minor units')
    .option('--currency <code>', 'ISO 4217, such as EUR')
    .addOption(new Option('--class <class>', 'raise the risk').choices([...ACTION_CLASSES]))
    .option('--work-item <text>', 'what it belongs to')
    .addOption(repeated('--approver <person>', 'narrow who may approve; may be given again'))
    .option('--approve-within <duration>', 'such as 4h')
    .option('--launch-within <duration>', 'such as 30m, counted from the approval')
    .addOption(repeated('--content <file>', 'content that the arguments name by its digest; may be given again'));
}

/** Of a verb that can turn to another gate of the same ledger. */
function atServer(command: Command): Command {
  return command
    .option('--server <url>', 'at the gate of that address; what it says is verified here again')
    .option('--token <secret>', 'where its token is: env:NAME or file:PATH; env:COUNTERSIGN_TOKEN unless given');
}

export function addAction(program: Command): void {
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
    (await import('./commands/show.js')).show(a),
  );
  run(
    verb(action, 'summary <action>', 'the text that a person signs, and the change itself', `action summary ${id}`),
    async (_o, [a = '']) => (await actions()).summary(a),
  );
  const list = verb(action, 'list', 'actions, newest first', 'action list --project web')
    .option('--project <name>', 'only of this project')
    .addOption(repeated('--state <state>', 'only in this state; may be given again', STATE_NAMES))
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
  run<RequestOptions>(atServer(request), async (options, [a = '']) => (await actions()).request(a, options));
  const fetch = verb(
    action,
    'fetch-receipt <action>',
    'attach what was signed; exit 5 while nothing is',
    `action fetch-receipt ${id}`,
  );
  run<ServerOptions>(atServer(fetch), async (options, [a = '']) => (await actions()).fetchReceipt(a, options));
  const approve = verb(
    action,
    'approve <action>',
    'attach a receipt that you hold',
    `action approve ${id} --receipt r.json`,
  )
    .option('--receipt <file>', 'the receipt, or - for standard input')
    .option('--standing', 'by a standing approval that covers it')
    .option('--reason <words>', 'words for the agent, with a denial')
    .option('--send-back', 'with a denial and a reason: ask the agent to come again with something else');
  run<ApproveOptions>(approve, async (options, [a = '']) => (await actions()).approve(a, options));
  run(verb(action, 'execute <action>', 'run it, once', `action execute ${id}`), async (_o, [a = '']) =>
    (await actions()).execute(a),
  );
  run(
    verb(action, 'reconcile <action>', 'check an unknown outcome with the connector', `action reconcile ${id}`),
    async (_o, [a = '']) => (await actions()).reconcile(a),
  );
  addResolutions(action);
  run(
    verb(action, 'comment <action> <text>', 'say something about it, to whoever reads it', `action comment ${id} "…"`),
    async (_o, [a = '', text = '']) => (await actions()).comment(a, text),
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
