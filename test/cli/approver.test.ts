/** The people who sign, through the command line: several requests at once, away, passkeys, recovery at a terminal. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { homeAt, keyPath, open } from '../../src/app/index.js';
import { authenticator, passkeyReceipt } from '../support/authenticator.js';
import { countersign, countersignAtTerminal } from '../support/command-line.js';
import { type DemoHome, makeDemoHome } from '../support/demo-home.js';
import { verifies } from '../support/verifies.js';

const WHERE = ['--connector', 'shell-noop', '--operation', 'send', '--project', 'web', '--target', 'x'];

/** Runs a verb in a home and answers its JSON. */
async function told({ home }: DemoHome, ...words: string[]) {
  const ran = await countersign([...words, '--json', '--home', home]);
  assert.equal(ran.exit, 0, ran.err);
  return JSON.parse(ran.out);
}

async function requested(demo: DemoHome, text: string): Promise<{ request_id: string; subject: string }> {
  const args = JSON.stringify({ text });
  const asked = await told(demo, 'action', 'propose', ...WHERE, '--by', 'agent:bot', '--args', args);
  return (await told(demo, 'action', 'request', asked.action_id)).request;
}

test('a damaged key file is named before its passphrase is asked for, with the way to another one', async () => {
  verifies('cli.keys.damaged');
  const demo = await makeDemoHome();
  const { request_id } = await requested(demo, 'a letter');
  const path = keyPath(homeAt(demo.home, {}), 'human:alice');
  const text = readFileSync(path, 'utf8');
  for (const damaged of ['', 'no JSON', '{}', text.slice(0, 100)]) {
    writeFileSync(path, damaged);
    const { exit, err } = await countersign(['approver', 'sign', request_id, '--home', demo.home]);
    assert.equal(exit, 1);
    assert.ok(err.includes(`refused [format]: \`${path}\`: this is no key file, or a damaged one`), err);
    assert.match(err, /put your copy of the key file back/);
  }
  writeFileSync(path, text);
  assert.equal((await countersign(['approver', 'sign', request_id, ...demo.passphrase, '--home', demo.home])).exit, 0);
});

test('several requests are shown in full and signed with one passphrase', { timeout: 120_000 }, async () => {
  verifies('receipts.batch.cli');
  const demo = await makeDemoHome();
  const { home, passphrase } = demo;
  const requests = [await requested(demo, 'first letter'), await requested(demo, 'second letter')];
  const ids = requests.map(({ request_id }) => request_id);
  const sign = (...more: string[]) => countersign(['approver', 'sign', ...ids, ...passphrase, '--home', home, ...more]);
  assert.match((await sign(ids[0] as string)).err, /\[usage\]/);
  assert.match((await sign('--out', join(demo.folder, 'receipt'))).err, /\[usage\]/);
  const signed = await sign();
  assert.equal(signed.exit, 0, signed.err);
  assert.match((await sign()).err, /\[replay\]/);
  for (const { subject } of requests) {
    assert.ok(signed.out.includes(subject), 'the summary of each is shown');
    assert.equal((await countersign(['action', 'fetch-receipt', subject, '--home', home])).exit, 0);
    assert.equal((await countersign(['action', 'execute', subject, '--home', home])).exit, 0);
  }
  const more = [await requested(demo, 'third'), await requested(demo, 'fourth')];
  const both = more.map(({ request_id }) => request_id);
  const denied = await countersign(['approver', 'sign', ...both, '--deny', ...passphrase, '--home', home]);
  assert.equal(denied.exit, 0, denied.err);
  for (const { subject } of more) assert.equal((await told(demo, 'action', 'show', subject)).state, 'cancelled');
  assert.equal((await countersign(['audit', 'verify', '--home', home])).exit, 0);
});

test('somebody goes away and comes back by their own signature, and the list shows it', async () => {
  verifies('receipts.away.shown');
  const demo = await makeDemoHome();
  const { home, passphrase } = demo;
  const until = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
  const asked = await told(demo, 'approver', 'away', 'alice', '--until', until);
  assert.equal(asked.request.approver, 'human:alice');
  assert.equal(
    (await countersign(['approver', 'sign', asked.request.request_id, ...passphrase, '--home', home])).exit,
    0,
  );
  const listed = await countersign(['approver', 'list', '--home', home]);
  assert.ok(listed.out.includes(`away until ${until}T00:00:00.000Z`), listed.out);
  assert.match(listed.out, /active, software key/);
  assert.match(
    (await countersign(['doctor', '--home', home])).out,
    /1 confirmed; software keys: 1, passkeys: 0; away: 1/,
  );
  const back = await told(demo, 'approver', 'back', 'alice');
  assert.equal(
    (await countersign(['approver', 'sign', back.request.request_id, ...passphrase, '--home', home])).exit,
    0,
  );
  assert.equal((await told(demo, 'approver', 'list')).people[0].away, null);
  for (const wrong of ['tomorrow', '2027-02-30', '2027-1-1', '2027-01-01T25:00Z', '1e9', '']) {
    const refused = await countersign(['approver', 'away', 'alice', '--until', wrong, '--home', home]);
    assert.match(refused.err, /\[usage\]/, wrong);
  }
  assert.match((await countersign(['approver', 'away', 'zoe', '--until', until, '--home', home])).err, /\[not_found\]/);
});

