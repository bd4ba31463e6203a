/** The main job through the command line, as a user drives it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { countersign, type Ran } from '../support/command-line.js';
import { type DemoHome, makeDemoHome } from '../support/demo-home.js';
import { ROOT } from '../support/files.js';
import { verifies } from '../support/verifies.js';

let made: DemoHome;
before(async () => {
  made = await makeDemoHome();
});

function run(...words: string[]): Promise<Ran> {
  return countersign([...words, '--home', made.home]);
}

function send(text: string, more: readonly string[] = [], simulate?: string): Promise<Ran> {
  const args = JSON.stringify({ text, ...(simulate === undefined ? {} : { simulate }) });
  const where = ['--connector', 'shell-noop', '--operation', 'send', '--project', 'web', '--target', 'somebody'];
  return run('action', 'propose', ...where, '--args', args, '--by', 'agent:bot', ...more);
}

async function sign(actionId: string, ...more: string[]): Promise<Ran> {
  const asked = await run('action', 'request', actionId);
  assert.equal(asked.exit, 0, asked.err);
  return run('approver', 'sign', asked.out.trim(), ...made.passphrase, ...more);
}

test('propose, request, sign, fetch and execute run an action once', async () => {
  verifies('cli.main-job');
  verifies('cli.exit-codes');
  verifies('cli.inbox');
  const proposed = await send('first');
  assert.equal(proposed.exit, 0, proposed.err);
  const id = proposed.out.trim();
  assert.match(id, /^act_[0-9A-Z]{26}$/);
  assert.equal((await send('first')).out.trim(), id, 'the same proposal joins');

  const refused = await run('action', 'execute', id);
  assert.equal(refused.exit, 1);
  assert.match(refused.err, /refused \[receipt_required\]/);
  assert.match(refused.err, /next: /);

  const inbox = await run('inbox');
  assert.match(inbox.out, new RegExp(`approval ${id}`));
  assert.match(inbox.out, new RegExp(`next: countersign action request ${id}`));
  assert.equal((await run('decisions', '--for', 'human:nobody')).out, '');
  await send('second');
  const first = JSON.parse((await run('inbox', '--limit', '1', '--json')).out);
  const rest = JSON.parse((await run('inbox', '--after', first.next, '--json')).out);
  assert.deepEqual([first.decisions.length, rest.decisions.length, rest.next], [1, 1, undefined]);
  assert.notEqual(first.decisions[0].id, rest.decisions[0].id);
  assert.match((await run('inbox', '--limit', '1')).err, new RegExp(`more: --after ${first.next}`));
  for (const odd of [
    ['--limit', '0'],
    ['--limit', 'x'],
    ['--after', 'x'],
  ]) {
    assert.match((await run('inbox', ...odd)).err, /refused \[invalid\]/);
  }

  const unsigned = await run('action', 'fetch-receipt', id);
  assert.equal(unsigned.exit, 5);
  assert.equal((await run('action', 'wait', id, '--timeout', '1s')).exit, 5);

  const signed = await sign(id);
  assert.equal(signed.exit, 0, signed.err);
  for (const line of ['action: ', 'arguments: {"text":"first"}', 'fingerprint: sha256:']) {
    assert.ok(signed.out.includes(line), `the signer sees ${line}`);
  }
  assert.equal(
    (await run('action', 'show', id, '--json')).out.includes('"state":"proposed"'),
    true,
    'signing changes nothing',
  );
  assert.equal((await run('action', 'fetch-receipt', id)).exit, 0);
  assert.equal((await run('action', 'wait', id)).exit, 0);
  const done = await run('action', 'execute', id);
  assert.equal(done.exit, 0, done.err);
  assert.ok(readdirSync(made.effects).includes(`${id}.json`));
  const again = await run('action', 'execute', id);
  assert.equal(again.exit, 1);
  assert.match(again.err, /\[state\]/);
});

test('a certain failure exits with 3, a lost answer with 4, and reconcile finds out', async () => {
  verifies('cli.exit-codes');
  const failing = (await send('failing', [], 'fail')).out.trim();
  await sign(failing);
  await run('action', 'fetch-receipt', failing);
  assert.equal((await run('action', 'execute', failing)).exit, 3);

  const lost = (await send('lost', [], 'lose-response')).out.trim();
  await sign(lost);
  await run('action', 'fetch-receipt', lost);
  assert.equal((await run('action', 'execute', lost)).exit, 4);
  const again = await run('action', 'execute', lost);
  assert.match(again.err, /\[decision_required\]/);
  assert.match((await run('inbox')).out, new RegExp(`outcome unknown ${lost}`));
  assert.equal((await run('action', 'reconcile', lost)).exit, 0);
});

test('with --json there is one value on standard output, and one error object on standard error', async () => {
  verifies('cli.json');
  const shown = await run('action', 'list', '--json');
  assert.equal(shown.err, '');
  assert.ok(Array.isArray(JSON.parse(shown.out).actions));
  const refused = await run('action', 'execute', 'act_00000000000000000000000000', '--json');
  assert.equal(refused.exit, 1);
  assert.equal(refused.out, '');
  assert.equal(JSON.parse(refused.err).error.code, 'unknown_action');
  const badArgs = await send('x', ['--args', '{"a":1,"a":2}']);
  assert.equal(badArgs.exit, 1);
  assert.match(badArgs.err, /\[invalid\]/);
  const usage = await run('action', 'propose', '--json');
  assert.equal(usage.exit, 2);
  assert.equal(JSON.parse(usage.err).error.code, 'usage');
});

test('no option or variable makes a command a person', async () => {
  verifies('cli.no-human');
  for (const words of [
    ['--by', 'human:alice'],
    ['--by', 'agent:stranger'],
    ['--by', 'engine:gate'],
  ]) {
    const ran = await run('action', 'list', ...words);
    assert.equal(ran.exit, 1);
    assert.match(ran.err, /\[(forbidden|invalid)\]/);
  }
  const id = (await send('by a variable')).out.trim();
  const environment = { USER: 'alice', LOGNAME: 'alice', COUNTERSIGN_APPROVER: 'human:alice' };
  const ran = await countersign(['action', 'execute', id, '--home', made.home], { environment });
  assert.match(ran.err, /\[receipt_required\]/);
  const by = { COUNTERSIGN_BY: 'human:alice' };
  assert.match((await countersign(['inbox', '--home', made.home], { environment: by })).err, /\[config_invalid\]/);
  const wrong = await run('action', 'request', id);
  const guess = await run('approver', 'sign', wrong.out.trim(), '--passphrase-from', 'env:HOME');
  assert.equal(guess.exit, 1);
  assert.match(guess.err, /\[forbidden\]/);
});

test('a signed denial cancels at once and keeps the words', async () => {
  verifies('cli.deny');
  const id = (await send('denied')).out.trim();
  const denied = await sign(id, '--deny', '--reason', 'not on a Friday');
  assert.equal(denied.exit, 0, denied.err);
  const state = JSON.parse((await run('action', 'show', id, '--json')).out);
  assert.equal(state.state, 'cancelled');
  assert.deepEqual(state.closed, { how: 'denied', by: 'human:alice', words: 'not on a Friday' });
  assert.match((await run('action', 'execute', id)).err, /\[state\]/);
});

test('text from outside never reaches the terminal with controls in it', async () => {
  verifies('cli.hostile-text');
  const text = 'a\u001b[2Jb\u202ec\rd\u0000e\u2028f';
  const id = (await send(text)).out.trim();
  const asked = await run('action', 'request', id);
  const shows = [
    await run('action', 'show', id),
    await run('action', 'summary', id),
    await run('approver', 'sign', asked.out.trim(), ...made.passphrase),
    await run('thread', 'show', 'web'),
  ];
  for (const { out, err } of shows) {
    assert.ok(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2028\u2029]/.test(out + err));
  }
  assert.match(shows[1]?.out ?? '', /\\u\{1b\}\[2J/);
});

test('the same key and command give the same action, and another command is refused', async () => {
  verifies('cli.idempotency');
  const first = await send('keyed', ['--idempotency-key', 'k1']);
  assert.equal((await send('keyed', ['--idempotency-key', 'k1'])).out, first.out);
  const other = await send('another', ['--idempotency-key', 'k1']);
  assert.match(other.err, /\[idempotency_reuse\]/);
  const fresh = await send('keyed', ['--idempotency-key', 'k2']);
  assert.notEqual(fresh.out, first.out);
});

test('a receipt in a file is verified by the registry, or offline by its key', async () => {
  verifies('cli.receipt-file');
  const id = (await send('filed')).out.trim();
  const file = join(made.folder, 'receipt.json');
  assert.equal((await sign(id, '--out', file)).exit, 0);
  assert.equal((await run('receipt', 'verify', file)).exit, 0);
  const { keys } = JSON.parse((await run('approver', 'list', '--json')).out);
  assert.equal((await countersign(['receipt', 'verify', file, '--public-key', keys[0].public_key])).exit, 0);
  const foreign = await countersign(['receipt', 'verify', file, '--public-key', 'ab'.repeat(32)]);
  assert.match(foreign.err, /\[unknown_authenticator\]/);
  assert.equal((await run('action', 'approve', id, '--receipt', file)).exit, 0);
});

test('policy explain gives the decision of an action, of its id, and of a what-if', async () => {
  verifies('cli.explain');
  const id = (await send('explained')).out.trim();
  const explained = await run('policy', 'explain', id, '--json');
  const [decision] = JSON.parse(explained.out).decisions;
  assert.equal(decision.decision.outcome, 'REQUIRE_APPROVAL');
  const same = await run('policy', 'explain', decision.decision.decision_id, '--json');
  assert.equal(same.out, explained.out);
  const where = ['--connector', 'shell-noop', '--operation', 'note', '--project', 'web', '--target', 'somebody'];
  const whatIf = await run('policy', 'explain', '--what-if', ...where, '--args', '{"text":"x"}', '--json');
  assert.equal(JSON.parse(whatIf.out).decision.outcome, 'ALLOW');
  assert.match((await run('policy', 'explain', id)).out, /at proposal: ask dec_/, 'people read plain words');
  const dryRun = await run('policy', 'explain', '--what-if', ...where, '--args', '{"text":"x"}');
  assert.match(dryRun.out, /^decision: allowed by policy/);
  const unknown = await run('policy', 'explain', 'dec_00000000000000000000000000');
  assert.match(unknown.err, /\[not_found\]/);
});

test('where nobody reads the output the exit code still says what was done', async () => {
  verifies('cli.nobody-reads');
  const id = (await send('unread')).out.trim();
  await sign(id);
  await run('action', 'fetch-receipt', id);
  const main = join(ROOT, 'dist', 'bin', 'main.js');
  const gone = spawnSync('sh', [
    '-c',
    `{ "${process.execPath}" "${main}" action execute ${id} --home "${made.home}"; echo "exit $?" >&2; } | true`,
  ]);
  assert.equal(gone.stderr.toString(), 'exit 0\n');
  assert.match((await run('action', 'show', id)).out, /confirmed/);
});

test('a denied action waits for no signature any more, and endless input has an end', async () => {
  verifies('cli.deny');
  const id = (await send('denied again')).out.trim();
  await sign(id, '--deny');
  const fetched = await run('action', 'fetch-receipt', id);
  assert.equal(fetched.exit, 1);
  assert.match(fetched.err, /\[state\].*denied/);
  const endless = await run('receipt', 'verify', '/dev/zero');
  assert.match(endless.err, /\[invalid\].*is no plain file/);
  assert.match((await run('action', 'list', '--limit', 'abc')).err, /\[invalid\]/);
});

test('the cause of a fault is told to whoever asks for the log, and to nobody else', async () => {
  verifies('cli.debug');
  const { home } = await makeDemoHome();
  writeFileSync(join(home, 'ledger.sqlite'), 'no database at all');
  const quiet = await countersign(['inbox', '--home', home, '--json']);
  assert.equal(quiet.exit, 70);
  const { error } = JSON.parse(quiet.err);
  assert.equal(error.code, 'corrupt');
  assert.ok(!quiet.err.includes('SqliteError'));
  const told = await countersign(['inbox', '--home', home, '--json', '--debug']);
  const lines = told.err
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(lines[1], { error });
  assert.equal(lines[0].level, 'error');
  assert.match(lines[0].causes.join(), /SqliteError/);
  const environment = { COUNTERSIGN_LOG: 'debug' };
  assert.match((await countersign(['inbox', '--home', home], { environment })).err, /SqliteError/);
  const unknown = await countersign(['inbox', '--home', home], { environment: { COUNTERSIGN_LOG: 'loud' } });
  assert.match(unknown.err, /\[config_invalid\].*COUNTERSIGN_LOG/);
});
