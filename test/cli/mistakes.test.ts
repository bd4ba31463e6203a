/** What a person mistypes is a refusal with advice, no fault; and no error says again what was typed in the place of a name. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { countersign } from '../support/command-line.js';
import { type DemoHome, makeDemoHome } from '../support/demo-home.js';
import { TRUST } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const SECRET = 'sk_live_ZQXMARK4eC39HqLyjWDarjtT1zdp7dc';

let demo: DemoHome;
let folder = '';
before(async () => {
  demo = await makeDemoHome();
  folder = mkdtempSync(join(tmpdir(), 'countersign-mistakes-'));
  writeFileSync(join(folder, 'file'), 'no folder');
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(demo.folder, { recursive: true, force: true });
});

const run = (...words: string[]) => countersign([...words, '--json'], { environment: { COUNTERSIGN_HOME: demo.home } });

/** The refusal that a command line ends with. */
async function refusal(...words: string[]): Promise<{ code: string; message: string; path?: string; next: string }> {
  const { exit, err } = await run(...words);
  assert.equal(exit, 1, `${words.join(' ').slice(0, 200)}: ${err}`);
  return JSON.parse(err).error;
}

let count = 0;
function init(...options: string[]): string[] {
  count += 1;
  return ['init', '--home', join(folder, `home-${count}`), '--no-approver', ...options];
}

it('a path where no folder or file can be made is refused with advice', async () => {
  verifies('cli.mistakes.paths');
  const paths = [
    join(folder, 'file'),
    join(folder, 'file', 'below'),
    join(folder, 'x'.repeat(300)),
    '/dev/null',
    '/proc/none',
  ];
  for (const path of paths) {
    const cases = [
      [init('--noop-folder', path), 'noop-folder'],
      [['demo', '--folder', path], 'folder'],
      [['init', '--no-approver', '--home', path], 'home'],
    ] as const;
    // A device that everybody may write is no home for another reason.
    for (const [words, option] of path === '/dev/null' ? cases.slice(0, 2) : cases) {
      const { code, path: named, next } = await refusal(...words);
      assert.deepEqual([code, named], ['invalid', option], words.join(' '));
      assert.match(next, /name a folder/);
    }
    if (path !== '/dev/null') assert.equal((await refusal('backup', join(path, 'copy'))).code, 'invalid', path);
    assert.equal((await refusal('backup', path)).code, 'invalid', path);
  }
  assert.ok(!existsSync(join(folder, 'home-1')), 'nothing of a home is made before');
});

it('a store that no URL names is refused with advice, before anything is made', async () => {
  verifies('cli.mistakes.store');
  const stores = [
    'file:',
    `file:${join(folder, 'absent')}`,
    `file:${folder}`,
    'env:NOT_SET',
    'env:not-a-name',
    'postgres://',
    'http://x',
    'x',
    '',
  ];
  for (const store of stores) {
    const asked = init('--store', store);
    const { code, path, next, message } = await refusal(...asked);
    assert.deepEqual([code, path], ['config_invalid', 'store'], store);
    const unset = { 'env:NOT_SET': 'the variable NOT_SET', 'env:not-a-name': 'a variable that is not set' }[store];
    assert.ok(message.includes(unset ?? ''), message);
    assert.ok(!message.includes('not-a-name'), message);
    assert.match(next, /postgres:\/\/HOST\/DATABASE/);
    assert.ok(!existsSync(asked[2] ?? ''), `${store}: no home is left`);
    assert.equal((await refusal('migrate', '--to', store)).code, 'config_invalid', store);
  }
});

it('a refusal that speaks of a field says which one, to people as well', async () => {
  verifies('cli.mistakes.field');
  const home = ['--home', demo.home];
  const list = await countersign(['action', 'list', '--limit', '0', ...home]);
  assert.match(list.err, /\[invalid\]: a page has 1 to 200 rows\n {2}field: limit\n {2}next: correct the named field/);
  const named = await countersign(['action', 'show', 'act_no', ...home]);
  assert.ok(!named.err.includes('field:'), named.err);
});

it('what is typed in the place of a name is not said again', async () => {
  verifies('cli.mistakes.echo');
  const odd = [SECRET, '\u202egnp.exe', `{"password":"${SECRET}"}`, 'a b', '\u001b[31m', `postgres://u:${SECRET}@h/d`];
  for (const typed of odd) {
    const all = [
      await refusal('freeze', '--for', typed),
      await refusal('unfreeze', '--for', typed),
      await refusal('action', 'request', 'act_01JDXW3Q4R8Y2M5N7P9S0T0001', '--approver', typed),
      await refusal('action', 'finding', 'act_01JDXW3Q4R8Y2M5N7P9S0T0001', ...finding, '--approver', typed),
      await refusal('standing', 'request', '--file', grantFile(), '--signer', typed),
      ...(typed === SECRET ? [] : [await refusal(...init('--agent', typed))]),
    ];
    for (const error of all) assert.ok(!JSON.stringify(error).includes(JSON.stringify(typed).slice(1, -1)), typed);
  }
});

const finding = ['--outcome', 'failed', '--evidence', 'x'];

function grantFile(): string {
  const path = join(folder, 'grant.json');
  writeFileSync(path, '{}');
  return path;
}

it('an unknown key is named where it is a word, and else by its line alone', async () => {
  verifies('cli.mistakes.keys');
  const file = join(folder, 'draft.yaml');
  const checked = async (more: string) => {
    writeFileSync(file, `${TRUST}${more}\n`);
    return refusal('policy', 'check', file);
  };
  assert.match((await checked('mood: good')).message, /^line \d+: `configuration`: unknown key `mood`$/);
  for (const key of [SECRET, '"\\u202egnp"', '"two words"', '"\\e[31m"']) {
    const { code, message } = await checked(`${key}: x`);
    assert.equal(code, 'config_invalid');
    assert.match(message, /^line 12: `configuration`: unknown key$/, key);
    for (const part of ['groups', 'connectors']) {
      const { message, path = '' } = await checked(`${part}:\n  ${key}: 5`);
      assert.match(message, /^line 1[23]: `(?:groups|connectors)/, key);
      assert.ok(!/\u202e|two words|\u001b/.test(message + path), message);
    }
  }
});

it('JSON for a program is ASCII: nothing in it can hide on a terminal', async () => {
  verifies('cli.mistakes.ascii');
  const { err } = await countersign(['inbox', '--json', '--home', join(folder, '\u202egnp\u009b')]);
  assert.match(err, /^[ -~]+\n$/);
  assert.match(JSON.parse(err).error.message, /\u202egnp\u009b/);
});
