/** Ids that no record has: answered as those of nothing, on every store, before it is asked. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { explainDecision } from '../../src/app/index.js';
import { codeOf, sending, signed } from '../support/gate-world.js';
import { passesOnPostgres } from '../support/run-on-postgres.js';
import { type ServerWorld, serverWorld } from '../support/server-world.js';
import { verifies } from '../support/verifies.js';

const HOSTILE_IDS = ['', '\u0000', 'a\u0000b', 'act_\u0000', 'x'.repeat(9_000), 'é'.repeat(3_000), 'act_1\n', '..'];

describe('an id of another form', () => {
  let world: ServerWorld;
  before(async () => {
    world = await serverWorld();
  });
  after(() => world.close());

  it('is the id of nothing at the gate', async () => {
    verifies('app.border.ids');
    const { gate } = world;
    for (const id of HOSTILE_IDS) {
      const asked = {
        show: () => gate.show(id),
        args: () => gate.args(id),
        summary: () => gate.summary(id),
        receiptOf: () => gate.receiptOf(id),
        request: () => gate.request(id),
        execute: () => gate.execute(id),
        retry: () => gate.retry(id),
        reconcile: () => gate.reconcile(id),
        cancel: () => gate.cancel(id),
        like: () => gate.proposeLike(id),
        undo: () => gate.proposeUndo(id),
        fetchReceipt: () => gate.fetchReceipt(id),
        cover: () => gate.coverByStanding(id),
        wait: () => gate.wait(id, () => true, 1),
        narrowest: () => gate.narrowestGrant(id, { count: 1, until: world.clock.now() + 1_000 }),
      };
      for (const [name, answer] of Object.entries(asked)) {
        assert.equal(await codeOf(answer()), 'unknown_action', `${name} ${JSON.stringify(id).slice(0, 20)}`);
      }
      assert.equal(await codeOf(gate.requestDetails(id)), 'unknown_request');
      assert.equal(await codeOf(gate.requestSeen(id)), 'unknown_request');
      assert.match(await codeOf(explainDecision(gate, id)), /^(?:not_found|unknown_action)$/);
      assert.equal(await codeOf(gate.list({ after: id })), 'invalid');
      assert.equal(await codeOf(gate.list({ project: id })), 'invalid');
      assert.equal(await codeOf(gate.packages.status(id)), 'PACKAGE_NOT_FOUND');
    }
    assert.equal(await codeOf(gate.show('\ud800')), 'invalid');
  });

  it('is the id of nothing at the door, also for a token of some projects', async () => {
    verifies('app.border.ids');
    const tokens = [await world.token('agent:a'), await world.token('agent:b', { projects: ['acme'] })];
    const { action_id } = await world.gate.propose(sending({ args: { text: 'ids' } }));
    const { request } = await world.gate.request(action_id);
    for (const { text } of tokens) {
      const send = async (path: string, body?: unknown) => {
        const headers = { authorization: `Bearer ${text}`, 'content-type': 'application/json' };
        const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
        const answer = await world.raw(path, init);
        return [answer.status, ((await answer.json()) as { code: string }).code];
      };
      for (const id of HOSTILE_IDS.filter((one) => one !== '' && one !== '..' && !one.startsWith('é'))) {
        const name = encodeURIComponent(id);
        assert.deepEqual(await send(`/v1/actions/${name}`), [404, 'unknown_action']);
        assert.deepEqual(await send(`/v1/actions/${name}/execute`, {}), [404, 'unknown_action']);
        assert.deepEqual(await send(`/v1/requests/${name}`), [403, 'unknown_request']);
        const resolution = { kind: 'finding', action_id: id, outcome: 'failed', words: 'x' };
        const bodies = {
          '/v1/receipts': { receipt: { ...signed(request), request: { ...request, subject: id } } },
          '/v1/resolutions': { resolution },
          '/v1/acts': { act: { kind: 'standing', change: { op: 'revoke', grant_id: id } } },
          '/v1/grants': { grant: { project: id, connector: id } },
        };
        for (const [path, body] of Object.entries(bodies)) {
          const [status, code] = await send(path, body);
          assert.ok(Number(status) < 500, `${path} ${JSON.stringify(id).slice(0, 20)}: ${code}`);
        }
      }
    }
  });
});

if (process.env['COUNTERSIGN_TEST_STORE'] !== 'postgres') {
  it('is the id of nothing on PostgreSQL, too', () => passesOnPostgres('test/server/hostile-ids.test.ts'));
}
