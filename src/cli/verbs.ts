/**
 * How a verb is declared: its options, its example, and the handler that loads when it runs.
 */
import { type Command, Option } from 'commander';
import type { Streams } from './output.js';
import { type CommonOptions, type Command as Handler, runCommand } from './run.js';

/** What the verb that ran answered; each command line has one. */
export interface Finished {
  exit: number;
}

/** Where the verbs of a program write, and what the one that ran answered; by program. */
export const contexts = new WeakMap<Command, { readonly streams: Streams; readonly finished: Finished }>();

/** What every verb takes, and how its handler runs. */
export function verb(parent: Command, usage: string, description: string, example: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option('--json', 'JSON on standard output, a value to a line')
    .option('--home <folder>', 'the home of the gate (else COUNTERSIGN_HOME)')
    .option('--by <agent>', 'speak as agent:NAME, where the configuration allows it')
    .option('--debug', 'causes and refusals on standard error, a line of JSON each')
    .addHelpText('after', `\nExample:\n  $ countersign ${example}`);
}

/** `O` are the options of the verb itself, as its lines above declare them. */
export function run<O = object>(
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

export function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

/** An option that may be given several times, each time with one of `choices` where there are any. */
export function repeated(flags: string, description: string, choices?: readonly string[]): Option {
  const option = new Option(flags, description);
  if (choices !== undefined) option.choices(choices);
  const parsed = option.parseArg;
  return option.argParser((value: string, before: string[] | undefined) => {
    parsed?.(value, undefined);
    return [...(before ?? []), value];
  });
}
