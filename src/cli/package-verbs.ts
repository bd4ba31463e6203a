/**
 * The verbs of packages: created, changed by envelopes, confirmed by a person, released through the gate.
 */
import type { Command } from 'commander';
import type { ApplyOptions, ListOptions, PromptOptions, ReleaseOptions, ValidateOptions } from './commands/package.js';
import { PACKAGE_STATE_NAMES } from './options.js';
import { repeated, run, verb } from './verbs.js';

const load = () => import('./commands/package.js');
const id = 'pkg_notes';

export function addPackage(program: Command): void {
  const parent = program.command('package').description('work that a model changes by envelopes alone');
  const create = verb(parent, 'create <package>', 'begin one from an intent', `package create ${id} --intent "…"`);
  run<{ readonly intent: string }>(
    create.requiredOption('--intent <text>', 'what it is for, in one line'),
    async (options, [name = '']) => (await load()).create(name, options.intent),
  );
  const apply = verb(
    parent,
    'apply <file>',
    "an envelope, or a model's reply with one in it; - for standard input",
    'package apply reply.txt',
  ).option('--receipt <file>', 'the receipt of a person, for an envelope with confirm_summary');
  run<ApplyOptions>(apply, async (options, [file = '']) => (await load()).apply(file, options));
  run(verb(parent, 'status <package>', 'where it stands', `package status ${id}`), async (_o, [name = '']) =>
    (await load()).status(name),
  );
  run(
    verb(parent, 'summary <package>', 'the exact text that a person confirms', `package summary ${id}`),
    async (_o, [name = '']) => (await load()).summary(name),
  );
  const confirm = verb(
    parent,
    'confirm <package>',
    'ask a person to confirm the summary that stands',
    `package confirm ${id}`,
  ).option('--signer <person>', 'whom to ask; the first approver unless given');
  run<{ readonly signer?: string }>(confirm, async (options, [name = '']) =>
    (await load()).confirm(name, options.signer),
  );
  const validate = verb(
    parent,
    'validate [package]',
    'replay a package from its first event; or judge an envelope without applying it',
    `package validate ${id}`,
  ).option('--envelope <file>', 'the envelope, or a reply with one in it; - for standard input');
  run<ValidateOptions>(validate, async (options, [name]) => (await load()).validate(name, options));
  const list = verb(parent, 'list', 'packages by id, the last first', 'package list --state SUMMARY_PENDING')
    .addOption(repeated('--state <state>', 'only in this state; may be given again', PACKAGE_STATE_NAMES))
    .option('--limit <count>', 'rows of a page')
    .option('--after <cursor>', 'the page behind that one');
  run<ListOptions>(list, async (options) => (await load()).list(options));
  const prompt = verb(
    parent,
    'prompt <package>',
    'what to tell a model: the envelopes that are legal now',
    `package prompt ${id}`,
  ).option('--tools', 'the same as tools with JSON Schema');
  run<PromptOptions>(prompt, async (options, [name = '']) => (await load()).prompt(name, options));
  const release = verb(
    parent,
    'release <package>',
    'ask for the draft to be written to its path; it needs approval like any action',
    `package release ${id} --project web --target web#main`,
  )
    .option('--project <name>', 'the project whose thread records it')
    .requiredOption('--target <target>', 'alias#branch of git-local')
    .option('--message <text>', 'the message of the commit')
    .option('--connector <name>', 'git-local unless given');
  run<ReleaseOptions>(release, async (options, [name = '']) => (await load()).release(name, options));
}
