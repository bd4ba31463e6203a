/** Tests of `http` against real servers: the contract of all connectors by each method, and what an endpoint promises. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { parse } from 'yaml';
import { ACTION_ID, type ConnectorCase, connectorContract } from '../../../test/contracts/connector.js';
import { readProjectFile } from '../../../test/support/files.js';
import {
  effectServer,
  endpointOf,
  httpCall,
  operationOf,
  type Says,
  type Seen,
  sayingServer,
} from '../../../test/support/http-world.js';
import { verifies } from '../../../test/support/verifies.js';
import { canonicalize, type Json, Refusal } from '../../core/index.js';
import { httpConfig, httpConnector } from './index.js';

const SECRET = 'sk+an "odd" one/4711';
const ARGS = {
  invoice: { type: 'string', max: 40 },
  cents: { type: 'integer', min: 0, max: 100_000 },
  currency: { type: 'string', one_of: ['EUR', 'USD'] },
  notify: { type: 'boolean', optional: true },
};
const MONEY = { target: 'invoice', amount: 'cents', currency: 'currency' };
const GIVEN = { invoice: 'in_17', cents: 1230, currency: 'EUR', notify: true };
const REFUSED: Json[] = [
  {},
  { ...GIVEN, cents: -1 },
  { ...GIVEN, cents: 1.5 },
  { ...GIVEN, cents: '1230' },
  { ...GIVEN, currency: 'GBP' },
  { ...GIVEN, notify: 'yes' },
  { ...GIVEN, invoice: '' },
  { ...GIVEN, invoice: 'x'.repeat(41) },
  { ...GIVEN, invoice: '../admin' },
];
const WRITING = {
  path: '/v1/invoices/{invoice}/refunds',
  args: ARGS,
  facts: MONEY,
  secret_headers: { authorization: { secret: 'PAY_KEY', prefix: 'Bearer ' } },
  headers: { 'x-version': '2', accept: 'application/json' },
  dedupe: { window: '1d' },
  outcomes: { confirmed: [200, 201], failed: [404, 422], reference: '/id' },
  reconcile: { path: '/effects/{action_id}', confirmed: [200], failed: [404], reference: '/id' },
};
/** Without what tells a repeated call, and what became of one. */
const { dedupe: _dedupe, reconcile: _reconcile, ...BARE } = WRITING;
const READING = {
  path: '/v1/invoices/{invoice}?view={view}',
  args: { invoice: ARGS.invoice, view: { type: 'string' } },
};

// One server for all worlds: its address is part of every digest.
const { base, effects, close: closeServer } = await effectServer();
after(closeServer);

connectorContract('http', async () => {
  effects.clear();
  const endpoints = {
    refund: endpointOf(base, { ...WRITING, method: 'POST' }),
    replace: endpointOf(base, { ...WRITING, method: 'PUT' }),
    amend: endpointOf(base, { ...BARE, method: 'PATCH' }),
    remove: endpointOf(base, { ...READING, method: 'DELETE', class: 'irreversible' }),
    look: endpointOf(base, { ...READING, method: 'GET', class: 'read' }),
  };
  const config = httpConfig.parse({ endpoints });
  const world = {
    secrets: new Map([['PAY_KEY', SECRET.replaceAll(' ', '_')]]),
    effects: async (actionId: string) => (effects.has(actionId) ? 1 : 0),
  };
  const seen = { invoice: 'in_17', view: 'a/../b?c=d&e#f' };
  const target = `${base}/v1/invoices/in_17?view=a%2F..%2Fb%3Fc%3Dd%26e%23f`;
  const cases: ConnectorCase[] = [
    ...['refund', 'replace', 'amend'].map((operation) => ({
      ...{ operation, target: 'in_17', args: GIVEN, refused: REFUSED, ...world },
    })),
    { operation: 'remove', target, args: seen, refused: [{ invoice: 'in_17' }], ...world },
    { operation: 'look', target, args: seen, refused: [{ ...seen, invoice: '..' }], ...world },
  ];
  const connector = httpConnector({ config });
  return { connector, changed: httpConnector({ config, codeVersion: '2' }), cases, close: async () => {} };
});

async function withServer<T>(
  say: Says | ((seen: Seen) => Says),
  run: (base: string, seen: readonly Seen[]) => Promise<T>,
) {
  const server = await sayingServer(typeof say === 'function' ? say : () => say);
  try {
    return await run(server.base, server.seen);
  } finally {
    await server.close();
  }
}

