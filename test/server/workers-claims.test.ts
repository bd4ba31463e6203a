/** Claims of workers over real connections that go wrong: asked again, by somebody else, late, or lost. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import * as z from 'zod';
import { LIMITS } from '../../src/core/index.js';
import { codeOf } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';
import { executed, until, type WorkerWorld, workerTrust, workerWorld } from '../support/worker-world.js';

const SCHEMA = z.toJSONSchema(z.strictObject({ text: z.string().max(256), cents: z.int().min(1).optional() }));
const NAME = 'a-worker-of-a-test';
const ASK = {
  ...{ worker: NAME, at_once: 1, wait_ms: 10_000 },
  operations: [{ name: 'charge', version: '1', schema: SCHEMA as never }],
};
/** After which nothing that was called can still arrive. */
const LONG_MS = 64_000;

describe('a claim by hand', () => {
  let world: WorkerWorld;
  before(async () => {
    world = await workerWorld(workerTrust('20s'));
  });
  after(() => world.close());

  it('is one of the token itself: another one of the same agent, of another project, gets nothing', async () => {
    verifies('server.worker.scoped');
    const scopes = [['*'], ['elsewhere'], ['acme']];
    const tokens = await Promise.all(
      scopes.map((projects) => world.token('agent:hand', { verbs: ['work'], projects })),
    );
    const [wide, apart, narrow] = tokens.map(({ text }) => world.client(text));
    const action_id = await world.approved('scoped');
    const next = wide?.call('workNext', { body: ASK });
    await until(async () => (await world.present()) > 0);
    const running = world.gate.execute(action_id);
    const offer = (await next)?.offer as NonNullable<NonNullable<Awaited<typeof next>>['offer']>;
    const body = { worker: NAME, ...offer };
    assert.equal(await codeOf(apart?.call('workClaim', { body }) as Promise<unknown>), 'state');
    const claim = await narrow?.call('workClaim', { body });
    assert.equal(claim?.args_text, '{"text":"scoped"}');
    await narrow?.call('workDone', { body: { fence: String(claim?.fence), result: 'confirmed' } });
    assert.equal((await running).state, 'confirmed');
  });

  it('is given out once: no key lets it be asked for again', async () => {
    verifies('server.worker.keyless');
    const { text } = await world.token('agent:keyed', { verbs: ['work'] });
    const bodies = {
      next: { ...ASK, wait_ms: 0 },
      claim: { worker: NAME, action_id: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W', attempt: 1, what: 'run' },
      done: { fence: 'x', result: 'confirmed' },
    };
    for (const [name, body] of Object.entries(bodies)) {
      const answer = await world.raw(`/v1/work/${name}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${text}`, 'content-type': 'application/json', 'idempotency-key': 'k' },
        body: JSON.stringify(body),
      });
      const problem = (await answer.json()) as { readonly code: string; readonly path: string };
      assert.deepEqual([problem.code, problem.path], ['invalid', 'idempotency-key'], name);
    }
    const typed = world.client(text).call('workNext', { body: bodies.next, idempotencyKey: 'k' } as never);
    assert.equal(await codeOf(typed), 'invalid');
  });

  it('is answered with a short word, not with a text', async () => {
    verifies('server.worker.code');
    const client = world.client((await world.token('agent:words', { verbs: ['work'] })).text);
    for (const code of ['Card of ann declined', 'x'.repeat(65), '', 'ok\n', 'é']) {
      const told = client.call('workDone', { body: { fence: 'x', result: 'failed', code } });
      assert.equal(await codeOf(told), 'invalid', JSON.stringify(code));
    }
    const told = client.call('workDone', { body: { fence: 'x', result: 'failed', code: `a.b-c_${'9'.repeat(58)}` } });
    assert.equal(await codeOf(told), 'unauthenticated');
  });
});

