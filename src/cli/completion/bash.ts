/**
 * Completion for bash, 3.2 and later: one function with the words of the program in it. It starts no process.
 */
import { offered, type Verb, valuesAt, type Word } from './words.js';

export function bashScript(verbs: readonly Verb[]): string {
  const known = verbs.filter(({ path }) => path !== '').map(({ path }) => `"${path}"`);
  return [
    '# Completion of countersign for bash. In ~/.bashrc: eval "$(countersign completion bash)"',
    '_countersign() {',
    `  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" verb="" words="" known="" at`,
    '  COMPREPLY=()',
    '  for ((at = 1; at < COMP_CWORD; at++)); do',
    `    case "\${verb:+$verb }\${COMP_WORDS[at]}" in`,
    `      ${known.join(' | ')}) verb="\${verb:+$verb }\${COMP_WORDS[at]}" ;;`,
    '    esac',
    '  done',
    '  case "$verb $before" in',
    ...verbs.flatMap(valueCases),
    '  esac',
    '  if [[ -z $words$known ]]; then',
    '    case "$verb" in',
    ...verbs.map(verbCase),
    '    esac',
    '  fi',
    '  # Elsewhere than at a file the names of files would only mislead; bash 3.2 shows them.',
    '  compopt +o default 2> /dev/null || true',
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    '}',
    'complete -o default -F _countersign countersign',
    '',
  ].join('\n');
}

/** Behind an option with a value: its words, the shell's own names of files, or nothing. */
function valueCases(verb: Verb): string[] {
  return valuesAt(verb).map(({ at, value }) => {
    const pattern = at.map((place) => `"${place}"`).join(' | ');
    if (value === 'files') return `    ${pattern}) return ;;`;
    return `    ${pattern}) ${value === 'anything' ? 'known=no' : `words="${value.join(' ')}"`} ;;`;
  });
}

function verbCase(verb: Verb): string {
  const { words, dashed } = offered(verb);
  const texts = (of: readonly Word[]) => of.map(({ text }) => text).join(' ');
  const first = verb.argument === 'files' ? 'return' : `words="${texts(words)}"`;
  return `      "${verb.path}") if [[ $word == -* ]]; then words="${texts(dashed)}"; else ${first}; fi ;;`;
}
