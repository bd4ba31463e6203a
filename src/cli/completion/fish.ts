/**
 * Completion for fish: a line for every word of the program, and a function that says where the line stands.
 */
import type { Verb } from './words.js';

export function fishScript(verbs: readonly Verb[]): string {
  const known = verbs.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  return [
    '# Completion of countersign for fish. In ~/.config/fish/config.fish: countersign completion fish | source',
    'function __countersign_at',
    '    set -l verb',
    '    for word in (commandline -opc)',
    '        set -l longer (string join -- " " $verb $word)',
    `        if contains -- $longer ${known.join(' ')}`,
    '            set verb $longer',
    '        end',
    '    end',
    '    test "$verb" = "$argv[1]"',
    'end',
    'complete -c countersign -f',
    ...verbs.flatMap(linesOf),
    '',
  ].join('\n');
}

function linesOf({ path, commands, options, argument }: Verb): string[] {
  const here = `complete -c countersign -n ${quoted(`__countersign_at "${path}"`)}`;
  return [
    ...commands.map(({ text, description }) => `${here} -a ${text} -d ${quoted(description)}`),
    ...(typeof argument === 'object' ? [`${here} -a ${quoted(argument.join(' '))}`] : []),
    ...(argument === 'files' ? [`${here} -F`] : []),
    ...options.map(({ names, description, value }) => {
      const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
      return `${here} ${flags.join(' ')}${valueFlags(value)} -d ${quoted(description)}`;
    }),
  ];
}

function valueFlags(value: Verb['argument']): string {
  if (value === undefined) return '';
  if (value === 'files') return ' -r -F';
  return value === 'anything' ? ' -x' : ` -x -a ${quoted(value.join(' '))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
