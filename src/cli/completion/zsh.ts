/**
 * Completion for zsh: one function with the words of the program and what they mean. It starts no process.
 */
import { offered, type Verb, valuesAt, type Word } from './words.js';

export function zshScript(verbs: readonly Verb[]): string {
  const known = verbs.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
  return [
    '#compdef countersign',
    '# Completion of countersign for zsh. In ~/.zshrc, behind compinit: eval "$(countersign completion zsh)"',
    '_countersign() {',
    `  local verb="" word="\${words[CURRENT]}" before="\${words[CURRENT-1]}" at`,
    '  local -a found',
    '  for ((at = 2; at < CURRENT; at++)); do',
    `    case "\${verb:+$verb }\${words[at]}" in`,
    `      (${known.join('|')}) verb="\${verb:+$verb }\${words[at]}" ;;`,
    '    esac',
    '  done',
    '  case "$verb $before" in',
    ...verbs.flatMap(valueCases),
    '  esac',
    '  case "$verb" in',
    ...verbs.map(verbCase),
    '  esac',
    "  _describe 'countersign' found",
    '}',
    '# Read by eval it is registered; as a file of fpath it is called.',
    `if [[ "\${funcstack[1]}" == _countersign ]]; then _countersign "$@"; else compdef _countersign countersign; fi`,
    '',
  ].join('\n');
}

function valueCases(verb: Verb): string[] {
  return valuesAt(verb).map(({ at, value }) => {
    const pattern = `(${at.map((place) => `'${place}'`).join('|')})`;
    if (value === 'files') return `    ${pattern} _files; return ;;`;
    if (value === 'anything') return `    ${pattern} return 1 ;;`;
    return `    ${pattern} compadd -- ${value.join(' ')}; return ;;`;
  });
}

function verbCase(verb: Verb): string {
  const { words, dashed } = offered(verb);
  const first = verb.argument === 'files' ? '_files; return' : `found=(${words.map(quoted).join(' ')})`;
  const behindDash = `found=(${dashed.map(quoted).join(' ')})`;
  return `    ('${verb.path}') if [[ "$word" == -* ]]; then ${behindDash}; else ${first}; fi ;;`;
}

/** A word with its meaning, as `_describe` reads it: a colon between them. */
function quoted({ text, description }: Word): string {
  return `'${text}${description === '' ? '' : `:${description.replaceAll("'", "'\\''")}`}'`;
}
