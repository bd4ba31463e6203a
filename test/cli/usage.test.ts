/** What is not understood: refused in the same shape as everything else, and never answered with an empty list. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { countersign } from '../support/command-line.js';
import { type DemoHome, makeDemoHome } from '../support/demo-home.js';
import { codeOf, memoryWorld, proposed } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

let made: DemoHome;
before(async () => {
  made = await makeDemoHome();
});

const SECRET = "it's a\nsecret";

/** What was typed, what is said of it, and the help that is named. */
const MISTAKES: readonly (readonly [readonly string[], string, string])[] = [
  [['nonsense'], 'unknown command `nonsense`', 'countersign --help'],
  [['acton', 'list'], 'unknown command `acton` (did you mean action?)', 'countersign --help'],
  [['action', 'show'], 'missing required argument `action`', 'countersign action show --help'],
  [
    ['action', 'show', 'a', SECRET],
    'too many arguments for `show`: expected 1 argument but got 2',
    'action show --help',
  ],
  [['action', 'list', '--stat'], 'unknown option `--stat` (did you mean --state?)', 'countersign action list --help'],
  [['action', 'list', `--token=${SECRET}`], 'unknown option `--token`', 'countersign action list --help'],
  [['inbox', '--for'], 'option `--for <person>` argument missing', 'countersign inbox --help'],
  [['action', 'finding', 'x'], 'required option `--outcome <outcome>` not specified', 'action finding --help'],
  [
    ['action', 'propose', '--class', SECRET],
    'the value of `--class <class>` is none of read, reversible, irreversible, costly',
    'action propose --help',
  ],
  [['completion', SECRET], '`shell` is none of bash, zsh, fish', 'countersign completion --help'],
];

test('a mistake of usage is a refusal, as text and as JSON', async () => {
  verifies('cli.usage.refused');
  for (const [words, message, help] of MISTAKES) {
    const said = await countersign(words);
    assert.deepEqual([said.exit, said.out], [2, '']);
    assert.ok(said.err.startsWith(`refused [usage]: ${message}\n`), said.err);
    assert.ok(said.err.trimEnd().endsWith(`${help}\``), said.err);
    // An option in front, where the last word wants a value of its own.
    const at = words.findIndex((word) => word.startsWith('--'));
    const typed = at < 0 ? [...words, '--json'] : [...words.slice(0, at), '--json', ...words.slice(at)];
    const { exit, out, err } = await countersign(typed);
    assert.deepEqual([exit, out], [2, '']);
    const { error } = JSON.parse(err);
    assert.deepEqual(Object.keys(error), ['code', 'message', 'next']);
    assert.deepEqual([error.code, error.message], ['usage', message]);
    assert.ok(!err.includes('secret'), 'no value is repeated');
  }
});

test('help for a missing command is for people; a program is told what is missing', async () => {
  verifies('cli.usage.refused');
  const shown = await countersign(['action']);
  assert.equal(shown.exit, 2);
  assert.match(shown.err, /^Usage: countersign action/);
  const told = await countersign(['--json']);
  assert.equal(told.exit, 2);
  assert.equal(JSON.parse(told.err).error.code, 'usage');
  assert.equal((await countersign(['action', '--help', '--json'])).exit, 0);
  const behind = await countersign(['action', 'show', 'a', 'b', '--', '--json']);
  assert.match(behind.err, /^refused \[usage\]/, 'behind two dashes it is no option');
});

test('a state, a person or a cursor that there is not is refused with what there is', async () => {
  verifies('cli.list.known');
  const run = (...words: string[]) => countersign([...words, '--home', made.home]);
  const states = 'proposed, approved, launched, confirmed, failed, unknown, cancelled';
  for (const state of ['running', 'Proposed', '']) {
    const { exit, err } = await run('action', 'list', '--state', state);
    assert.equal(exit, 2);
    assert.ok(err.includes(`is none of ${states}`), err);
  }
  assert.equal((await run('action', 'list', '--state', 'proposed', '--state', 'unknown')).exit, 0);
  for (const person of ['alice', 'agent:bot', 'human:', 'human:a b']) {
    const { exit, err } = await run('inbox', '--for', person);
    assert.equal(exit, 1);
    assert.match(err, /\[invalid\]: a person is named `human:NAME`/);
  }
  for (const cursor of ['x', 'act_01JD0000000000000000000000', '0000000000000000 act_01JD0000000000000000000000']) {
    assert.match((await run('action', 'list', '--after', cursor)).err, /\[invalid\].*cursor/);
  }
});

test('a page is asked for by a whole number of rows within its bound', async () => {
  verifies('cli.list.bounds');
  const run = (...words: string[]) => countersign([...words, '--home', made.home]);
  const most = { inbox: 1_000, 'action list': 200, 'package list': 200 };
  for (const [list, rows] of Object.entries(most)) {
    const words = list.split(' ');
    assert.equal((await run(...words, '--limit', String(rows))).exit, 0, list);
    for (const odd of ['0', String(rows + 1)]) {
      assert.match(
        (await run(...words, '--limit', odd)).err,
        new RegExp(`\\[invalid\\]: a page has 1 to ${rows} rows`),
      );
    }
    for (const odd of ['1e2', '0x10', ' 5', '5.0', '-1', '']) {
      assert.match(
        (await run(...words, `--limit=${odd}`)).err,
        /\[invalid\]: `--limit` is a whole number of rows/,
        odd,
      );
    }
  }
});

test('the library refuses the same', async () => {
  verifies('cli.list.known');
  const world = await memoryWorld();
  const first = await proposed(world);
  const second = await proposed(world, { args: { text: 'second' } });
  const { next } = await world.gate.list({ limit: 1 });
  assert.equal(next, second);
  assert.deepEqual(
    (await world.gate.list({ limit: 1, after: second })).rows.map(({ id }) => id),
    [first],
  );
  assert.equal(await codeOf(world.gate.list({ after: 'act_01JD0000000000000000000000' })), 'invalid');
  assert.equal(await codeOf(world.gate.list({ after: '' })), 'invalid');
  assert.equal(await codeOf(world.gate.list({ states: ['proposed', 'toString'] })), 'invalid');
  assert.equal(await codeOf(world.gate.decisions('alice')), 'invalid');
  assert.deepEqual(await world.gate.list({ states: [] }), { rows: [] });
});
