/** Setting a gate up, keeping it, and the people who sign: through the command line, with a real terminal where one is needed. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { countersign, countersignAtTerminal } from '../support/command-line.js';
import { makeDemoHome } from '../support/demo-home.js';
import { ROOT } from '../support/files.js';
import { verifies } from '../support/verifies.js';

function freshFolder(): string {
  return mkdtempSync(join(tmpdir(), 'countersign-setup-'));
}

function codeIn(shown: string): string {
  const plain = shown.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
  return /code of this key is ([0-9A-Z]{4}-[0-9A-Z]{4})/.exec(plain)?.[1] ?? '';
}

const PASSPHRASE = 'correct horse battery';

test('the version is that of the package, and a word that is no verb is a mistake of usage', async () => {
  verifies('cli.version');
  verifies('cli.usage');
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  assert.equal((await countersign(['--version'])).out.trim(), version);
  assert.equal((await countersign(['nonsense'])).exit, 2);
  assert.equal((await countersign(['action', 'show'])).exit, 2);
  const help = await countersign(['action', 'propose', '--help']);
  assert.equal(help.exit, 0);
  assert.match(help.out, /Example:\n {2}\$ countersign action propose/);
});

test('the first approver is confirmed by the code that is typed at a terminal', async () => {
  verifies('cli.terminal');
  const home = join(freshFolder(), 'home');
  const done = await countersignAtTerminal(
    ['init', '--home', home, '--name', 'mine', '--approver', 'alice'],
    [
      { after: 'A passphrase for the key', type: PASSPHRASE },
      { after: 'The same passphrase again', type: PASSPHRASE },
      { after: 'Type the code', type: codeIn },
    ],
  );
  assert.equal(done.exit, 0, done.shown);
  const { people, keys } = JSON.parse((await countersign(['approver', 'list', '--json', '--home', home])).out);
  assert.deepEqual(people[0].roles, ['approver', 'operator']);
  assert.equal(keys[0].state, 'active');
  const again = await countersign(['init', '--home', home, '--no-approver']);
  assert.match(again.err, /\[already_initialized\]/);
});

test('another code, or no terminal, confirms nobody', async () => {
  verifies('cli.terminal');
  const home = join(freshFolder(), 'home');
  const wrong = await countersignAtTerminal(
    ['init', '--home', home, '--name', 'mine', '--approver', 'alice'],
    [
      { after: 'A passphrase for the key', type: PASSPHRASE },
      { after: 'The same passphrase again', type: PASSPHRASE },
      { after: 'Type the code', type: 'AAAA-AAAA' },
    ],
  );
  assert.equal(wrong.exit, 1, wrong.shown);
  assert.match(wrong.shown, /go on with `countersign approver key alice`/);
  const listed = JSON.parse((await countersign(['approver', 'list', '--json', '--home', home])).out);
  assert.deepEqual(listed.people, []);
  const without = await countersign(['approver', 'key', 'bob', '--home', home, '--passphrase-from', 'env:HOME']);
  assert.match(without.err, /\[no_terminal\]/);
  const named = await countersign(['init', '--home', join(freshFolder(), 'home'), '--approver', 'alice']);
  assert.match(named.err, /\[no_terminal\]/);
});

test('a first approver who was not confirmed is gone on with by what the refusal says', async () => {
  verifies('cli.init.goes-on');
  const home = join(freshFolder(), 'home');
  const differing = await countersignAtTerminal(
    ['init', '--home', home, '--name', 'mine', '--approver', 'alice'],
    [
      { after: 'A passphrase for the key', type: PASSPHRASE },
      { after: 'The same passphrase again', type: 'another passphrase' },
    ],
  );
  assert.equal(differing.exit, 1, differing.shown);
  assert.match(differing.shown, /not the same[\s\S]*go on with `countersign approver key alice`/);
  const again = await countersign(['init', '--home', home, '--no-approver']);
  assert.match(again.err, /\[already_initialized\][\s\S]*`countersign doctor`/);
  const confirm = (code: string | typeof codeIn, key: boolean) =>
    countersignAtTerminal(
      ['approver', 'key', 'alice', '--home', home],
      [
        ...(key ? ['A passphrase for the key', 'The same passphrase again'] : []).map((after) => ({
          after,
          type: PASSPHRASE,
        })),
        { after: 'Type the code', type: code },
      ],
    );
  const wrong = await confirm('AAAA-AAAA', true);
  assert.match(wrong.shown, /type the code again: `countersign approver key alice`/);
  const done = await confirm(codeIn, false);
  assert.equal(done.exit, 0, done.shown);
});

test('a ledger without an approver says so in doctor, and nothing that needs a person can be proposed', async () => {
  verifies('cli.doctor');
  const folder = freshFolder();
  const home = join(folder, 'home');
  assert.equal((await countersign(['init', '--home', home, '--noop-folder', join(folder, 'effects')])).exit, 0);
  const doctor = await countersign(['doctor', '--home', home]);
  assert.equal(doctor.exit, 1);
  assert.match(doctor.out, /approvers: nobody is confirmed/);
  assert.match(doctor.out, /next: confirm the first approver with `countersign approver key NAME`/);
  const where = ['--connector', 'shell-noop', '--operation', 'send', '--project', 'web', '--target', 'x'];
  const refused = await countersign(['action', 'propose', ...where, '--args', '{"text":"x"}', '--home', home]);
  assert.match(refused.err, /\[approvers\]: nobody is confirmed yet[\s\S]*`countersign approver key NAME`/);
  const asked = await countersign(['freeze', '--home', home]);
  assert.match(asked.err, /\[approvers\][\s\S]*`countersign approver key NAME`/);
});

test('a home inside a repository, or that others may write, is refused', async () => {
  verifies('cli.location');
  const folder = freshFolder();
  execFileSync('git', ['init', '--quiet', folder]);
  const inside = await countersign(['init', '--home', join(folder, 'deep', 'home'), '--no-approver']);
  assert.equal(inside.exit, 1);
  assert.match(inside.err, /\[config_location\]/);
  const open = join(freshFolder(), 'home');
  mkdirSync(open);
  chmodSync(open, 0o777);
  const writable = await countersign(['init', '--home', open, '--no-approver']);
  assert.match(writable.err, /\[config_location\]/);
  const missing = await countersign(['inbox', '--home', join(freshFolder(), 'nothing')]);
  assert.match(missing.err, /\[not_initialized\]/);
});

test('a home that could not be finished leaves nothing behind, and what was there stays', async () => {
  verifies('app.init.clean');
  const folder = freshFolder();
  const home = join(folder, 'home');
  const init = (...more: string[]) => countersign(['init', '--no-approver', '--home', home, ...more]);
  assert.match((await init('--store', 'http://nowhere')).err, /\[config_invalid\]/);
  assert.equal((await init('--store', 'postgres://localhost:1/nothing')).exit, 70);
  assert.deepEqual(readdirSync(home).sort(), ['keys', 'work']);
  assert.deepEqual(readdirSync(join(home, 'keys')), []);
  writeFileSync(join(home, 'trust.yaml'), 'mine');
  const left = await init();
  assert.match(left.err, /\[already_initialized\].*no ledger/);
  assert.match(left.err, /move `.*trust\.yaml` away/);
  assert.equal(readFileSync(join(home, 'trust.yaml'), 'utf8'), 'mine');
  rmSync(join(home, 'trust.yaml'));
  assert.equal((await init()).exit, 0);
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const noFolder = await countersign(['init', '--no-approver', '--home', file]);
  assert.match(noFolder.err, /\[invalid\]: the home is no folder/);
  assert.match((await countersign(['inbox', '--home', ''])).err, /\[invalid\]: the home has no name/);
});

test('a further key is added, and revoked, by an operator signature', async () => {
  verifies('cli.people');
  const { home, folder, passphrase } = await makeDemoHome();
  const key = await countersign([
    'approver',
    'key',
    'bob',
    '--out',
    join(folder, 'bob.key'),
    ...passphrase,
    '--json',
    '--home',
    home,
  ]);
  assert.equal(key.exit, 0, key.err);
  const { code, request_id } = JSON.parse(key.out);
  const before = JSON.parse((await countersign(['approver', 'list', '--json', '--home', home])).out);
  assert.equal(before.people.length, 1, 'nothing changes before the signature');
  const signed = await countersign(['approver', 'sign', request_id, ...passphrase, '--home', home]);
  assert.equal(signed.exit, 0, signed.err);
  assert.ok(signed.out.includes(`code: ${code}`), 'the operator sees the code to compare');
  const replayed = await countersign(['approver', 'sign', request_id, ...passphrase, '--home', home]);
  assert.match(replayed.err, /\[replay\]/);
  const after = JSON.parse((await countersign(['approver', 'list', '--json', '--home', home])).out);
  const bob = after.keys.find((one: { person: string }) => one.person === 'human:bob');
  assert.equal(bob.state, 'active');
  const revoke = await countersign(['approver', 'revoke', bob.key_id, '--json', '--home', home]);
  const revokeId = JSON.parse(revoke.out).request.request_id;
  assert.equal((await countersign(['approver', 'sign', revokeId, ...passphrase, '--home', home])).exit, 0);
  const last = JSON.parse((await countersign(['approver', 'list', '--json', '--home', home])).out);
  assert.equal(last.keys.find((one: { person: string }) => one.person === 'human:bob').state, 'revoked');
  for (const unknown of ['human:carol', `sha256:${'0'.repeat(64)}`]) {
    assert.match((await countersign(['approver', 'revoke', unknown, '--home', home])).err, /\[not_found\]/);
  }
});

test('the key of somebody who was removed is shown as void, and the last operator is asked about by nobody', async () => {
  verifies('cli.people.removed');
  const { home, folder, passphrase } = await makeDemoHome();
  const run = (...words: string[]) => countersign([...words, '--home', home]);
  const key = await run('approver', 'key', 'bob', '--out', join(folder, 'bob.key'), ...passphrase, '--json');
  assert.equal((await run('approver', 'sign', JSON.parse(key.out).request_id, ...passphrase)).exit, 0);
  const removal = JSON.parse((await run('approver', 'revoke', 'bob', '--json')).out);
  assert.equal((await run('approver', 'sign', removal.request.request_id, ...passphrase)).exit, 0);
  const { out } = await run('approver', 'list');
  assert.match(out, /human:bob.*removed.*void, software key/);
  assert.match(out, /human:alice.*active, software key/);
  const last = await run('approver', 'revoke', 'alice');
  assert.match(last.err, /\[approvers\]: this is the last operator[\s\S]*approver invite NAME --role operator/);
});

test('a changed configuration is shown, signed, and active from then on', async () => {
  verifies('cli.config');
  const { home, passphrase } = await makeDemoHome();
  const file = join(home, 'trust.yaml');
  assert.match((await countersign(['config', 'diff', '--home', home])).out, /is the active version/);
  writeFileSync(file, readFileSync(file, 'utf8').replace('quorum: 1', 'quorum: 1\n    expires: 2h'));
  const diff = await countersign(['config', 'diff', '--home', home]);
  assert.match(diff.out, /approvals/);
  assert.match((await countersign(['doctor', '--home', home])).out, /configuration: the file differs/);
  const asked = JSON.parse((await countersign(['config', 'apply', '--json', '--home', home])).out);
  assert.equal(
    (await countersign(['approver', 'sign', asked.request.request_id, ...passphrase, '--home', home])).exit,
    0,
  );
  const { config } = JSON.parse((await countersign(['policy', 'show', '--json', '--home', home])).out);
  assert.equal(config.approvals[0].expires, 7_200_000);
  writeFileSync(file, 'version: 1\nname: x\nmode: enforce\nmood: good\n');
  const broken = await countersign(['config', 'diff', '--home', home]);
  assert.match(broken.err, /\[config_invalid\].*unknown key `mood`/);
});

test('a backup can be put back, and nothing is launched until an operator accepts it', async () => {
  verifies('cli.backup');
  const { home, folder, passphrase } = await makeDemoHome();
  const run = (...words: string[]) => countersign([...words, '--home', home]);
  const where = [
    '--connector',
    'shell-noop',
    '--operation',
    'note',
    '--project',
    'web',
    '--target',
    'x',
    '--by',
    'agent:bot',
  ];
  const note = (text: string) => run('action', 'propose', ...where, '--args', JSON.stringify({ text }));
  const first = (await note('first')).out.trim();
  const file = join(folder, 'backup.sqlite');
  assert.equal((await run('backup', file)).exit, 0);
  assert.match((await run('backup', file)).err, /\[invalid\]/);
  assert.match((await run('backup', join(folder, 'nowhere', 'copy'))).err, /\[invalid\]: there is no folder/);
  assert.equal((await run('action', 'execute', first)).exit, 0);
  const restored = await run('restore', file, '--json');
  assert.equal(restored.exit, 0, restored.err);
  assert.match((await run('action', 'execute', first)).err, /\[ledger_rolled_back\]/);
  const { request } = JSON.parse(restored.out);
  assert.equal((await run('approver', 'sign', request.request_id, ...passphrase)).exit, 0);
  const state = JSON.parse((await run('action', 'show', first, '--json')).out);
  assert.equal(state.state, 'unknown', 'nobody knows what it did since the backup');
  assert.match((await run('action', 'execute', first)).err, /\[decision_required\]/);
  const second = (await note('second')).out.trim();
  assert.equal((await run('action', 'execute', second)).exit, 0);
  assert.equal((await run('audit', 'verify')).exit, 0);
  assert.match((await run('restore', join(folder, 'nothing'))).err, /\[not_found\]/);
});

test('the demonstration runs every step, and leaves a folder to go on with', async () => {
  verifies('cli.demo');
  const folder = join(freshFolder(), 'demo');
  const ran = await countersign(['demo', '--folder', folder]);
  assert.equal(ran.exit, 0, ran.out + ran.err);
  for (const text of ['refused [receipt_required]', 'refused [subject_mismatch]', 'DEMO LEDGER', 'exit 4', 'exit 70']) {
    assert.ok(ran.out.includes(text), `the demonstration shows ${text}`);
  }
  // What it says to go on with runs in a shell that has no `countersign` on its path.
  const farewell = ran.out.slice(ran.out.indexOf('Go on with it')).split('\n').slice(1, 5).join('\n');
  assert.match(farewell, /^ {2}alias countersign=/);
  const wentOn = execFileSync('bash', ['-O', 'expand_aliases', '-c', `set -e\n${farewell}`], { encoding: 'utf8' });
  assert.match(wentOn, /outcome|approval|signature|nothing/);
  assert.match((await countersign(['action', 'list', '--home', join(folder, 'home')])).out, /confirmed/);
  const failed = await countersign(['action', 'list', '--state', 'failed', '--home', join(folder, 'home')]);
  assert.deepEqual([failed.out, failed.err], ['', 'no such actions\n'], 'an empty list says so');
  assert.match((await countersign(['demo', '--folder', folder])).err, /\[already_initialized\]/);
  execFileSync('git', ['init', '--quiet', join(folder, 'other')]);
  assert.match((await countersign(['demo', '--folder', join(folder, 'other')])).err, /\[config_location\]/);
  assert.deepEqual(readdirSync(join(folder, 'other')), ['.git'], 'nothing was made');
});
