/** What people do about lost answers, regrets and emergencies, through the command line. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { countersign, type Ran } from '../support/command-line.js';
import { type DemoHome, makeDemoHome } from '../support/demo-home.js';
import { verifies } from '../support/verifies.js';

let made: DemoHome;
before(async () => {
  made = await makeDemoHome();
});

function run(...words: string[]): Promise<Ran> {
  return countersign([...words, '--home', made.home]);
}

async function json(...words: string[]): Promise<Record<string, never>> {
  const { out, err } = await run(...words, '--json');
  assert.notEqual(out, '', err);
  return JSON.parse(out) as Record<string, never>;
}

async function propose(text: string, simulate?: string): Promise<string> {
  const args = JSON.stringify({ text, ...(simulate === undefined ? {} : { simulate }) });
  const where = ['--connector', 'shell-noop', '--operation', 'send', '--project', 'web', '--target', 'somebody'];
  const { out, err } = await run('action', 'propose', ...where, '--args', args, '--by', 'agent:bot');
  assert.match(out, /^act_/, err);
  return out.trim();
}

async function sign(requestId: string): Promise<Ran> {
  const signed = await run('approver', 'sign', requestId, ...made.passphrase);
  assert.equal(signed.exit, 0, signed.err);
  return signed;
}

async function approved(text: string, simulate?: string): Promise<string> {
  const id = await propose(text, simulate);
  await sign((await run('action', 'request', id)).out.trim());
  assert.equal((await run('action', 'fetch-receipt', id)).exit, 0);
  return id;
}

async function lost(text: string): Promise<string> {
  const id = await approved(text, 'lose-response');
  assert.equal((await run('action', 'execute', id)).exit, 4);
  return id;
}

function requestIn(asked: Record<string, never>): string {
  return (asked as unknown as { request: { request_id: string } }).request.request_id;
}

test('a finding is asked for, signed, and settles the action', async () => {
  verifies('cli.resolution');
  verifies('cli.show');
  const id = await lost('one');
  const words = ['action', 'finding', id, '--evidence', 'it stands in the folder'];
  assert.equal((await run(...words, '--outcome', 'maybe')).exit, 2);
  const shown = await run(...words, '--outcome', 'confirmed');
  assert.match(shown.out, /^decision: the outcome was the effect$/m);
  assert.match(shown.out, /^evidence: it stands in the folder$/m);
  await sign(requestIn(await json(...words, '--outcome', 'confirmed')));
  assert.match((await run('action', 'show', id)).out, /confirmed/);
  assert.match((await run('action', 'show', id)).out, /^evidence +it stands in the folder$/m);
});

test('an action that deduplicates is run again under its key, once people approved that', async () => {
  verifies('cli.resolution');
  const id = await lost('two');
  const refused = await run('action', 'retry', id);
  assert.deepEqual([refused.exit, /\[decision_required\]/.test(refused.err)], [1, true]);
  const requestId = (await run('action', 'request', id)).out.trim();
  assert.equal((await run('action', 'fetch-receipt', id)).exit, 5, 'nobody has signed that yet');
  await sign(requestId);
  for (const time of ['first', 'again']) {
    const fetched = await run('action', 'fetch-receipt', id);
    assert.equal(fetched.exit, 0, fetched.err);
    assert.match(fetched.err, new RegExp(`next: countersign action retry ${id}`), time);
  }
  assert.match((await run('action', 'show', id)).out, /^run again +approvals 1 of 1 \(human:alice\), run by /m);
  assert.notEqual((await run('action', 'retry', id)).exit, 1);
});

test('an effect runs again as another action, which needs its own approval', async () => {
  verifies('cli.resolution');
  const id = await lost('three');
  const signed = await sign(requestIn(await json('action', 'replace', id)));
  const refused = await run('action', 'execute', id);
  assert.match(refused.err, /\[replaced\]/);
  const { replaced_by } = (await json('action', 'show', id)) as unknown as { replaced_by: string };
  assert.match(signed.out, new RegExp(`^${replaced_by} waiting for approval$`, 'm'));
  assert.match(signed.err, new RegExp(`next: countersign action request ${replaced_by}`));
  assert.match((await run('action', 'show', id)).out, new RegExp(`^replaced by +${replaced_by}$`, 'm'));
  assert.match((await run('action', 'show', replaced_by)).out, new RegExp(`^replaces +${id}$`, 'm'));
  assert.match((await run('action', 'show', replaced_by)).out, /waiting for approval/);
  assert.equal((await run('action', 'fetch-receipt', id)).exit, 1, 'no signature is waited for any more');
  assert.match((await run('action', 'undo', id)).err, /\[state\]/);
});

test('the brake stops a project until an operator lifts it', async () => {
  verifies('cli.freeze');
  const id = await approved('four');
  assert.equal((await run('freeze', '--project', 'web', '--agent', 'agent:bot')).exit, 2);
  assert.match((await run('freeze', '--project', 'wbe')).err, /no action of project wbe is known here/);
  assert.match(JSON.stringify(await json('freeze', '--agent', 'bot')), /agent:bot/);
  const set = await json('freeze', '--project', 'web');
  await sign(requestIn(set));
  const stopped = await run('action', 'execute', id);
  assert.match(stopped.err, /\[frozen\]/);
  const nonsense = await run('unfreeze', '--project', 'wbe');
  assert.deepEqual([nonsense.exit, /\[state\]/.test(nonsense.err)], [1, true]);
  const { findings } = (await json('doctor')) as unknown as { findings: readonly { name: string; next: string }[] };
  const advice = findings.find(({ name }) => name === 'freeze')?.next ?? '';
  const [, words = ''] = /`countersign (unfreeze [^`]*)`/.exec(stopped.err) ?? [];
  assert.ok(advice.includes(words), 'doctor says the same');
  await sign(requestIn(await json(...words.split(' '))));
  assert.equal((await run('action', 'execute', id)).exit, 0);
});

test('a standing approval is asked for from an action, signed, shown, used and taken back', async () => {
  verifies('cli.standing');
  const id = await propose('five');
  assert.equal((await run('standing', 'request')).exit, 2);
  const asked = await json('standing', 'request', '--from', id, '--count', '2', '--for', '1h');
  const { grant_id } = asked as unknown as { grant_id: string };
  await sign((asked as unknown as { request: { request_id: string } }).request.request_id);
  assert.equal((await run('action', 'approve', id)).exit, 2);
  assert.equal((await run('action', 'approve', id, '--standing')).exit, 0);
  assert.equal((await run('action', 'execute', id)).exit, 0);
  const settled = (await run('action', 'show', id)).out;
  assert.match(settled, new RegExp(`^authority +standing approval ${grant_id}$`, 'm'));
  assert.doesNotMatch(settled, /^approvals/m);
  assert.match((await run('standing', 'list')).out, new RegExp(`${grant_id}.*1 of 2`));
  const shown = await run('standing', 'show', grant_id);
  assert.match(shown.out, /^largest total effect: 2 actions, no money$/m);
  assert.match(shown.out, /^used: 1 of 2, 0 running or unknown$/m);
  const other = await propose('six');
  assert.match((await run('action', 'approve', other, '--standing')).err, /\[no_cover\]/);
  await sign(requestIn(await json('standing', 'revoke', grant_id)));
  assert.match((await run('standing', 'show', grant_id)).out, /^state: revoked$/m);
  assert.match((await run('standing', 'show', 'grant_none')).err, /\[not_found\]/);
});