test('a passkey is registered by its code, and its receipt approves', async () => {
  verifies('receipts.webauthn.gate');
  const demo = await makeDemoHome();
  const { home, folder, passphrase } = demo;
  const trust = readFileSync(join(home, 'trust.yaml'), 'utf8');
  const pages = trust.replace('rp_id: localhost', 'rp_id: example.org');
  writeFileSync(join(home, 'trust.yaml'), pages.replace('http://localhost:8787', 'https://gate.example.org'));
  const sign = (id: string) => countersign(['approver', 'sign', id, ...passphrase, '--home', home]);
  const applied = await told(demo, 'config', 'apply');
  assert.equal((await sign(applied.request.request_id)).exit, 0);
  const bob = authenticator('human:bob');
  const key = ['--credential', bob.credential, '--public-key', bob.publicKey];
  const weak = ['--credential', bob.credential, '--public-key', bob.publicKey.replace('0326', '0338')];
  assert.match((await countersign(['approver', 'passkey', 'bob', ...weak, '--home', home])).err, /\[invalid\].*P-256/);
  const asked = await told(demo, 'approver', 'passkey', 'bob', ...key);
  const signed = await sign(asked.request_id);
  assert.equal(signed.exit, 0, signed.err);
  assert.ok(signed.out.includes(`code: ${asked.code}`));
  assert.match((await countersign(['approver', 'list', '--home', home])).out, /active, passkey \(ES256\)/);
  const args = ['--args', '{"text":"by passkey"}', '--by', 'agent:bot'];
  const { action_id } = await told(demo, 'action', 'propose', ...WHERE, ...args);
  const { request } = await told(demo, 'action', 'request', action_id, '--approver', 'human:bob');
  const file = join(folder, 'receipt.json');
  writeFileSync(file, JSON.stringify(passkeyReceipt(bob, request)));
  assert.equal((await countersign(['action', 'approve', action_id, '--receipt', file, '--home', home])).exit, 0);
  const checked = await countersign(['receipt', 'verify', file, '--home', home]);
  assert.match(checked.out, /by a passkey, on a page with a certificate/);
  const offline = ['receipt', 'verify', file, '--public-key', bob.publicKey, '--home', home];
  assert.match((await countersign(offline)).err, /\[method_refused\]/);
  assert.equal((await countersign(['action', 'execute', action_id, '--home', home])).exit, 0);
  assert.equal((await countersign(['audit', 'verify', '--home', home])).exit, 0);
});

function codeIn(shown: string): string {
  const plain = shown.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
  return /code of this key is ([0-9A-Z]{4}-[0-9A-Z]{4})/.exec(plain)?.[1] ?? '';
}

test('a ledger is recovered at a terminal alone, while no gate is open', { timeout: 180_000 }, async () => {
  verifies('receipts.recover.terminal');
  verifies('receipts.recover.shown');
  const demo = await makeDemoHome();
  const { home } = demo;
  const before = await requested(demo, 'asked before');
  const words = ['approver', 'recover', 'alice', '--home', home];
  assert.match((await countersign([...words, ...demo.passphrase])).err, /\[no_terminal\]/);
  const ceremony = (type: string | ((shown: string) => string)) =>
    countersignAtTerminal(words, [
      { after: 'A passphrase for the new key', type: 'a new passphrase' },
      { after: 'The same passphrase again', type: 'a new passphrase' },
      { after: 'Type the code', type },
    ]);
  const gate = await open({ home });
  const busy = await countersignAtTerminal(words, []);
  assert.match(busy.shown, /\[busy\]/);
  await gate.close();
  const wrong = await ceremony('AAAA-AAAA');
  assert.equal(wrong.exit, 1, wrong.shown);
  assert.match(wrong.shown, /\[forbidden\]/);
  const path = keyPath(homeAt(home, {}), 'human:alice');
  const files = () => readdirSync(join(home, 'keys')).filter((name) => name.startsWith('alice'));
  assert.deepEqual(files(), ['alice.key'], 'nothing is left of it');
  const done = await ceremony(codeIn);
  assert.equal(done.exit, 0, done.shown);
  assert.equal(files().length, 2, 'the key file before is kept');
  const passphrase = join(demo.folder, 'new');
  writeFileSync(passphrase, 'a new passphrase', { mode: 0o600 });
  const sign = (id: string) =>
    countersign(['approver', 'sign', id, '--key', path, '--passphrase-from', `file:${passphrase}`, '--home', home]);
  assert.notEqual((await sign(before.request_id)).exit, 0, 'what was asked before is void');
  const after = await requested(demo, 'asked after');
  assert.equal((await sign(after.request_id)).exit, 0);
  const verified = await countersign(['audit', 'verify', '--home', home]);
  assert.equal(verified.exit, 0, verified.err);
  assert.match(verified.out, /recovered at the terminal for human:alice on \d{4}-/);
  assert.match((await countersign(['doctor', '--home', home])).out, /recovered: human:alice was confirmed again/);
  assert.match((await countersign(['approver', 'list', '--home', home])).out, /revoked, software key/);
});
