/**
 * A command line that was not understood, as a refusal like any other: one clause, no value that was typed, and the
 * help to read.
 */
import type { Command, CommanderError } from 'commander';
import { Refusal } from '../core/index.js';

/** Whether the result is asked for as JSON; also where the rest was not understood. */
export function wantsJson(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end < 0 ? words.length : end).includes('--json');
}

export function usageRefusal(program: Command, words: readonly string[], error: CommanderError): Refusal {
  const next = `see \`${placeOf(program, words)} --help\``;
  return new Refusal('usage', clauseOf(error), { next });
}

/** The program's words for what was typed, as far as they are known. */
function placeOf(program: Command, words: readonly string[]): string {
  let place = program.name();
  let command: Command | undefined = program;
  for (const word of words) {
    command = command.commands.find((inner) => inner.name() === word);
    if (command === undefined) break;
    place += ` ${word}`;
  }
  return place;
}

/** What commander says, in our form, without the value of an option or an argument. */
function clauseOf({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'a command is missing';
  return message
    .replace(/^error: /, '')
    .replace(/^option ('[^']*') argument '.*' is invalid\. Allowed choices are/s, 'the value of $1 is none of')
    .replace(/^command-argument value '.*' is invalid for argument ('[^']*')\. Allowed choices are/s, '$1 is none of')
    .replace(/^unknown option '([^=']*)=.*'/s, "unknown option '$1'")
    .replace(/\.$/, '')
    .replace('. Expected', ': expected')
    .replace(/\s+\(Did you mean/, ' (did you mean')
    .replace(/'([^']*)'/g, '`$1`');
}
