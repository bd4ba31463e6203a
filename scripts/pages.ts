/**
 * The generated reference pages, by path: the catalogue of codes, every verb of the command line, and the schema of a
 * project's file.
 */
import type { Command } from 'commander';
import { settingsSchema } from '../src/app/settings.js';
import { buildProgram } from '../src/cli/program.js';
import { CODES } from '../src/core/index.js';

export async function generatedPages(): Promise<Readonly<Record<string, string>>> {
  return {
    'docs/reference/errors.md': errorsPage(),
    'docs/reference/cli.md': commandsPage(),
    'docs/reference/countersign.schema.json': `${JSON.stringify(settingsSchema(), null, 2)}\n`,
  };
}

function errorsPage(): string {
  const rows = Object.entries(CODES).map(
    ([code, { meaning, next, http, exit, retry }]) =>
      `| \`${code}\` | ${meaning} | ${next} | ${http} | ${exit} | ${retry ? 'yes' : 'no'} |`,
  );
  return [
    '# Error codes',
    '',
    'Generated from `src/core/errors.ts`. Exit 1: refused, nothing changed. Exit 70: a fault of the gate.',
    '',
    '| code | meaning | what to do | HTTP | exit | the same request may succeed later |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function commandsPage(): string {
  const program = buildProgram({ out: () => undefined, err: () => undefined }, { exit: 0 });
  const lines = [
    '# Command line',
    '',
    'Generated from `src/cli/program.ts`. Every verb takes `--json`, `--home`, `--by` and `--debug`.',
    'With `--json` there is one value on standard output; `thread show` and `--watch` write one for each entry or change.',
    'Exit codes: 0 done, 1 refused, 2 usage, 3 certain failure, 4 outcome unknown, 5 not signed yet, 70 a fault of the gate.',
    '',
  ];
  const walk = (command: Command, name: string) => {
    for (const inner of command.commands) walk(inner, `${name} ${inner.name()}`);
    if (command.commands.length > 0) return;
    const words = command.registeredArguments.map((word) => (word.required ? `<${word.name()}>` : `[${word.name()}]`));
    lines.push(`## ${[name, ...words].join(' ')}`, '', `${command.description()}.`, '');
    const options = command.options.filter(
      (option) => !option.hidden && !['json', 'home', 'by', 'debug'].includes(option.name()),
    );
    if (options.length === 0) return;
    lines.push('| option | meaning |', '|---|---|');
    for (const option of options) lines.push(`| \`${option.flags}\` | ${option.description} |`);
    lines.push('');
  };
  walk(program, 'countersign');
  return lines.join('\n');
}