describe('a claim of a worker', () => {
  let world: WorkerWorld;
  afterEach(() => world.close());

  it('of the question what became of a call tells nothing when it comes back late', async () => {
    verifies('client.worker.asked');
    world = await workerWorld(workerTrust('3s'));
    const first = await world.worker('hang');
    const action_id = await world.approved('asked');
    const settled = await world.gate.execute(action_id);
    assert.deepEqual([settled.state, world.effects().length], ['unknown', 1]);
    first.process.kill('SIGKILL');
    await first.ended;
    world.clock.advance(LONG_MS);
    const late = await world.worker('late-claim', String(LIMITS.launchToCallMsMax + 500));
    assert.equal(await codeOf(world.gate.reconcile(action_id)), 'decision_required');
    const { done } = await late.line('done');
    assert.equal((done as { readonly result: string }).result, 'unknown');
    assert.equal((await world.gate.show(action_id)).state, 'unknown');
    late.process.kill('SIGKILL');
    await late.ended;
    await world.worker();
    assert.equal((await world.gate.reconcile(action_id)).state, 'confirmed');
  });

  it('of the question what became of a call settles nothing by a word that nothing was called', async () => {
    verifies('connectors.worker.asked');
    world = await workerWorld(workerTrust('3s'));
    const first = await world.worker('hang');
    const action_id = await world.approved('asked');
    assert.equal((await world.gate.execute(action_id)).state, 'unknown');
    first.process.kill('SIGKILL');
    await first.ended;
    world.clock.advance(LONG_MS);
    const client = world.client((await world.token('agent:hand', { verbs: ['work'] })).text);
    const words = [
      { result: 'failed', code: 'never_called' },
      { result: 'failed', code: 'invalid' },
      { result: 'failed' },
    ] as const;
    for (const word of words) {
      const next = client.call('workNext', { body: ASK });
      await until(async () => (await world.present()) > 0);
      const found = world.gate.reconcile(action_id).then(
        ({ state }) => state,
        (error) => error.code,
      );
      const { offer } = await next;
      const { what, fence } = await client.call('workClaim', { body: { worker: NAME, ...offer } as never });
      assert.equal(what, 'reconcile');
      await client.call('workDone', { body: { fence, ...word } });
      assert.equal(await found, 'code' in word ? 'decision_required' : 'failed');
    }
  });

  it('that has no answer keeps no place, and is taken for lost while what runs goes on', async () => {
    verifies('client.worker.lost');
    world = await workerWorld(workerTrust('120s'));
    const child = await world.worker('lose-claim', '2', String(LIMITS.workerGapMsMax + 4_000));
    const ids = await Promise.all(['one', 'lost', 'three'].map((text) => world.approved(text)));
    const [one, lost, three] = ids as [string, string, string];
    const first = world.gate.execute(one);
    await child.line('running');
    const second = world.gate.execute(lost);
    await until(() => child.lines.filter((line) => 'claimed' in line).length === 2);
    // Its place is free under the new name, for one more beside what runs.
    const third = executed(world, three);
    await until(() => child.lines.filter((line) => 'running' in line).length === 2);
    world.clock.advance(LIMITS.workerSilentMsMax);
    assert.equal((await first).state, 'confirmed');
    await child.line('done');
    // The wait under the old name ends with what ran under it.
    await new Promise((resolve) => setTimeout(resolve, 500));
    world.clock.advance(LIMITS.workerSilentMsMax);
    assert.deepEqual([(await second).state, (await second).code], ['unknown', 'worker_silent']);
    assert.equal(await third, 'confirmed');
    assert.deepEqual(
      world
        .effects()
        .map((line) => line.split(' ')[1])
        .sort(),
      ['one', 'three'],
    );
  });

  it('leads to what was done also where the function answered more than can be told', async () => {
    verifies('client.worker.evidence');
    world = await workerWorld();
    const most = LIMITS.workerEvidenceBytesMax - '{"result":{"charged":""}}'.length;
    for (const [bytes, code] of [
      [most, null],
      [LIMITS.jsonBytesMax - 100, 'evidence_too_long'],
    ] as const) {
      const child = await world.worker('long', String(bytes));
      const settled = await world.gate.execute(await world.approved(`long ${bytes}`));
      assert.deepEqual([settled.state, settled.code, settled.evidence === null], ['confirmed', code, code !== null]);
      const { done } = await child.line('done');
      assert.equal((done as { readonly recorded: boolean }).recorded, true);
      child.process.kill('SIGKILL');
      await child.ended;
    }
  });
});
