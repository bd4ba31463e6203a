/**
 * The verbs around people: keys, signing, being away, taking back, and the ceremonies at the terminal.
 */
import type { Command } from 'commander';
import type { SignOptions, VerifyReceiptOptions } from './commands/approver.js';
import type { InviteOptions } from './commands/invite.js';
import type { AwayOptions, KeyOptions, PasskeyOptions } from './commands/people.js';
import { repeated, run, verb } from './verbs.js';

const signing = () => import('./commands/approver.js');
const people = () => import('./commands/people.js');

function withPassphrase(command: Command): Command {
  return command.option('--passphrase-from <source>', 'env:NAME or file:PATH instead of the terminal');
}

export function addApprover(program: Command): void {
  const approver = program.command('approver').description('the people who sign');
  addKeys(approver);
  addInvitations(approver);
  addSigning(approver);
  addStates(approver);
  const receipt = program.command('receipt').description('signed approvals as files');
  const verifyReceipt = verb(
    receipt,
    'verify <file>',
    'whether a receipt is genuine',
    'receipt verify receipt.json',
  ).option('--public-key <hex>', 'by this key alone, offline');
  run<VerifyReceiptOptions>(verifyReceipt, async (options, [file = '']) =>
    (await signing()).verifyReceipt(file, options),
  );
}

function addKeys(approver: Command): void {
  const out = (command: Command) => withPassphrase(command).option('--out <file>', 'where the key goes');
  const key = out(
    verb(approver, 'key <name>', 'make a key in a file that a passphrase encrypts', 'approver key alice'),
  );
  run<KeyOptions>(key, async (options, [name = '']) => (await people()).key(name, options));
  const passkey = verb(
    approver,
    'passkey <name>',
    'ask an operator to register a passkey',
    'approver passkey bob --credential AbCd… --public-key a501…',
  )
    .requiredOption('--credential <id>', 'the id that the browser gave, base64url')
    .requiredOption('--public-key <hex>', 'the COSE public key as hex: P-256 with ES256, or Ed25519');
  run<PasskeyOptions>(passkey, async (options, [name = '']) => (await people()).passkey(name, options));
  const recover = out(
    verb(
      approver,
      'recover <name>',
      'the first ceremony again, when every key is lost; no gate may be open',
      'approver recover alice',
    ),
  );
  run<KeyOptions>(recover, async (options, [name = '']) => (await people()).recover(name, options));
}

function addInvitations(approver: Command): void {
  const load = () => import('./commands/invite.js');
  const invite = verb(
    approver,
    'invite <name>',
    'a link by which somebody makes a passkey; an operator confirms it by its code',
    'approver invite bob --role approver',
  )
    .addOption(
      repeated('--role <role>', 'what they may be; may be given again; approver unless given', [
        ...['viewer', 'approver', 'operator', 'auditor'],
      ]),
    )
    .option('--public-url <url>', 'the address of the server; http://localhost:8787 unless given');
  run<InviteOptions>(invite, async (options, [name = '']) => (await load()).invite(name, options));
  const confirm = verb(
    approver,
    'confirm <invitation> <code>',
    'ask operators to sign for a passkey, by the code that its page shows',
    'approver confirm inv_01JD… 7K2M-9QXA',
  );
  run(confirm, async (_o, [invitation = '', code = '']) => (await load()).confirm(invitation, code));
}

function addSigning(approver: Command): void {
  const sign = withPassphrase(
    verb(
      approver,
      'sign <request...>',
      'see requests in full, and sign them with one passphrase',
      'approver sign req_01JD…',
    ),
  )
    .option('--key <file>', 'the key file')
    .option('--deny', 'sign that it must not run')
    .option('--reason <words>', 'words for the agent, with --deny')
    .option('--send-back', 'with --deny and a reason: ask the agent to come again with something else')
    .option('--out <file>', 'write the receipt to a file instead of handing it in');
  run<SignOptions>(sign, async (options, [requests]) =>
    (await signing()).sign(requests as unknown as readonly string[], options),
  );
}

function addStates(approver: Command): void {
  run(verb(approver, 'list', 'people, their keys, and who is away', 'approver list'), async () =>
    (await people()).listApprovers(),
  );
  const away = verb(
    approver,
    'away <name>',
    'pass this person over in reminders; they sign for it',
    'approver away alice --until 2027-01-31 --delegate bob',
  )
    .requiredOption('--until <date>', 'a day, or a minute such as 2027-01-31T08:00Z')
    .option('--delegate <name>', 'who is reminded instead, where the same rule lets them approve');
  run<AwayOptions>(away, async (options, [name = '']) => (await people()).away(name, options));
  run(verb(approver, 'back <name>', 'end being away', 'approver back alice'), async (_o, [name = '']) =>
    (await people()).away(name, undefined),
  );
  run(
    verb(
      approver,
      'revoke <key-or-person>',
      'ask an operator to revoke a key or remove a person',
      'approver revoke sha256:…',
    ),
    async (_o, [name = '']) => (await people()).revoke(name),
  );
}
