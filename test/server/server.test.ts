/** The HTTP door, over real connections: who gets in, what they see, and that an effect still happens once. */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { openApi, ROUTES, type Route } from '../../src/api/index.js';
import { auditLedger } from '../../src/app/index.js';
import { LIMITS } from '../../src/core/index.js';
import { serve } from '../../src/server/index.js';
import { carriedOut, codeOf, signed } from '../support/gate-world.js';
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

describe('the HTTP door', () => {
  let world: ServerWorld;
  before(async () => {
    world = await serverWorld();
  });
  after(() => world.close());

  it('answers nobody without credentials, but for health', async () => {
    verifies('server.authenticated');
    for (const [name, route] of Object.entries(ROUTES) as [string, Route][]) {
      const path = route.path.replaceAll(/\{[a-z_]+\}/g, 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W');
      for (const headers of [{}, { authorization: 'Bearer nothing' }, { authorization: 'Basic eDp5' }]) {
        const { status } = await world.raw(path, { method: route.method, headers });
        const isOpen = name === 'health' || name === 'ready';
        // What is for a page of this server alone answers nothing but that.
        const refused = route.audience === 'public' ? 403 : 401;
        assert.equal(status, isOpen ? 200 : refused, name);
      }
    }
    const open = Object.entries(ROUTES).filter(([, { audience }]) => (audience as string) === 'public');
    assert.deepEqual(open.map(([name]) => name).sort(), [
      ...['enrol', 'health', 'openInvitation', 'ready', 'signIn', 'signInOptions'],
    ]);
  });

  it('takes an action from its proposal to its effect, with a signature in between, once', async () => {
    verifies('server.cycle');
    const { text } = await world.token();
    const client = world.client(text);
    assert.equal((await client.call('identity', {})).principal, 'agent:bot');
    const { action_id, state } = await client.call('propose', { body: sending() });
    assert.equal(state, 'proposed');
    assert.equal(await codeOf(client.call('execute', { action_id })), 'receipt_required');
    const { request, summary } = await client.call('request', { action_id });
    assert.ok(summary.includes('proposed by: agent:bot'), summary.join('\n'));
    assert.deepEqual(await client.call('fetchReceipt', { action_id }), { pending: true });
    const receipt = signed(request as never) as never;
    await client.call('submit', { body: { receipt } });
    assert.equal(await codeOf(client.call('submit', { body: { receipt } })), 'replay');
    const fetched = await client.call('fetchReceipt', { action_id });
    assert.equal('state' in fetched && fetched.state, 'approved');
    const settled = await client.call('execute', { action_id });
    assert.deepEqual([settled.state, settled.attempt], ['confirmed', 1]);
    assert.equal(await codeOf(client.call('execute', { action_id })), 'state');
    assert.equal(world.connector.effectsOf(action_id), 1);
    const shown = await client.call('show', { action_id });
    assert.equal(shown.sees, 'all');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('proposes once under one key, whoever asks how often, and launches at once what policy allows', async () => {
    verifies('server.idempotency');
    const client = world.client((await world.token()).text);
    const body = sending({ operation: 'note', args: { text: 'once' } });
    const calls = Array.from({ length: 8 }, () =>
      client.call('propose', { body, query: { launch: 'true' }, idempotencyKey: 'k1' }),
    );
    const ids = new Set((await Promise.all(calls)).map(({ action_id }) => action_id));
    assert.equal(ids.size, 1);
    assert.equal(world.connector.effectsOf([...ids][0] ?? ''), 1);
    const other = client.call('propose', { body: sending({ operation: 'note' }), idempotencyKey: 'k1' });
    assert.equal(await codeOf(other), 'idempotency_reuse');
  });

  it('lets a token do what its scope covers, and nothing else', async () => {
    verifies('authority.token.scope');
    const narrow = world.client(
      (await world.token('agent:narrow', { projects: ['acme'], verbs: ['read', 'propose'] })).text,
    );
    assert.equal(await codeOf(narrow.call('propose', { body: sending({ project: 'other' }) })), 'forbidden');
    const { action_id } = await narrow.call('propose', { body: sending({ args: { text: 'narrow' } }) });
    for (const name of ['execute', 'retry', 'reconcile'] as const) {
      assert.equal(await codeOf(narrow.call(name, { action_id })), 'forbidden', name);
    }
    assert.equal(await codeOf(narrow.call('cancel', { action_id, body: {} })), 'forbidden');
    assert.equal(await codeOf(narrow.call('recover', {})), 'forbidden');
    const act = { kind: 'freeze', op: 'set', scope: { scope: 'all', name: null } } as const;
    const whole = world.client((await world.token()).text);
    for (const client of [narrow, whole]) {
      assert.equal(await codeOf(client.call('requestAct', { body: { act } })), 'forbidden');
    }
    assert.equal(
      await codeOf(narrow.call('propose', { body: sending({ on_behalf_of: ['human:alice'] }) })),
      'forbidden',
    );
  });

  it('shows what an action says to its proposer alone; to others that there is one, or nothing', async () => {
    verifies('server.read.scoped');
    const proposer = world.client((await world.token('agent:proposer')).text);
    const other = world.client((await world.token('agent:other')).text);
    const apart = world.client((await world.token('agent:apart', { projects: ['elsewhere'] })).text);
    const { action_id } = await proposer.call('propose', { body: sending({ args: { text: 'for my eyes' } }) });
    const { request } = await proposer.call('request', { action_id });
    const seen = await other.call('show', { action_id });
    assert.deepEqual(Object.keys(seen).sort(), ['action_id', 'digest', 'sees', 'state']);
    const request_id = String((request as { request_id: unknown }).request_id);
    assert.equal(await codeOf(other.call('summary', { action_id })), 'forbidden');
    assert.equal(await codeOf(other.call('requestDetails', { request_id })), 'forbidden');
    assert.equal(await codeOf(other.call('request', { action_id })), 'forbidden');
    assert.equal(await codeOf(apart.call('show', { action_id })), 'unknown_action');
    const rows = async (client: typeof other) => (await client.call('list', {})).rows.map(({ id }) => id);
    assert.ok((await rows(proposer)).includes(action_id));
    assert.ok((await rows(other)).includes(action_id));
    assert.ok(!(await rows(apart)).includes(action_id));
    const waits = async (client: typeof other) => (await client.call('decisions', {})).rows.length;
    assert.equal(await waits(other), 0);
    assert.ok((await waits(proposer)) >= 1);
  });

  it('knows no token that is over, revoked, of another secret or none, and says the same of each', async () => {
    verifies('authority.token.ends');
    const over = await world.token('agent:bot', {}, 1_000);
    const revoked = await world.token();
    await carriedOut(world, { kind: 'agent', change: { change: 'revoke-token', token_id: revoked.id } });
    world.clock.advance(1_000);
    const good = await world.token();
    const answers = new Set<string>();
    for (const token of [over.text, revoked.text, `${good.id}.${revoked.text.split('.')[1]}`, 'tok_none', good.id]) {
      const answer = await world.raw('/v1/identity', { headers: { authorization: `Bearer ${token}` } });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
      answers.add(await answer.text());
    }
    assert.equal(answers.size, 1);
    const nobody = { change: 'revoke-token', token_id: newToken(world).id } as const;
    assert.equal(await codeOf(carriedOut(world, { kind: 'agent', change: nobody })), 'unknown_token');
    const kept = JSON.stringify(await world.gate.ledger.events({ kind: 'token', id: good.id }));
    assert.ok(!kept.includes(good.text.split('.')[1] ?? ''), 'the ledger keeps no secret');
  });

  it('ends every token with the epoch: one that was revoked since a backup does not come back', async () => {
    verifies('authority.token.ends');
    const other = await serverWorld();
    const token = await other.token();
    const { sequence, logHash } = await other.gate.ledger.head();
    const act = { kind: 'restore', sequence, log_hash: logHash } as const;
    await carriedOut(other, { ...act, remembered: { epoch: 0, sequence: sequence + 1, log_hash: logHash } });
    assert.equal(await codeOf(other.client(token.text).call('identity', {})), 'unauthenticated');
    assert.equal((await other.client((await other.token()).text).call('identity', {})).principal, 'agent:bot');
    await other.close();
  });

  it('replaces a token by another one, and both are good for a while', async () => {
    verifies('authority.token.rotated');
    const before = await world.token('agent:rotated', { verbs: ['read'] });
    const next = newToken(world);
    const now = world.clock.now();
    const known = { agent: 'agent:rotated', scope: { ...WHOLE, verbs: ['read' as const] } };
    const names = { token_id: next.id, replaces: before.id, hash: next.hash, ...known };
    const change = { change: 'rotate-token', ...names } as const;
    const act = { kind: 'agent', change: { ...change, expires: now + 10_000, overlap_until: now + 5_000 } } as const;
    await carriedOut(world, act);
    const [old, fresh] = [world.client(before.text), world.client(`${next.id}.${next.secret}`)];
    for (const client of [old, fresh]) assert.equal((await client.call('identity', {})).principal, 'agent:rotated');
    assert.equal(await codeOf(fresh.call('propose', { body: sending() })), 'forbidden');
    world.clock.advance(5_000);
    assert.equal(await codeOf(old.call('identity', {})), 'unauthenticated');
    assert.equal((await fresh.call('identity', {})).principal, 'agent:rotated');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('reads a body strictly, under its limits, as JSON alone', async () => {
    verifies('server.strict');
    const { text } = await world.token();
    const post = async (body: string | Uint8Array, type = 'application/json', path = '/v1/actions') => {
      const headers = { authorization: `Bearer ${text}`, 'content-type': type };
      const answer = await world.raw(path, { method: 'POST', headers, body: body as string });
      assert.equal(answer.headers.get('content-type'), 'application/problem+json');
      const problem = (await answer.json()) as { code: string; status: number };
      assert.equal(problem.status, answer.status);
      return problem.code;
    };
    assert.equal(await post('{"project":"a","project":"b"}'), 'invalid');
    assert.equal(await post('{'), 'invalid');
    assert.equal(await post(JSON.stringify(sending({ more: 1 }))), 'invalid');
    assert.equal(await post(JSON.stringify(sending()), 'text/plain'), 'invalid');
    assert.equal(await post(`"${'x'.repeat(LIMITS.jsonBytesMax)}"`), 'invalid');
    assert.equal(await post('{"a":1}', 'application/json', '/v1/recover'), 'invalid');
    assert.equal(await post('{}', 'application/json', '/v1/nothing'), 'not_found');
    const headers = { authorization: `Bearer ${text}` };
    for (const path of ['/v1/actions?limit=0', '/v1/actions?limit=1&limit=2', '/v1/actions?x=1', '/v1/actions/%E0']) {
      const answer = await world.raw(path, { headers });
      assert.equal(((await answer.json()) as { code: string }).code, 'invalid', path);
    }
    assert.equal((await world.raw('/v1/actions', { method: 'DELETE', headers })).status, 400);
  });

  it('answers under its own address alone', async () => {
    verifies('server.host');
    const port = Number(new URL(world.serving.publicUrl).port);
    const ask = (headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        const sent = httpRequest({ host: '127.0.0.1', port, path: '/healthz', headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        });
        sent.on('error', reject);
        sent.end();
      });
    assert.equal(await ask({ host: `localhost:${port}` }), 200);
    for (const host of [`127.0.0.1:${port}`, `evil.example:${port}`, 'localhost', `localhost:${port}.evil.example`]) {
      assert.ok([400, 403].includes(await ask({ host })), host);
    }
    assert.equal(await ask({ host: `localhost:${port}`, origin: 'http://evil.example' }), 403);
  });

  it('tells what it does: an OpenAPI document with every route, and metrics without anything that a caller chose', async () => {
    verifies('server.described');
    const { text } = await world.token();
    const headers = { authorization: `Bearer ${text}` };
    const told = (await (await world.raw('/v1/openapi.json', { headers })).json()) as ReturnType<typeof openApi>;
    assert.deepEqual(told, JSON.parse(JSON.stringify(openApi('0.0.0', world.serving.publicUrl))));
    const paths = told['paths'] as Record<string, Record<string, { operationId: string }>>;
    for (const [name, { method, path }] of Object.entries(ROUTES)) {
      assert.equal(paths[path]?.[method.toLowerCase()]?.operationId, name);
    }
    await world.raw('/v1/actions/secret-path', { headers });
    const metrics = await (await world.raw('/metrics', { headers })).text();
    assert.match(metrics, /countersign_http_requests_total\{route="show",status="404"\} [1-9]/);
    assert.ok(!metrics.includes('secret-path'));
  });
});

describe('the event stream', () => {
  it('tells a caller of the actions that it sees, goes on where it left off, and ends with its token', async () => {
    verifies('server.events');
    const world = await serverWorld();
    const [mine, other] = [
      await world.token('agent:bot'),
      await world.token('agent:apart', { projects: ['elsewhere'] }),
    ];
    const stop = new AbortController();
    const client = world.client(mine.text);
    const stream = client.events(0, stop.signal);
    const { action_id } = await client.call('propose', { body: sending() });
    const first = (await stream.next()).value;
    assert.deepEqual([first?.action_id, first?.what, first?.state], [action_id, 'action-proposed', 'proposed']);
    verifies('app.inbox.awaited');
    assert.equal(await world.gate.isAwaited(action_id), true, 'its agent listens');
    await client.call('cancel', { action_id, body: {} });
    assert.equal((await stream.next()).value?.what, 'action-cancelled');
    const resumed = client.events(first?.sequence, stop.signal);
    assert.equal((await resumed.next()).value?.what, 'action-cancelled');
    const apart = world.client(other.text).events(0, AbortSignal.timeout(300));
    const told: unknown[] = [];
    for await (const event of apart) told.push(event);
    assert.deepEqual(told, []);
    await carriedOut(world, { kind: 'agent', change: { change: 'revoke-token', token_id: mine.id } });
    assert.equal(await codeOf(stream.next()), 'unauthenticated');
    stop.abort();
    await world.close();
  });
});

describe('a server', () => {
  it('has both addresses of the machine itself, or serves nothing', async () => {
    verifies('server.loopback');
    verifies('cli.serve.place');
    const world = await serverWorld();
    const port = new URL(world.serving.publicUrl).port;
    assert.deepEqual([...world.serving.addresses].sort(), [`127.0.0.1:${port}`, `[::1]:${port}`]);
    const again = serve(world.gate as never, { publicUrl: world.serving.publicUrl, version: '0' });
    assert.equal(await codeOf(again), 'busy');
    for (const publicUrl of [
      'http://example.com',
      'localhost',
      'http://localhost/path',
      'ftp://localhost',
      'https://x.example',
    ]) {
      assert.equal(await codeOf(serve(world.gate as never, { publicUrl, version: '0' })), 'invalid', publicUrl);
    }
    for (const host of ['192.0.2.1', 'no-such-host.invalid']) {
      const elsewhere = serve(world.gate as never, { listen: [{ host, port: 4_711 }], version: '0' });
      assert.equal(await codeOf(elsewhere), 'invalid', host);
    }
    await world.close();
  });

  it('lets what runs settle before it ends, and takes nothing more', async () => {
    verifies('server.drain');
    const world = await serverWorld();
    const client = world.client((await world.token()).text);
    let answer: () => void = () => undefined;
    const called = new Promise<void>((resolve) => {
      world.connector.behave = (_call, effect) => {
        resolve();
        return new Promise((settle) => (answer = () => settle(effect())));
      };
    });
    const body = sending({ operation: 'note', args: { text: 'slow' } });
    const running = client.call('propose', { body, query: { launch: 'true' } });
    await called;
    const closed = world.close();
    answer();
    assert.equal((await running).settled?.state, 'confirmed');
    await closed;
    assert.equal(await codeOf(client.call('health', {})), 'busy');
  });
});
