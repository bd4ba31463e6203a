/** Workers over real connections: who gets a call, what it does, and what the gate makes of its word. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import * as z from 'zod';
import { auditLedger, open } from '../../src/app/index.js';
import { connect } from '../../src/client/index.js';
import { LIMITS } from '../../src/core/index.js';
import { childHome, startSource } from '../support/gate-processes.js';
import { approve, carriedOut, codeOf } from '../support/gate-world.js';
import { newToken, WHOLE } from '../support/server-world.js';
import { verifies } from '../support/verifies.js';
import { charging, executed, until, type WorkerWorld, workerTrust, workerWorld } from '../support/worker-world.js';

const SCHEMA = z.toJSONSchema(z.strictObject({ text: z.string().max(256), cents: z.int().min(1).optional() }));
const ask = (changes: object = {}, operation: object = {}) =>
  ({
    ...{ worker: 'a-worker-of-a-test', at_once: 1, wait_ms: 0 },
    operations: [{ name: 'charge', version: '1', schema: SCHEMA, ...operation }],
    ...changes,
  }) as never;

describe('a worker', () => {
  let world: WorkerWorld;
  before(async () => {
    world = await workerWorld();
  });
  after(() => world.close());

  it('runs what a person approved, once, with the bytes that were signed', async () => {
    verifies('server.worker.cycle');
    const child = await world.worker();
    const client = world.client((await world.token()).text);
    const { action_id } = await client.call('propose', { body: charging('ann') });
    const { lines } = await world.gate.summary(action_id);
    assert.ok(lines.includes('> runs in: a worker of version 1'), lines.join('\n'));
    assert.equal(await codeOf(client.call('execute', { action_id })), 'receipt_required');
    await approve(world, action_id);
    const settled = await client.call('execute', { action_id });
    assert.deepEqual([settled.state, settled.attempt], ['confirmed', 1]);
    assert.deepEqual(settled.evidence, { result: { charged: 'ann' } });
    assert.deepEqual(world.effects(), [`${action_id} ann`]);
    const { done } = await child.line('done');
    assert.deepEqual(done, { action_id, attempt: 1, result: 'confirmed', recorded: true });
    child.process.kill('SIGTERM');
    assert.equal(await child.ended, '0');
  });

  it('is told of nothing without a token that says so, or outside its projects', async () => {
    verifies('server.worker.scoped');
    const plain = world.client((await world.token()).text);
    for (const call of [
      plain.call('workNext', { body: ask() }),
      plain.call('workClaim', {
        body: { worker: 'a-worker-of-a-test', action_id: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W', attempt: 1, what: 'run' },
      }),
      plain.call('workDone', { body: { fence: 'x', result: 'confirmed' } }),
    ]) {
      assert.equal(await codeOf(call), 'forbidden');
    }
    const apart = world.client((await world.token('agent:apart', { verbs: ['work'], projects: ['elsewhere'] })).text);
    const waits = apart.call('workNext', { body: ask({ wait_ms: 500 }) });
    assert.equal(await codeOf(world.gate.execute(await world.approved('apart'))), 'no_worker');
    assert.deepEqual(await waits, {});
    assert.equal(await codeOf(apart.call('propose', { body: charging('x') })), 'forbidden');
    const forged = apart.call('workDone', { body: { fence: 'e30.e30', result: 'confirmed' } });
    assert.equal(await codeOf(forged), 'unauthenticated');
  });

  it('of another version or schema than the declared one is let in for nothing', async () => {
    verifies('connectors.worker.pinned');
    const { text: token } = await world.token('agent:other', { verbs: ['work'] });
    const client = world.client(token);
    const other = z.toJSONSchema(z.strictObject({ text: z.string().max(255) }));
    const tries: readonly (readonly [object, string])[] = [
      [{ version: '2' }, 'binding_changed'],
      [{ schema: other }, 'binding_changed'],
      [{ schema: [] }, 'binding_changed'],
      [{ name: 'refund' }, 'operation'],
      [{}, 'none'],
    ];
    for (const [operation, code] of tries) {
      const came = client.call('workNext', { body: ask({}, operation) });
      if (code === 'none') assert.deepEqual(await came, {});
      else assert.equal(await codeOf(came), code, JSON.stringify(operation));
    }
    const worker = connect({ url: world.serving.publicUrl, token }).worker({
      operations: { charge: { version: '2', input: z.strictObject({ text: z.string() }), run: async () => null } },
    });
    assert.equal(await codeOf(worker.done), 'binding_changed');
    const [one, two] = await Promise.all(
      [workerTrust(), workerTrust().replace("version: '1'", "version: '2'")].map(async (trust) => {
        const apart = await workerWorld(trust);
        const { action_id } = await apart.gate.propose(charging('x'));
        const { content } = await apart.gate.show(action_id);
        await apart.close();
        return content.operation_digest;
      }),
    );
    assert.notEqual(one, two);
  });

  it('is there, or nothing is launched: the receipt is kept, and the inbox says what is missing', async () => {
    verifies('connectors.worker.present');
    const apart = await workerWorld();
    const client = apart.client((await apart.token()).text);
    const waiting = await apart.gate.propose(charging('waiting'));
    const action_id = await apart.approved('nobody');
    assert.equal(await codeOf(client.call('execute', { action_id })), 'no_worker');
    const state = await apart.gate.show(action_id);
    assert.deepEqual([state.state, state.attempts.length], ['approved', 0]);
    const rows = await apart.gate.decisions();
    assert.equal(rows.find(({ id }) => id === action_id)?.what, 'no_worker');
    assert.match(rows.find(({ id }) => id === waiting.action_id)?.lacks ?? '', /no worker with `charge`/);
    await apart.worker();
    assert.equal((await client.call('execute', { action_id })).state, 'confirmed');
    const after = await apart.gate.decisions();
    assert.ok(after.every(({ lacks }) => lacks === undefined));
    await apart.close();
  });

  it('is not told to be missing where none can come', async () => {
    verifies('connectors.worker.elsewhere');
    const apart = await workerWorld();
    await apart.worker();
    const action_id = await apart.approved('elsewhere');
    assert.ok((await apart.gate.decisions()).every(({ id }) => id !== action_id));
    // As a command at a terminal has it: the same store, and no server.
    const terminal = await apart.another();
    const row = (await terminal.decisions()).find(({ id }) => id === action_id);
    assert.match(row?.lacks ?? '', /^`charge` is run by a worker, and workers come to a server/);
    assert.match(row?.next ?? '', /over HTTP, at the server/);
    await assert.rejects(terminal.execute(action_id), { code: 'no_worker', message: row?.lacks, next: row?.next });
    const client = apart.client((await apart.token()).text);
    assert.equal((await client.call('execute', { action_id })).state, 'confirmed');
    await apart.close();
  });

  it('with no room left has no second call begin that it could not take', async () => {
    verifies('connectors.worker.present');
    const apart = await workerWorld(workerTrust('20s'));
    const child = await apart.worker('slow', '700');
    const ids = await Promise.all(['a', 'b', 'c'].map((text) => apart.approved(text)));
    const settled = await Promise.allSettled(ids.map((id) => apart.gate.execute(id)));
    const codes = settled.map((one) => (one.status === 'fulfilled' ? one.value.state : one.reason.code));
    assert.deepEqual(codes.sort(), ['busy', 'confirmed', 'confirmed']);
    for (const id of ids) assert.ok((await apart.gate.show(id)).attempts.length <= 1);
    assert.equal(child.lines.filter((line) => 'running' in line).length, 2);
    await apart.close();
  });

  it('is refused when it is handed over as none', async () => {
    verifies('client.worker.given');
    const client = world.client((await world.token('agent:given', { verbs: ['work'] })).text);
    const good = { version: '1', input: z.strictObject({}), run: async () => null };
    const hostile = new Proxy({}, { get: () => assert.fail('never'), ownKeys: () => assert.fail('never') });
    for (const given of [
      ...[undefined, null, 7, {}, { operations: {} }, { operations: null }, { operations: hostile }, hostile],
      ...[{ operations: { x: null } }, { operations: { 'no name': good } }],
      ...[{ operations: { x: { ...good, version: 1 } } }, { operations: { x: { ...good, run: 'x' } } }],
      { operations: { x: { ...good, input: z.string().transform((text) => text.length) } } },
      { operations: { x: { ...good, input: undefined } } },
      ...[0, 65, 1.5].map((atOnce) => ({ operations: { x: good }, atOnce })),
      { operations: { x: good }, onDone: 'x' },
      { operations: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`x${at}`, good])) },
    ]) {
      assert.throws(() => client.worker(given as never), { name: 'Refusal', code: 'invalid' });
    }
    assert.ok(LIMITS.workerOperationsMax === 64 && LIMITS.workerCallsMax === 64);
  });
});

describe('what one worker gets', () => {
  let world: WorkerWorld;
  before(async () => {
    world = await workerWorld(workerTrust('20s'));
  });
  after(() => world.close());

  it('no other gets: twelve launches, two workers, twelve effects', async () => {
    verifies('connectors.worker.fenced');
    const [one, two] = await Promise.all([world.worker('slow', '30'), world.worker('slow', '30')]);
    const ids = await Promise.all(Array.from({ length: 12 }, (_, at) => world.approved(`n${at}`)));
    for (let at = 0; at < ids.length; at += 4) {
      const some = await Promise.all(ids.slice(at, at + 4).map((id) => executed(world, id)));
      assert.ok(some.every((state) => state === 'confirmed'));
    }
    const keys = world.effects().map((line) => line.split(' ')[0]);
    assert.deepEqual([...keys].sort(), [...ids].sort());
    const ran: readonly number[] = [one, two].map((child) => child.lines.filter((line) => 'running' in line).length);
    assert.equal(
      ran.reduce((sum, count) => sum + count, 0),
      12,
    );
    assert.ok(
      ran.every((count) => count > 0),
      `both worked: ${ran}`,
    );
  });
});

describe('a claim', () => {
  let world: WorkerWorld;
  before(async () => {
    world = await workerWorld(workerTrust('20s'));
  });
  after(() => world.close());

  it('is made once, and nobody can claim what is not offered', async () => {
    verifies('connectors.worker.fenced');
    const client = world.client((await world.token('agent:hand', { verbs: ['work'] })).text);
    const other = world.client((await world.token('agent:other', { verbs: ['work'] })).text);
    const action_id = await world.approved('by hand');
    const next = client.call('workNext', { body: ask({ wait_ms: 10_000, worker: 'the-hand-of-a-test' }) });
    const idle = other.call('workNext', { body: ask({ wait_ms: 10_000, worker: 'the-hand-of-a-test' }) });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const running = world.gate.execute(action_id);
    const { offer } = await next;
    assert.deepEqual(offer, { action_id, attempt: 1, what: 'run' });
    assert.deepEqual((await idle).offer, offer);
    const body = { worker: 'the-hand-of-a-test', ...offer } as const;
    const stranger = client.call('workClaim', { body: { ...body, worker: 'nobody-ever-heard' } as never });
    assert.equal(await codeOf(stranger), 'state');
    const early = client.call('workClaim', { body: { ...body, attempt: 2 } as never });
    assert.equal(await codeOf(early), 'state');
    const claims = await Promise.allSettled(
      [client, other].map((one) => one.call('workClaim', { body: body as never })),
    );
    const codes = claims.map((one) => (one.status === 'fulfilled' ? 'got it' : one.reason.code)).sort();
    assert.deepEqual(codes, ['got it', 'state']);
    const at = claims.findIndex(({ status }) => status === 'fulfilled');
    const got = claims[at] as PromiseFulfilledResult<Awaited<ReturnType<typeof client.call<'workClaim'>>>>;
    const [mine, theirs] = at === 0 ? [client, other] : [other, client];
    const { fence, args_text } = got.value;
    assert.equal(args_text, '{"text":"by hand"}');
    const done = { fence, result: 'confirmed', external_ref: 'ch_1' } as const;
    assert.equal(await codeOf(theirs.call('workDone', { body: done })), 'unauthenticated');
    assert.deepEqual(await mine.call('workDone', { body: done }), { recorded: true });
    assert.equal((await running).external_ref, 'ch_1');
    // Told again it is told again, and changes nothing.
    assert.deepEqual(await mine.call('workDone', { body: done }), { recorded: true });
    assert.equal((await world.gate.show(action_id)).attempts.length, 1);
  });
});

describe('a worker that falls silent', () => {
  let world: WorkerWorld;
  afterEach(() => world.close());

  it('by a kill in the middle leaves an unknown outcome, which another one can establish', async () => {
    verifies('server.worker.silent');
    world = await workerWorld(workerTrust('3s'));
    const child = await world.worker('hang');
    const action_id = await world.approved('killed');
    const running = world.gate.execute(action_id);
    await until(() => world.effects().length === 1);
    child.process.kill('SIGKILL');
    const settled = await running;
    assert.deepEqual([settled.state, settled.code], ['unknown', 'no_answer']);
    assert.equal(world.effects().length, 1);
    assert.equal(await codeOf(world.gate.reconcile(action_id)), 'decision_required');
    await world.worker();
    assert.equal((await world.gate.reconcile(action_id)).state, 'confirmed');
    assert.equal(world.effects().length, 1);
  });

  it('by a kill is not waited for until the end of its time, and another one does not get its call', async () => {
    verifies('connectors.worker.silent');
    world = await workerWorld(workerTrust('120s'));
    const child = await world.worker('hang');
    const action_id = await world.approved('killed');
    const running = world.gate.execute(action_id);
    await until(() => world.effects().length === 1);
    const second = await world.worker();
    child.process.kill('SIGKILL');
    await child.ended;
    await new Promise((resolve) => setTimeout(resolve, 500));
    world.clock.advance(LIMITS.workerSilentMsMax);
    const settled = await running;
    assert.deepEqual([settled.state, settled.code], ['unknown', 'worker_silent']);
    assert.equal(world.effects().length, 1);
    assert.ok(!second.lines.some((line) => 'claiming' in line));
  });

  it('by a stop that it was told finishes what it runs, and takes nothing new', async () => {
    verifies('connectors.worker.silent');
    world = await workerWorld(workerTrust('60s'));
    const child = await world.worker('slow', String(LIMITS.workerGapMsMax + 3_000));
    const running = world.gate.execute(await world.approved('slow'));
    await child.line('running');
    child.process.kill('SIGTERM');
    await until(async () => (await codeOf(world.gate.execute(await world.approved('next')))) === 'no_worker');
    // It is heard by its waits: no silence, however long it takes.
    world.clock.advance(LIMITS.workerSilentMsMax);
    assert.equal((await running).state, 'confirmed');
    assert.equal(await child.ended, '0');
  });

  it('by a throw is unknown; by a word that nothing happened, failed', async () => {
    verifies('server.worker.silent');
    world = await workerWorld();
    const child = await world.worker('throw');
    const settled = await world.gate.execute(await world.approved('thrown'));
    assert.deepEqual([settled.state, settled.code], ['unknown', 'exception']);
    child.process.kill('SIGKILL');
    await child.ended;
    await world.worker('none');
    const none = await world.gate.execute(await world.approved('none'));
    assert.deepEqual([none.state, none.code], ['failed', 'no_effect']);
    assert.deepEqual(world.effects(), []);
  });

  it('by a stop before its claim is refused when it comes, and nothing happened', async () => {
    verifies('connectors.worker.fenced');
    world = await workerWorld(workerTrust('3s'));
    const child = await world.worker('stop-before-claim');
    const action_id = await world.approved('stopped');
    const settled = await world.gate.execute(action_id);
    assert.deepEqual([settled.state, settled.code], ['failed', 'not_claimed']);
    // Whoever did not come for its call is not there: nothing else is launched into the silence.
    assert.equal(await codeOf(world.gate.execute(await world.approved('next'))), 'no_worker');
    child.process.kill('SIGCONT');
    assert.deepEqual(await child.line('claimed'), { claimed: 409 });
    assert.deepEqual(world.effects(), []);
    assert.ok(!child.lines.some((line) => 'running' in line));
  });

  it('by a stop behind its claim runs nothing when it goes on, and says so', async () => {
    verifies('client.worker.late');
    verifies('connectors.worker.late');
    world = await workerWorld(workerTrust('3s'));
    const child = await world.worker('stop-after-claim');
    const action_id = await world.approved('stopped');
    const settled = await world.gate.execute(action_id);
    assert.deepEqual([settled.state, settled.code], ['unknown', 'no_answer']);
    child.process.kill('SIGCONT');
    const { done } = await child.line('done');
    assert.deepEqual(done, { action_id, attempt: 1, result: 'failed', code: 'never_called', recorded: true });
    const { state, attempts } = await world.gate.show(action_id);
    assert.deepEqual([state, attempts[0]?.settled_by, attempts[0]?.code], ['failed', 'connector-late', 'never_called']);
    assert.deepEqual(world.effects(), []);
  });

  it('and speaks late settles its own attempt', async () => {
    verifies('connectors.worker.late');
    world = await workerWorld(workerTrust('1s'));
    const child = await world.worker('slow', '2000');
    const action_id = await world.approved('late');
    assert.equal((await world.gate.execute(action_id)).state, 'unknown');
    assert.equal((await child.line('done'))['recorded'] ?? true, true);
    const { state, attempts } = await world.gate.show(action_id);
    assert.deepEqual([state, attempts.length, attempts[0]?.settled_by], ['confirmed', 1, 'connector-late']);
  });
});

describe('a worker whose server is killed', () => {
  it('comes again when there is one, and its late word settles what it claimed', async () => {
    verifies('server.worker.reconnects');
    const { folder, remove } = await childHome(undefined, workerTrust('20s'));
    const home = join(folder, 'home');
    const gate = await open({ home });
    const clock = { now: () => Date.now() } as never;
    const world = { gate, clock } as never;
    const { id, secret, hash } = newToken(world);
    const scope = { ...WHOLE, verbs: ['work', 'execute', 'read'] as const };
    const change = { change: 'add-token', token_id: id, agent: 'agent:worker', hash, scope, expires: Date.now() + 1e6 };
    await carriedOut(world, { kind: 'agent', change } as never);
    const token = `${id}.${secret}`;
    const first = startSource('serve-child', home);
    const { url } = await first.line('url');
    const worker = startSource('worker-child', String(url), token, join(folder, 'effects.log'), 'slow', '3000');
    await worker.line('ready');
    const client = connect({ url: String(url), token });
    const one = await gate.propose(charging('one'));
    await approve(world, one.action_id);
    const running = execute(client, one.action_id);
    await worker.line('running');
    first.process.kill('SIGKILL');
    assert.equal(await running, 'busy');
    assert.equal((await gate.show(one.action_id)).state, 'launched');
    const second = startSource('serve-child', home, new URL(String(url)).port);
    await second.line('url');
    const { done } = await worker.line('done');
    assert.deepEqual(done, { action_id: one.action_id, attempt: 1, result: 'confirmed', recorded: true });
    const { state, attempts } = await gate.show(one.action_id);
    assert.deepEqual([state, attempts.length, attempts[0]?.settled_by], ['confirmed', 1, 'connector-late']);
    const two = await gate.propose(charging('two'));
    await approve(world, two.action_id);
    assert.equal(await execute(client, two.action_id), 'confirmed');
    assert.deepEqual((await auditLedger(gate.ledger)).defects, []);
    for (const child of [worker, second]) child.process.kill('SIGKILL');
    await Promise.all([worker.ended, second.ended]);
    await gate.close();
    remove();
  });
});

/** The state that a launch led to, or the code of what refused it; again while the worker is on its way. */
async function execute(client: ReturnType<typeof connect>, action_id: string): Promise<string> {
  for (let left = 100; ; left -= 1) {
    try {
      return (await client.call('execute', { action_id })).state;
    } catch (error) {
      const { code } = error as { readonly code: string };
      if (code !== 'no_worker' || left === 0) return code;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
