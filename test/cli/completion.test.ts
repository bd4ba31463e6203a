/** The scripts that complete words in a shell, in the shells themselves where they are installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Command } from 'commander';
import { buildProgram } from '../../src/cli/program.js';
import { countersign } from '../support/command-line.js';
import { verifies } from '../support/verifies.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
const folder = mkdtempSync(join(tmpdir(), 'countersign-completion-'));
const program = buildProgram({ out: () => undefined, err: () => undefined }, { exit: 0 });

before(async () => {
  for (const shell of SHELLS) {
    const { exit, out, err } = await countersign(['completion', shell]);
    assert.equal(exit, 0, err);
    writeFileSync(join(folder, shell), out);
  }
});

/** What a shell says to a line of its own language; undefined where it is not installed. */
function inShell(shell: string, line: string): string | undefined {
  const ran = spawnSync(shell, ['-c', line], { cwd: folder, encoding: 'utf8' });
  if (ran.error !== undefined) return undefined;
  assert.equal(ran.stderr, '', line);
  return ran.stdout;
}

/** What bash offers for the last word of a line; `files` where it leaves the word to its own names of files. */
function bashOffers(...words: string[]): readonly string[] {
  const line = [
    'compopt() { names=no; }; names=yes; source ./bash',
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _countersign`,
    `if [[ -z "\${COMPREPLY[*]}" && $names == yes ]]; then echo files; else printf "%s\\n" "\${COMPREPLY[@]}"; fi`,
  ].join('\n');
  return (inShell('bash', line) ?? '').split('\n').filter((word) => word !== '');
}

function* placesOf(
  command: Command,
  path: readonly string[],
): Generator<{ command: Command; path: readonly string[] }> {
  yield { command, path };
  for (const inner of command.commands) yield* placesOf(inner, [...path, inner.name()]);
}

test('bash completes every command and option of the program at its place', () => {
  verifies('cli.completion');
  let count = 0;
  for (const { command, path } of placesOf(program, ['countersign'])) {
    const commands = command.commands.map((inner) => inner.name());
    const options = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long);
    if (commands.length > 0) assert.deepEqual(bashOffers(...path, ''), [...commands, 'help'], path.join(' '));
    for (const option of [...options, '--help']) {
      assert.ok(bashOffers(...path, '--').includes(option ?? ''), `${path.join(' ')} ${option}`);
    }
    count += 1;
  }
  assert.ok(count > 30);
});

test('bash completes what has been begun, the choices of a value, and files where a file stands', () => {
  verifies('cli.completion');
  assert.deepEqual(bashOffers('countersign', 'act'), ['action']);
  assert.deepEqual(bashOffers('countersign', 'action', 'propose', '--class', 're'), ['read', 'reversible']);
  assert.deepEqual(bashOffers('countersign', 'completion', ''), [...SHELLS]);
  assert.deepEqual(bashOffers('countersign', 'action', 'approve', '--receipt', ''), ['files']);
  assert.deepEqual(bashOffers('countersign', 'backup', ''), ['files']);
  assert.deepEqual(bashOffers('countersign', 'action', 'list', '--project', ''), [], 'nobody knows a project');
  assert.deepEqual(bashOffers('countersign', 'action', 'list', '--project', 'show', '--st'), ['--state']);
  assert.deepEqual(bashOffers('countersign', 'nonsense', '--js'), []);
});

test('fish completes the same', () => {
  verifies('cli.completion');
  const offers = (line: string) => inShell('fish', `source ./fish; complete -C '${line}'`)?.split('\n');
  const words = (line: string) => offers(line)?.flatMap((offer) => (offer === '' ? [] : [offer.split('\t')[0]]));
  if (words('countersign ') === undefined) return checkText('fish');
  const actions = program.commands.find((command) => command.name() === 'action')?.commands.map((one) => one.name());
  assert.deepEqual(words('countersign action '), [...(actions ?? []), 'help'].sort());
  assert.deepEqual(words('countersign action propose --class re'), ['read', 'reversible']);
  assert.deepEqual(words('countersign action list --s'), ['--state']);
  assert.deepEqual(words('countersign completion '), [...SHELLS].sort());
  assert.ok(words('countersign backup ')?.includes('bash'), 'a file of this folder');
  assert.deepEqual(words('countersign action list --project '), []);
});

test('zsh completes the same', () => {
  verifies('cli.completion');
  const stubs = 'compdef() { :; }; _files() { echo files; }; compadd() { shift; print -l -- "$@"; }';
  const describe = `_describe() { print -l -- "\${(@)found%%:*}"; }`;
  const words = (...line: string[]) => {
    const at = `words=(${line.map((word) => `'${word}'`).join(' ')}); CURRENT=${line.length}; _countersign`;
    return inShell('zsh', `${stubs}; ${describe}; source ./zsh; ${at} || true`)?.split('\n').slice(0, -1);
  };
  if (words('countersign', '') === undefined) return checkText('zsh');
  const nouns = program.commands.map((command) => command.name());
  assert.deepEqual(words('countersign', ''), [...nouns, 'help']);
  assert.deepEqual(words('countersign', 'action', 'propose', '--class', ''), [
    'read',
    'reversible',
    'irreversible',
    'costly',
  ]);
  assert.ok(words('countersign', 'action', 'list', '-')?.includes('--state'));
  assert.deepEqual(words('countersign', 'backup', ''), ['files']);
  assert.deepEqual(words('countersign', 'action', 'list', '--project', ''), []);
});

/** Where a shell is not installed: its script has every verb in it, and every quotation ends. */
async function checkText(shell: 'zsh' | 'fish'): Promise<void> {
  const { out } = await countersign(['completion', shell]);
  for (const { path } of placesOf(program, [])) {
    if (path.length > 0) assert.ok(out.includes(`'${path.join(' ')}'`), path.join(' '));
  }
  for (const line of out.split('\n').filter((one) => !one.startsWith('#'))) {
    const marks = line.replaceAll("'\\''", '').replaceAll("\\'", '').match(/'/g) ?? [];
    assert.equal(marks.length % 2, 0, line);
  }
}

test('a shell that is not known is a mistake of usage, and the script is one value with --json', async () => {
  verifies('cli.completion');
  assert.equal((await countersign(['completion', 'tcsh'])).exit, 2);
  const { out } = await countersign(['completion', 'bash', '--json']);
  assert.equal(JSON.parse(out).shell, 'bash');
  assert.match(JSON.parse(out).script, /complete .* countersign/);
});
