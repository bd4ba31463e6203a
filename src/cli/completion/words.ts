/**
 * What can stand where on the command line, read from the program itself: the one source of every completion script.
 * Hidden commands and options are left out.
 */
import type { Command, Option } from 'commander';
import { assert } from '../../core/index.js';

export interface Word {
  readonly text: string;
  readonly description: string;
}

/** What completes a value: these words, the names of files, or nothing that could be known. */
export type Value = readonly string[] | 'files' | 'anything';

export interface KnownOption {
  /** `--json`, `-V`. */
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined for an option without a value. */
  readonly value: Value | undefined;
}

/** A place on the command line: the program itself, a noun, or a verb. */
export interface Verb {
  /** The words that lead here, such as `action propose`; empty for the program. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly KnownOption[];
  /** What its first argument may be; undefined where it has none. */
  readonly argument: Value | undefined;
}

/** Every place of a program, the program itself first. */
export function verbsOf(program: Command): readonly Verb[] {
  const verbs: Verb[] = [];
  const walk = (command: Command, path: string) => {
    const help = command.createHelp();
    const commands = help.visibleCommands(command);
    const [argument] = command.registeredArguments;
    verbs.push({
      path,
      commands: commands.map((inner) => ({ text: word(inner.name()), description: inner.description() })),
      options: help.visibleOptions(command).map(knownOption),
      argument: argument && valueFor(argument.argChoices, argument.name()),
    });
    for (const inner of commands) walk(inner, path === '' ? inner.name() : `${path} ${inner.name()}`);
  };
  walk(program, '');
  return verbs;
}

/** The options of a place that take a value, as `place --option`, those of one kind of value together. */
export function valuesAt({ path, options }: Verb): readonly { at: readonly string[]; value: Value }[] {
  const groups = new Map<string, { readonly at: string[]; readonly value: Value }>();
  for (const { names, value } of options) {
    if (value === undefined) continue;
    const group = groups.get(String(value)) ?? { at: [], value };
    groups.set(String(value), group);
    group.at.push(...names.map((name) => `${path} ${name}`));
  }
  return [...groups.values()];
}

/** What is offered first at a place, and what behind a dash; the options at once where nothing else is known. */
export function offered({ commands, options, argument }: Verb): {
  readonly words: readonly Word[];
  readonly dashed: readonly Word[];
} {
  const choices = typeof argument === 'object' ? argument.map((text) => ({ text, description: '' })) : [];
  const dashed = options.flatMap(({ names, description }) => names.map((text) => ({ text, description })));
  const words = [...commands, ...choices];
  return { words: words.length === 0 && argument !== 'files' ? dashed : words, dashed };
}

function knownOption(option: Option): KnownOption {
  const names = [option.long, option.short].filter((name): name is string => typeof name === 'string');
  const value =
    option.required || option.optional ? valueFor(option.argChoices, option.flags.replace(/^[^<[]*/, '')) : undefined;
  return { names: names.map(word), description: option.description, value };
}

function valueFor(choices: readonly string[] | undefined, name: string): Value {
  if (choices !== undefined) return choices.map(word);
  return /\b(file|folder)\b/.test(name) ? 'files' : 'anything';
}

/** A word that no shell reads in another way. */
function word(text: string): string {
  assert(/^[A-Za-z0-9_-]+$/.test(text), 'a word of the command line is plain');
  return text;
}
