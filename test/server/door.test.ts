/** What the door keeps of its word: keys that count once, bounds for each caller, one log, one clock, one home. */
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { connect as connectTo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { refusalKind } from '../../src/actions/refusals.js';
import { openApi, ROUTES, type Route, takesKey } from '../../src/api/index.js';
import { visitorOf } from '../../src/app/gate.js';
import { backupTo, type CountersignGate, homeAt, open, placeBackup } from '../../src/app/index.js';
import { isoTime, LIMITS } from '../../src/core/index.js';
import { serve } from '../../src/server/index.js';
import { KeptAnswers } from '../../src/server/kept-answers.js';
import { approve, carriedOut, codeOf, homeWorld, proposed, signed } from '../support/gate-world.js';
import { newToken, type ServerWorld, serverWorld, WHOLE } from '../support/server-world.js';
import { verifies } from '../support/verifies.js';

const sending = (changes: object = {}) => ({
  project: 'acme',
  connector: 'counting',
  operation: 'send',
  target: 'customers',
  args: { text: 'hello', account: 'customers' },
  ...changes,
});

const NOBODY = 'act_01M8P7HYPEX5B4VZS035AK3TPM';

/** Sets limits for a while. */
async function within(limits: Partial<Record<keyof typeof LIMITS, number>>, act: () => Promise<void>): Promise<void> {
  const known = { ...LIMITS };
  Object.assign(LIMITS, limits);
  try {
    await act();
  } finally {
    Object.assign(LIMITS, known);
  }
}

describe('the HTTP door', () => {
  let world: ServerWorld;
  before(async () => {
    world = await serverWorld();
  });
  after(() => world.close());

  const bearer = (text: string, more: Record<string, string> = {}) => ({ authorization: `Bearer ${text}`, ...more });
  const post = (text: string, path: string, body: unknown, more: Record<string, string> = {}) =>
    world.raw(path, {
      method: 'POST',
      headers: bearer(text, { 'content-type': 'application/json', ...more }),
      body: JSON.stringify(body),
    });

  it('says of a body that it does not take where the defect is, and what it is', async () => {
    verifies('server.body.told');
    const { text } = await world.token('agent:broken');
    const send = async (body: string) => {
      const headers = bearer(text, { 'content-type': 'application/json' });
      const answer = await world.raw('/v1/actions', { method: 'POST', headers, body });
      const { detail, path } = (await answer.json()) as { detail: string; path: string };
      return [answer.status, detail, path];
    };
    const broken = 'the body is not well-formed JSON: character has no place here, at line 2, column 10';
    assert.deepEqual(await send('{\n"args": {nothing}}'), [400, broken, '$.args']);
    assert.deepEqual(await send('{"project":7}'), [400, '`body.project` is no text', 'body.project']);
    assert.deepEqual(await send('[]'), [400, '`body` is no object', 'body']);
    assert.deepEqual(await send('{"amuont":7}'), [400, '`body.project` is missing', 'body.project']);
  });

  it('answers the head of what is read, under the same rules', async () => {
    verifies('server.head');
    const { text } = await world.token('agent:heads');
    const head = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await world.raw(path, { method: 'HEAD', headers });
      assert.equal(await answer.text(), '', path);
      return answer.status;
    };
    assert.deepEqual([await head('/healthz'), await head('/readyz'), await head('/v1/identity')], [200, 200, 401]);
    assert.equal(await head('/v1/identity', bearer(text)), 200);
    for (const path of ['/v1/events', '/v1/work/next']) assert.equal(await head(path, bearer(text)), 400, path);
    const page = await world.raw('/');
    assert.equal(await head('/'), page.status);
  });

  it('takes an idempotency key where something is asked for, in the ledger where it is proposed', async () => {
    verifies('server.idempotency');
    const { text } = await world.token('agent:keys');
    const client = world.client(text);
    const { action_id } = await client.call('propose', { body: sending({ args: { text: 'keys' } }) });
    const like = () => client.call('like', { action_id, idempotencyKey: 'k1' });
    const [first, second] = [await like(), await like()];
    assert.deepEqual([second.action_id, first.joined, second.joined], [first.action_id, false, true]);
    assert.notEqual(first.action_id, action_id);
    const apart = await client.call('like', { action_id, idempotencyKey: 'k2' });
    assert.notEqual(apart.action_id, first.action_id);
    const reused = client.call('propose', { body: sending({ args: { text: 'x' } }), idempotencyKey: 'k1' });
    assert.equal(await codeOf(reused), 'idempotency_reuse');
    assert.equal(
      await codeOf(client.call('like', { action_id: first.action_id, idempotencyKey: 'k1' })),
      'idempotency_reuse',
    );
    // Whoever shows nothing has no keys, and nothing is looked up under one.
    const page = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json', 'idempotency-key': 'k1' };
    for (const init of [
      { path: '/v1/session/options', method: 'POST', headers: page, body: '{}' },
      { path: '/v1/identity', method: 'GET', headers: bearer(text, { 'idempotency-key': 'k1' }) },
      { path: '/v1/actions', method: 'POST', headers: bearer(text, { 'idempotency-key': 'has spaces' }) },
    ]) {
      const answer = await world.raw(init.path, init);
      const problem = (await answer.json()) as { code: string; path: string };
      assert.deepEqual([problem.code, problem.path], ['invalid', 'idempotency-key'], init.path);
    }
    const { paths } = openApi('0', 'http://localhost') as unknown as {
      paths: Record<string, Record<string, { operationId: string; parameters: { name: string }[] }>>;
    };
    const told = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .filter(({ parameters }) => parameters.some(({ name }) => name === 'Idempotency-Key'));
    const rows = (Object.entries(ROUTES) as [string, Route][]).filter(([, route]) => takesKey(route));
    assert.deepEqual(told.map(({ operationId }) => operationId).sort(), rows.map(([name]) => name).sort());
    const none = (Object.entries(ROUTES) as [string, Route][]).filter(
      ([, route]) => route.method === 'POST' && route.audience !== 'public' && !takesKey(route),
    );
    assert.deepEqual(
      none.map(([name]) => name),
      ['workNext', 'workClaim', 'workDone', 'signOut'],
    );
    const kept = rows.filter(([, { key }]) => key === 'ledger').map(([name]) => name);
    assert.deepEqual(kept.sort(), ['like', 'propose']);
  });

  it('answers the same under the same key, does it once, and is asked anew after a refusal', async () => {
    verifies('server.idempotency');
    const client = world.client((await world.token('agent:once')).text);
    const { action_id } = await client.call('propose', { body: sending({ args: { text: 'once' } }) });
    const ask = (more: object = {}) => client.call('request', { action_id, idempotencyKey: 'r1', ...more });
    const [first, ...rest] = await Promise.all([ask(), ask(), ask()]);
    for (const one of [...rest, await ask()]) assert.deepEqual(one, first);
    assert.equal((await world.gate.ledger.lookup('request', action_id)).length, 1);
    assert.equal(await codeOf(ask({ body: { decision: 'deny' } })), 'idempotency_reuse');
    assert.equal(await codeOf(client.call('execute', { action_id, idempotencyKey: 'r1' })), 'idempotency_reuse');
    // What was refused changed nothing: it is looked at again.
    const run = () => client.call('execute', { action_id, idempotencyKey: 'run' });
    assert.equal(await codeOf(run()), 'receipt_required');
    await approve(world, action_id);
    const done = await run();
    assert.equal(done.state, 'confirmed');
    assert.deepEqual(await run(), done);
    assert.equal(world.connector.effectsOf(action_id), 1);
    assert.equal(await codeOf(client.call('execute', { action_id })), 'state');
  });

  it('has keys apart for each caller and each scope, and for a while', async () => {
    verifies('server.idempotency');
    const [one, other] = [await world.token('agent:k'), await world.token('agent:l')];
    const narrow = await world.token('agent:k', { projects: ['elsewhere'] });
    const { action_id } = await world.client(one.text).call('propose', { body: sending({ args: { text: 'apart' } }) });
    const ask = (text: string) => world.client(text).call('request', { action_id, idempotencyKey: 'same' });
    const first = await ask(one.text);
    assert.equal(await codeOf(ask(other.text)), 'forbidden');
    assert.equal(await codeOf(ask(narrow.text)), 'unknown_action');
    assert.deepEqual(await ask(one.text), first);
    const long = await world.token('agent:k', {}, 3 * LIMITS.answersKeptMs);
    world.clock.elapsed += LIMITS.answersKeptMs - 1;
    assert.deepEqual(await ask(long.text), first);
    world.clock.elapsed += 1;
    assert.notDeepEqual(await ask(long.text), first);
  });

  it('keeps no more answers than it may, the oldest of a caller going first', async () => {
    verifies('server.idempotency');
    const kept = new KeptAnswers(() => 0);
    let made = 0;
    const once = (key: string, caller = 'a', chars = 1) =>
      kept.once(caller, key, 'x', async () => `${made++}`.padEnd(chars));
    await within({ answersKeptMax: 2, answersKeptCharsMax: 10, answersKeptCallersMax: 2 }, async () => {
      const [a, b] = [await once('a'), await once('b')];
      assert.deepEqual([await once('a'), await once('b')], [a, b]);
      await once('c');
      assert.deepEqual([await once('b'), (await once('a')) === a], [b, false]);
      await once('long', 'a', 11);
      assert.equal(made, 5);
      await once('long', 'a', 11);
      assert.equal(made, 6, 'what is too long is not kept');
      const theirs = await once('a', 'b');
      await once('a', 'c');
      assert.equal(await once('a', 'b'), theirs);
      await once('a', 'd');
      assert.equal(await once('a', 'b'), theirs);
    });
  });

  it('tells whoever asks again under a key that nothing was written, and what came of it', async () => {
    verifies('server.idempotency');
    const client = world.client((await world.token('agent:again')).text);
    world.connector.behave = async (_call, effect) => ({ ...effect(), evidence: { seen: 1 } });
    const body = sending({ operation: 'note', args: { text: 'again' } });
    const ask = () => client.call('propose', { body, query: { launch: 'true' }, idempotencyKey: 'again' });
    const [first, second] = [await ask(), await ask()];
    assert.deepEqual([first.joined, second.joined], [false, true]);
    assert.equal(first.settled?.state, 'confirmed');
    assert.deepEqual(second.settled, first.settled);
    assert.equal(world.connector.effectsOf(first.action_id), 1);
    world.connector.behave = async (_call, effect) => effect();
    const waits = sending({ args: { text: 'waits' } });
    const held = () => client.call('propose', { body: waits, query: { launch: 'true' }, idempotencyKey: 'held' });
    assert.deepEqual([(await held()).joined, (await held()).settled], [false, undefined]);
  });

  it('bounds what one token has open, calls and streams apart, and shuts nobody else out', async () => {
    verifies('server.bounded');
    const [one, other] = [await world.token('agent:greedy'), await world.token('agent:other')];
    await within({ streamsPerCallerMax: 2, callsPerCallerMax: 1, requestsRunningMax: 3 }, async () => {
      const stop = new AbortController();
      const stream = (text: string) => world.raw('/v1/events', { headers: bearer(text), signal: stop.signal });
      const opened = [(await stream(one.text)).status, (await stream(one.text)).status];
      assert.deepEqual(opened, [200, 200]);
      assert.equal((await stream(one.text)).status, 503);
      assert.equal((await stream(other.text)).status, 200);
      assert.equal((await world.raw('/v1/identity', { headers: bearer(one.text) })).status, 200);
      let answer: () => void = () => undefined;
      const called = new Promise<void>((resolve) => {
        world.connector.behave = (_call, effect) => {
          resolve();
          return new Promise((settle) => (answer = () => settle(effect())));
        };
      });
      const body = sending({ operation: 'note', args: { text: 'bounded' } });
      const running = post(one.text, '/v1/actions?launch=true', body);
      await called;
      assert.equal((await world.raw('/v1/identity', { headers: bearer(one.text) })).status, 503);
      assert.equal((await world.raw('/v1/identity', { headers: bearer(other.text) })).status, 200);
      for (const path of ['/healthz', '/readyz']) assert.equal((await world.raw(path)).status, 200, path);
      answer();
      assert.equal((await running).status, 200);
      assert.equal((await world.raw('/v1/identity', { headers: bearer(one.text) })).status, 200);
      stop.abort();
      world.connector.behave = async (_call, effect) => effect();
    });
    let status = 503;
    for (let tries = 0; tries < 50 && status === 503; tries += 1) {
      const stop = new AbortController();
      await within({ streamsPerCallerMax: 1 }, async () => {
        status = (await world.raw('/v1/events', { headers: bearer(one.text), signal: stop.signal })).status;
      });
      stop.abort();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(status, 200, 'a stream that ended leaves its place');
  });

  it('answers health also where everything else is busy', async () => {
    verifies('server.bounded');
    const { text } = await world.token();
    await within({ requestsRunningMax: 0 }, async () => {
      assert.equal((await world.raw('/v1/identity', { headers: bearer(text) })).status, 503);
      assert.equal((await world.raw('/healthz')).status, 200);
    });
  });

  it('answers what is no request of this server with problem details', async () => {
    verifies('server.host');
    const { text } = await world.token();
    const host = new URL(world.serving.publicUrl).host;
    const port = Number(new URL(world.serving.publicUrl).port);
    const ask = (lines: readonly string[]) =>
      new Promise<string>((resolve) => {
        const socket = connectTo(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
        let told = '';
        socket.on('data', (bytes) => (told += bytes));
        socket.on('close', () => resolve(told));
      });
    const credentials = `Authorization: Bearer ${text}`;
    const close = 'Connection: close';
    const cases = [
      [['GET /v1/identity HTTP/1.1', 'Host: a b', credentials, close], 400, 'invalid'],
      [['OPTIONS * HTTP/1.1', `Host: ${host}`, close], 400, 'invalid'],
      [['GET http://evil.example/v1/identity HTTP/1.1', `Host: ${host}`, credentials, close], 403, 'forbidden'],
      [['GET http://localhost:1/v1/identity HTTP/1.1', `Host: ${host}`, credentials, close], 403, 'forbidden'],
    ] as const;
    for (const [lines, status, code] of cases) {
      const told = await ask(lines);
      assert.ok(told.startsWith(`HTTP/1.1 ${status} `), `${lines[0]}: ${told}`);
      assert.match(told, /content-type: application\/problem\+json/i);
      assert.match(told, /x-content-type-options: nosniff/i);
      assert.match(told, new RegExp(`"code":"${code}"`));
    }
    const own = await ask([`GET http://${host}/v1/identity HTTP/1.1`, `Host: ${host}`, credentials, close]);
    assert.ok(own.startsWith('HTTP/1.1 200 '), own);
  });

  it('counts what it refuses in one place: over the bound of a day as well', async () => {
    verifies('server.refusals');
    const { text } = await world.token('agent:refused');
    const client = world.client(text);
    const id = `agent:refused/${isoTime(world.clock.now()).slice(0, 10)}`;
    await within({ refusalsPerDayMax: 5 }, async () => {
      for (let tries = 0; tries < 12; tries += 1) {
        assert.equal(await codeOf(client.call('execute', { action_id: NOBODY })), 'unknown_action');
      }
      assert.equal((await world.gate.ledger.read(refusalKind, id))?.state.count, 10);
    });
  });

  it('lets in nobody by a token that was over already when a clock is set back', async () => {
    verifies('authority.token.ends');
    const short = await world.token('agent:short', {}, 1_000);
    world.clock.advance(2_000);
    const client = world.client(short.text);
    assert.equal(await codeOf(client.call('identity', {})), 'unauthenticated');
    await world.client((await world.token()).text).call('propose', { body: sending({ args: { text: 'later' } }) });
    world.clock.wall -= 2_000;
    assert.equal(await codeOf(client.call('identity', {})), 'unauthenticated');
    world.clock.wall += 2_000;
  });
});

describe('a restore whose receipt comes in at the door', () => {
  it('is accepted by the gate as one that is handed in here', async () => {
    verifies('server.restore');
    const world = await homeWorld();
    const home = homeAt(world.folder, {});
    const token = newToken(world);
    const expires = world.clock.now() + 3_600_000;
    const change = {
      change: 'add-token',
      token_id: token.id,
      agent: 'agent:w',
      hash: token.hash,
      scope: WHOLE,
      expires,
    };
    await carriedOut(world, { kind: 'agent', change } as never);
    const file = join(mkdtempSync(join(tmpdir(), 'countersign-restore-')), 'backup.db');
    await backupTo(world.gate as CountersignGate, file);
    await proposed(world);
    await world.gate.close();
    await placeBackup(home, file, 1);
    const gate = await open({ home: home.folder, clock: world.clock, connectors: [world.connector] });
    const { sequence, logHash } = await gate.ledger.head();
    const act = {
      kind: 'restore',
      sequence,
      log_hash: logHash,
      remembered: { epoch: 0, sequence: 1, log_hash: logHash },
    } as const;
    const operator = visitorOf(gate, { principal: 'human:alice', session: true });
    const issued = await operator.requestAct(act);
    assert.ok(
      issued.summary.some((line) => line.includes(String(gate.seen()?.sequence))),
      issued.summary.join('\n'),
    );
    const visitor = await gate.visitor(`${token.id}.${token.secret}`);
    await visitor.submit(signed(issued.request));
    const { action_id } = await gate.propose(sending({ operation: 'note', args: { text: 'after' } }) as never);
    assert.equal((await gate.execute(action_id)).state, 'confirmed');
    await gate.close();
    const again = await open({ home: home.folder, clock: world.clock, connectors: [world.connector] });
    const next = await again.propose(sending({ operation: 'note', args: { text: 'next' } }) as never);
    assert.equal((await again.execute(next.action_id)).state, 'confirmed');
    await again.close();
    await world.close();
  });
});

describe('a log that throws', () => {
  it('changes nothing of what is answered', async () => {
    verifies('app.log.own');
    const world = await serverWorld();
    const token = await world.token();
    for (const write of [
      () => {
        throw new TypeError('the log is broken');
      },
      () => Promise.reject(new TypeError('the log is broken')),
    ]) {
      const log = { write } as never;
      const gate = await open({ home: world.folder, log, clock: world.clock, connectors: [world.connector] });
      assert.equal(await codeOf(gate.execute(NOBODY)), 'unknown_action');
      assert.equal(await codeOf(gate.show('nothing')), 'unknown_action');
      gate.services.ledger.head = () => Promise.reject(new TypeError('the store is broken'));
      const serving = await serve(gate, { publicUrl: 'http://localhost:0', version: '0', log });
      const answer = await fetch(new URL('/readyz', serving.publicUrl));
      assert.equal(((await answer.json()) as { code: string }).code, 'internal');
      await serving.close();
      await gate.close().catch(() => undefined);
    }
    assert.equal(await codeOf(open({ home: '/nonexistent', log: { write: 1 } as never })), 'not_initialized');
    assert.equal((await world.client(token.text).call('identity', {})).principal, 'agent:bot');
    await world.close();
  });
});
