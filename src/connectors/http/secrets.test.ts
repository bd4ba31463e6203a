/** Tests of the secrets of `http`: they go to the other side in a header, and nowhere else, whatever it says of them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endpointOf, httpCall, operationOf, sayingServer } from '../../../test/support/http-world.js';
import { verifies } from '../../../test/support/verifies.js';
import { Refusal } from '../../core/index.js';
import { openConnectors } from '../index.js';
import { httpConfig } from './index.js';

const SECRET = 'q"9\\z/+Tk%4711&é'.replace('é', 'e');
const PASSWORD = 'hunter2-hunter2';
const PAIR = Buffer.from(`gate:${PASSWORD}`).toString('base64');
const NUMBER = '4711471147';
const NAMED: Readonly<Record<string, string>> = { KEY: SECRET, PAIR, NUMBER };
const SECRET_HEADERS = {
  'x-key': { secret: 'KEY' },
  authorization: { secret: 'PAIR', prefix: 'Basic ' },
  'x-number': { secret: 'NUMBER' },
};
const FORMS = [
  ...[SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET), Buffer.from(SECRET).toString('base64')],
  ...[Buffer.from(SECRET).toString('base64url'), PAIR, `gate:${PASSWORD}`, PASSWORD, NUMBER],
];

function assertSilent(said: unknown): void {
  const text = `${JSON.stringify(said)} ${String(said)}`;
  for (const form of FORMS) {
    assert.ok(!text.includes(form), form);
    assert.ok(!text.includes(JSON.stringify(form).slice(1, -1)), form);
  }
}

const secret = async (name: string) => NAMED[name];

describe('secrets of http', () => {
  it('stand in no evidence and no reference, in whatever form the other side repeats them', async () => {
    verifies('connectors.http.secrets');
    const echoes = [
      { status: 200, body: { id: SECRET, deep: [{ [SECRET]: `x${SECRET}y` }, FORMS], number: Number(NUMBER) } },
      { status: 200, body: { id: `re_${PASSWORD}` } },
      { status: 422, body: FORMS.map((form) => `<b>${form}</b>`).join('\n') },
      { status: 500, body: `{"broken": ${JSON.stringify(FORMS)}`, headers: { 'content-type': 'application/json' } },
      { status: 301, headers: { location: `/${encodeURIComponent(SECRET)}`, 'x-echo': PAIR } },
    ];
    for (const echo of echoes) {
      const server = await sayingServer(() => echo);
      const outcomes = { confirmed: [200], failed: [422], reference: '/id' };
      const reconcile = { path: '/x', ...outcomes };
      const endpoint = endpointOf(server.base, { secret_headers: SECRET_HEADERS, outcomes, reconcile });
      const logged: unknown[] = [];
      const log = { write: (...line: unknown[]) => void logged.push(line.map(String)) };
      const host = { stateDir: '/nonexistent', now: Date.now, log };
      const opened = openConnectors({ http: { endpoints: { call: endpoint } } }, host).get('http');
      const operation = await opened?.operation('call');
      assert.ok(operation !== undefined);
      const call = httpCall({}, { secret });
      const outcome = await operation.execute(call);
      assert.equal(server.seen[0]?.headers['x-key'], SECRET, 'they were sent');
      assert.equal(server.seen[0]?.headers.authorization, `Basic ${PAIR}`);
      assertSilent([outcome, outcome.externalRef, await operation.reconcile?.(call), await operation.prepare?.(call)]);
      assertSilent(logged);
      assert.ok(outcome.evidence !== undefined);
      await server.close();
    }
  });

  it('are named in the summary, and do not stand there', async () => {
    verifies('connectors.http.secrets');
    const operation = await operationOf(endpointOf('https://api.example.com', { secret_headers: SECRET_HEADERS }));
    const lines = operation.summary(httpCall({}, { secret }));
    assertSilent(lines);
    assert.deepEqual(
      lines.map(({ name, value }) => `${name}: ${value}`),
      [
        'request: POST https://api.example.com/pay',
        'body: {}',
        'secret headers: {"authorization":"Basic <PAIR>","x-key":"<KEY>","x-number":"<NUMBER>"}',
      ],
    );
  });

  it('are refused before the launch where they are missing or fit in no header, and nothing is sent', async () => {
    verifies('connectors.http.secrets');
    const server = await sayingServer(() => ({ status: 200 }));
    const operation = await operationOf(endpointOf(server.base, { secret_headers: { 'x-key': { secret: 'KEY' } } }));
    const bad = [
      undefined,
      '',
      'short77',
      'with\r\nx-admin: true',
      'with a blank',
      'ünicode-ünicode',
      'x'.repeat(8_193),
    ];
    for (const value of bad) {
      const call = httpCall({}, { secret: async () => value });
      assert.deepEqual(await operation.execute(call), { result: 'failed', code: 'no_secret' });
      await assert.rejects(
        async () => operation.prepare?.(call),
        (error) => {
          return error instanceof Refusal && (value === undefined || value === '' || !error.message.includes(value));
        },
      );
    }
    assert.equal(server.seen.length, 0);
    for (const value of ['x'.repeat(8), 'x'.repeat(8_192)]) {
      assert.equal((await operation.execute(httpCall({}, { secret: async () => value }))).result, 'confirmed');
    }
    await server.close();
  });

  it('and everything else of an endpoint can not be written where it means something else', () => {
    verifies('connectors.http.config');
    const arg = { type: 'string' };
    const money = { amount: 'cents', currency: 'unit' };
    const cents = { type: 'integer', min: 0 };
    const bad: Record<string, unknown>[] = [
      ...[
        'host',
        'content-length',
        'transfer-encoding',
        'connection',
        'idempotency-key',
        'cookie',
        'accept-encoding',
      ].map((name) => ({ headers: { [name]: 'x' } })),
      ...['X-Upper', 'x y', 'x:', 'x\n', '', '__proto__x'].map((name) => ({ headers: { [name]: 'x' } })),
      ...['a\r\nb: c', 'a\nb', 'a\0', 'é', ' a', 'a ', 'x'.repeat(1_025)].map((value) => ({
        headers: { 'x-a': value },
      })),
      { headers: { authorization: 'Bearer x' } },
      { headers: { 'x-api-key': 'abc' } },
      { headers: { 'x-a': 'ghp_0123456789abcdefghij' } },
      { headers: { 'x-a': '1' }, secret_headers: { 'x-a': { secret: 'KEY' } } },
      { secret_headers: { 'x-a': { secret: 'KEY', prefix: 'a\nb' } } },
      ...['//evil.example', '/a//b', '/a/../b', '/./a', 'a', '', '/a?b?c', '/a#b', '/a%2fb', '/a\\b', '/..;/a'].map(
        (path) => ({ path }),
      ),
      ...['/{x', '/{}', '/{1}', '/{unknown}', '/{constructor}', '/a?', '/ü', '/a b'].map((path) => ({ path })),
      { path: '/{x}', args: { x: { ...arg, optional: true } } },
      { method: 'GET', args: { x: arg } },
      { body: [], args: { x: arg } },
      { body: ['y'], args: { x: arg } },
      ...['constructor', 'action_id', '__proto__x', 'x'.repeat(29), 'a-b'].map((name) => ({ args: { [name]: arg } })),
      { args: { a_b: arg, A_b: arg } },
      { args: { cents, unit: arg }, facts: { amount: 'cents' } },
      { args: { cents: { type: 'integer' }, unit: arg }, facts: money },
      { args: { cents: { ...cents, optional: true }, unit: arg }, facts: money },
      { args: { cents, unit: { ...arg, optional: true } }, facts: money },
      { args: { cents, unit: { type: 'boolean' } }, facts: money },
      { args: { x: { type: 'boolean' } }, facts: { target: 'x' } },
      { facts: { target: 'x' } },
      { outcomes: { confirmed: [] } },
      { outcomes: { confirmed: [100] } },
      { outcomes: { confirmed: [200], failed: [200] } },
      { outcomes: { confirmed: [200], reference: 'id' } },
      { reconcile: { path: '/{unknown}', confirmed: [200] } },
      { reconcile: { path: '/x', confirmed: [200], failed: [200] } },
      { timeout: '25h' },
      { timeout: 0 },
      { method: 'CONNECT' },
      { class: 'free' },
      { extra: 1 },
    ];
    const isTaken = (changes: Record<string, unknown>) =>
      httpConfig.safeParse({ endpoints: { call: endpointOf('https://api.example.com', changes) } }).success;
    for (const changes of bad) assert.ok(!isTaken(changes), JSON.stringify(changes));
    const good: Record<string, unknown>[] = [
      { args: { cents, unit: arg }, facts: money },
      { path: '/v1/{x}:cancel?a={y}', args: { x: arg, y: arg }, facts: { target: 'x' }, timeout: '24h' },
      { path: '/', body: [] },
      { headers: { 'x-a': '', 'x-b': 'a b' }, outcomes: { confirmed: [200], reference: '/data/0/id' } },
    ];
    for (const changes of good) assert.ok(isTaken(changes), JSON.stringify(changes));
  });
});
