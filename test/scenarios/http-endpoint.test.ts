/** An endpoint of the trust configuration through the whole gate: proposed, signed, launched, and asked about again. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { approve, codeOf, homeWorld, TRUST } from '../support/gate-world.js';
import { type Seen, sayingServer } from '../support/http-world.js';
import { verifies } from '../support/verifies.js';

const SECRET = 'a-key-of-the-payments-api';

function trustOf(base: string, keyFile: string): string {
  const endpoint = {
    ...{ method: 'POST', base, path: '/payments/{payment}/refunds', private_network: true, class: 'costly' },
    args: { payment: { type: 'string' }, amount: { type: 'integer', min: 1 }, currency: { type: 'string' } },
    facts: { target: 'payment', amount: 'amount', currency: 'currency' },
    secret_headers: { authorization: { secret: 'KEY', prefix: 'Bearer ' } },
    outcomes: { confirmed: [201], failed: [422], reference: '/id' },
    reconcile: { path: '/refunds?key={action_id}', confirmed: [200], reference: '/data/0/id' },
  };
  const connectors = JSON.stringify({ http: { endpoints: { refund: endpoint } } });
  return `${TRUST}connectors: ${connectors}\nsecrets: { KEY: 'file:${keyFile}' }\n`;
}

const ARGS = { payment: 'pay_17', amount: 1230, currency: 'EUR' };
const REFUND = { project: 'shop', connector: 'http', operation: 'refund', target: 'pay_17', args: ARGS };

/** The API: one refund for a key; what `lose` says is carried out and then answered by 502. */
function api(lose: { now: boolean }) {
  const refunds = new Map<string, string>();
  const say = ({ method, url, headers }: Seen) => {
    if (method === 'GET') {
      const id = refunds.get(url.split('key=')[1] ?? '');
      return { status: 200, body: { data: id === undefined ? [] : [{ id }] } };
    }
    const key = String(headers['idempotency-key']);
    const id = refunds.get(key) ?? `re_${refunds.size + 1}`;
    refunds.set(key, id);
    return lose.now ? { status: 502, body: `no gateway for ${headers.authorization}` } : { status: 201, body: { id } };
  };
  return { refunds, say };
}

describe('an endpoint of the operator', () => {
  it('is called once for a signature, and what became of a lost answer is asked by the declared GET', async () => {
    verifies('connectors.http.gate');
    const lose = { now: false };
    const { refunds, say } = api(lose);
    const server = await sayingServer(say);
    const bare = await homeWorld({ trust: TRUST });
    const keyFile = join(bare.folder, 'payments.key');
    writeFileSync(keyFile, `${SECRET}\n`, { mode: 0o600 });
    const world = await homeWorld({ trust: trustOf(server.base, keyFile) });
    const { gate } = world;
    try {
      assert.equal(await codeOf(gate.propose({ ...REFUND, target: 'pay_18' })), 'target_mismatch');
      assert.equal(await codeOf(gate.propose({ ...REFUND, amount: 1, currency: 'EUR' })), 'amount_mismatch');
      assert.equal(await codeOf(gate.propose({ ...REFUND, args: { ...ARGS, payment: '../x' } })), 'invalid');
      const { action_id } = await gate.propose(REFUND);
      assert.equal(await codeOf(gate.execute(action_id)), 'receipt_required');
      assert.equal(server.seen.length, 0, 'nothing leaves before a signature');
      await approve(world, action_id);
      const done = await gate.execute(action_id);
      assert.deepEqual([done.state, done.external_ref], ['confirmed', 're_1']);
      assert.equal(server.seen[0]?.headers.authorization, `Bearer ${SECRET}`);
      assert.deepEqual([...refunds.keys()], [action_id]);

      lose.now = true;
      const other = { ...REFUND, args: { ...ARGS, amount: 500 } };
      const lost = (await gate.propose(other)).action_id;
      await approve(world, lost);
      const unknown = await gate.execute(lost);
      assert.deepEqual([unknown.state, unknown.code], ['unknown', 'http_502']);
      assert.deepEqual(unknown.evidence, { status: 502, answer: 'no gateway for Bearer [redacted]' });
      const found = await gate.reconcile(lost);
      assert.deepEqual([found.state, found.external_ref], ['confirmed', 're_2']);
      assert.equal(refunds.size, 2, 'one refund for each signature');

      // Without its key the call is refused before its launch, and can be launched once the key is there.
      lose.now = false;
      const keyless = (await gate.propose({ ...REFUND, args: { ...ARGS, amount: 700 } })).action_id;
      await approve(world, keyless);
      writeFileSync(keyFile, '');
      assert.equal(await codeOf(gate.execute(keyless)), 'invalid');
      assert.equal(refunds.size, 2);
      writeFileSync(keyFile, SECRET);
      assert.equal((await gate.execute(keyless)).state, 'confirmed');
      assert.ok(!JSON.stringify(await gate.show(lost)).includes(SECRET));
    } finally {
      await world.close();
      await bare.close();
      await server.close();
    }
  });
});