describe('http', () => {
  it('sends exactly what was declared and given, and the same key with every attempt', () =>
    withServer({ status: 200, body: { id: 're_1' } }, async (base, seen) => {
      verifies('connectors.http.request');
      const operation = await operationOf(endpointOf(base, WRITING));
      const secret = async () => 'a-secret-of-bytes';
      for (const attempt of [1, 2]) await operation.execute(httpCall(GIVEN, { attempt, secret }));
      assert.equal(seen.length, 2);
      for (const { method, url, headers, body } of seen) {
        assert.equal(`${method} ${url}`, 'POST /v1/invoices/in_17/refunds');
        assert.equal(body, '{"cents":1230,"currency":"EUR","notify":true}');
        assert.deepEqual(headers, {
          ...{ host: base.slice('http://'.length), accept: 'application/json', 'user-agent': 'countersign' },
          ...{ 'x-version': '2', authorization: 'Bearer a-secret-of-bytes', 'accept-encoding': 'identity' },
          ...{ 'idempotency-key': ACTION_ID, 'content-type': 'application/json' },
          ...{ 'content-length': String(Buffer.byteLength(body)), connection: 'close' },
        });
      }
    }));

  it('opens the example of its how-to page as it stands', async () => {
    verifies('connectors.http.config');
    const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(readProjectFile('docs/how-to/gate-an-http-api.md')) ?? [];
    const { connectors } = parse(example) as { readonly connectors: { readonly http: unknown } };
    const refund = await httpConnector({ config: httpConfig.parse(connectors.http) }).operation('refund');
    const args = { payment: 'pay_17', amount: 1230, currency: 'EUR' };
    assert.ok(refund?.args.safeParse(args).success);
    assert.deepEqual(refund.facts?.(args), { target: 'pay_17', amount: { amount: 1230, currency: 'EUR' } });
    assert.equal(refund.classify(args), 'costly');
  });

  it('takes target and amount from the arguments, and else the address for the target', () =>
    withServer({ status: 200 }, async (base) => {
      verifies('connectors.http.facts');
      const refund = await operationOf(endpointOf(base, WRITING));
      const money = { amount: 1230, currency: 'EUR' };
      assert.deepEqual(refund.facts?.(GIVEN), { target: 'in_17', amount: money });
      assert.throws(() => refund.facts?.({ ...GIVEN, cents: -1 }), Refusal);
      const look = await operationOf(endpointOf(base, READING));
      assert.deepEqual(look.facts?.({ invoice: 'a b', view: '' }), { target: `${base}/v1/invoices/a%20b?view=` });
    }));

  it('calls certain what the table says, and everything else unknown; it follows no redirect', async () => {
    verifies('connectors.http.outcomes');
    const outcomes = { confirmed: [200, 202, 303], failed: [404, 422] };
    const expected = {
      ...{ 200: 'confirmed', 202: 'confirmed', 303: 'confirmed', 404: 'failed', 422: 'failed' },
      ...{ 201: 'unknown', 204: 'unknown', 301: 'unknown', 302: 'unknown', 307: 'unknown', 308: 'unknown' },
      ...{ 400: 'unknown', 401: 'unknown', 409: 'unknown', 429: 'unknown', 500: 'unknown', 503: 'unknown' },
    };
    for (const [status, result] of Object.entries(expected)) {
      const location = '/elsewhere';
      await withServer({ status: Number(status), headers: { location, 'retry-after': '0' } }, async (base, seen) => {
        const outcome = await (await operationOf(endpointOf(base, { outcomes }))).execute(httpCall());
        assert.deepEqual([outcome.result, outcome.code], [result, `http_${status}`]);
        assert.equal(seen.length, 1, `${status} is asked once`);
      });
    }
  });

  it('confirms nothing without the reference that the answer should have', async () => {
    verifies('connectors.http.reference');
    const outcomes = { confirmed: [200], reference: '/data/0/id' };
    const good: [Json, string][] = [
      [{ data: [{ id: 're_1' }] }, 're_1'],
      [{ data: [{ id: 17 }] }, '17'],
    ];
    const none: Json[] = [{}, { data: [] }, { data: [{}] }, { data: [{ id: null }] }, { data: [{ id: 1.5 }] }, 're_1'];
    const odd: Json[] = [{ data: [{ id: '' }] }, { data: [{ id: 'a\nb' }] }, { data: [{ id: 'x'.repeat(257) }] }, []];
    for (const [body, externalRef] of [...good, ...[...none, ...odd].map((body) => [body, undefined] as const)]) {
      await withServer({ status: 200, body }, async (base) => {
        const outcome = await (await operationOf(endpointOf(base, { outcomes }))).execute(httpCall());
        const expected = externalRef === undefined ? ['unknown', 'no_reference'] : ['confirmed', 'http_200'];
        assert.deepEqual([outcome.result, outcome.code], expected, canonicalize(body));
        assert.equal(outcome.externalRef, externalRef);
      });
    }
  });

  it('asks what became of a call by the declared GET alone, and tells nothing where that tells nothing', async () => {
    verifies('connectors.http.reconcile');
    const reconcile = { path: '/refunds?key={action_id}', confirmed: [200], failed: [404], reference: '/0/id' };
    const cases: [Says, string | undefined][] = [
      [{ status: 200, body: [{ id: 're_1' }] }, 'confirmed'],
      [{ status: 200, body: [] }, undefined],
      [{ status: 404 }, 'failed'],
      [{ status: 500 }, undefined],
      [{ status: 301, headers: { location: '/' } }, undefined],
    ];
    for (const [say, result] of cases) {
      await withServer(say, async (base, seen) => {
        const operation = await operationOf(endpointOf(base, { reconcile }));
        // The deadline of the call is over by then.
        assert.equal((await operation.reconcile?.(httpCall({}, { deadline: 1 })))?.result, result);
        assert.deepEqual(
          seen.map(({ method, url, headers }) => [method, url, headers['idempotency-key']]),
          [['GET', `/refunds?key=${ACTION_ID}`, undefined]],
        );
      });
    }
    const gone = await operationOf(endpointOf('http://127.0.0.1:1', { reconcile }));
    assert.equal(await gone.reconcile?.(httpCall()), undefined, 'nobody was asked');
    assert.equal((await operationOf(endpointOf('http://127.0.0.1:1'))).reconcile, undefined);
  });

  it('has another digest for every member of an endpoint that is another one', async () => {
    verifies('connectors.http.digest');
    const whole = { ...endpointOf('https://api.example.com', WRITING), keep_answer: true };
    const changes: Record<string, unknown>[] = [
      { method: 'PUT' },
      { base: 'https://api.example.org' },
      { path: '/v1/invoices/{invoice}/credits' },
      { private_network: false },
      { headers: { ...WRITING.headers, 'x-version': '3' } },
      { secret_headers: { authorization: { secret: 'OTHER', prefix: 'Bearer ' } } },
      { secret_headers: { authorization: { secret: 'PAY_KEY', prefix: 'Basic ' } } },
      { args: { ...ARGS, cents: { ...ARGS.cents, max: 1 } } },
      { body: ['cents', 'currency', 'notify'] },
      { class: 'irreversible' },
      { facts: {} },
      { timeout: '6s' },
      { dedupe: { window: '2d' } },
      { dedupe: { window: '1d', caches_errors: true } },
      { outcomes: { ...WRITING.outcomes, failed: [404] } },
      { outcomes: { ...WRITING.outcomes, reference: '/ref' } },
      { reconcile: { ...WRITING.reconcile, failed: [] } },
      { keep_answer: false },
    ];
    const { digest } = await operationOf(whole);
    assert.equal((await operationOf({ ...whole })).digest, digest);
    const seen = new Set([digest]);
    for (const change of changes) seen.add((await operationOf({ ...whole, ...change })).digest);
    assert.equal(seen.size, changes.length + 1);
    const members = [...Object.keys(whole), 'body'].sort();
    assert.deepEqual([...new Set(changes.flatMap((change) => Object.keys(change)))].sort(), members);
  });

  it('keeps an argument in its place, whatever it is', () =>
    withServer({ status: 200 }, async (base, seen) => {
      verifies('connectors.http.path');
      const operation = await operationOf(endpointOf(base, { ...READING, method: 'GET' }));
      const bad = ['', '.', '..', '..;', '..;x=1', '/', 'a/b', '..\\x', 'a\\b', '%2f', '%2e%2e', '%', 'a?b', 'a#b'];
      const odd = ['\u2025', '\uff0e\uff0e', 'a\uff0fb', 'a\uff05b', 'a\u0000', 'a\nb', 'a\u2028b', '\u202ea'];
      for (const invoice of [...bad, ...odd, 'x'.repeat(41)]) {
        assert.ok(!operation.args.safeParse({ invoice, view: 'v' }).success, JSON.stringify(invoice));
        const outcome = await operation.execute(httpCall({ invoice, view: 'v' }));
        assert.deepEqual(outcome, { result: 'failed', code: 'invalid' });
      }
      assert.equal(seen.length, 0);
      const good = ['a', '...', '.a', 'a b', "it's", 'ü', '😀', 'a:b@c', 'a&b=c', '{x}', '~!*()', '<">'];
      for (const invoice of good) {
        await operation.execute(httpCall({ invoice, view: `${invoice}&x=/../#?%2f` }));
        const url = new URL(seen.at(-1)?.url ?? '', base);
        assert.deepEqual(url.pathname.split('/').map(decodeURIComponent), ['', 'v1', 'invoices', invoice]);
        assert.deepEqual([...url.searchParams], [['view', `${invoice}&x=/../#?%2f`]]);
      }
      for (const [invoice, view] of [
        ['a', '\ud800'],
        ['a', 'x'.repeat(257)],
        ['\ud800', 'v'],
      ]) {
        assert.ok(!operation.args.safeParse({ invoice, view }).success);
      }
    }));
});
