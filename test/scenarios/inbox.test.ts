/** What waits for a person is never hidden behind what has expired. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { requestKind } from '../../src/approvals/index.js';
import { LIMITS } from '../../src/core/index.js';
import {
  addKeyAct,
  BOB,
  carriedOut,
  codeOf,
  configAct,
  homeWorld,
  proposed,
  sending,
  TRUST,
} from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

it('shows a new act behind more expired requests than a page holds, and recover ends those', async () => {
  verifies('app.inbox.expired');
  const world = await homeWorld();
  const actionId = await proposed(world, { approve_within_ms: 7_200_000 });
  const requests = await Promise.all(
    Array.from({ length: LIMITS.pageRowsMax + 1 }, () => world.gate.request(actionId)),
  );
  world.clock.advance(LIMITS.requestTtlMsDefault);
  const act = await world.gate.requestAct(addKeyAct(BOB));
  const waits = async () => (await world.gate.decisions()).map(({ id }) => id);
  assert.deepEqual((await waits()).sort(), [actionId, act.request.request_id].sort());
  await world.gate.recover();
  const first = await world.gate.ledger.read(requestKind, requests[0]?.request.request_id ?? '');
  assert.equal(first?.state.state, 'expired');
  assert.equal((await world.gate.ledger.lookup('request', actionId)).length, 0, 'nothing is kept under the action');
  assert.deepEqual((await waits()).sort(), [actionId, act.request.request_id].sort());
  await world.close();
});

it('refuses a wait and a page that are no numbers, and never answers with a native error', async () => {
  verifies('app.inbox.expired');
  const world = await homeWorld();
  const actionId = await proposed(world, sending());
  for (const timeoutMs of [-1, Number.NaN]) {
    assert.equal(await codeOf(world.gate.wait(actionId, () => false, timeoutMs)), 'invalid');
  }
  for (const limit of [0, -1, 1.5, Number.NaN]) assert.equal(await codeOf(world.gate.list({ limit })), 'invalid');
  await world.close();
});

it('says to ask again for what was asked under another configuration', async () => {
  verifies('app.inbox.outdated');
  const world = await homeWorld();
  const actionId = await proposed(world);
  const next = async () => (await world.gate.decisions()).map((row) => row.next);
  assert.deepEqual(await next(), [`countersign action request ${actionId}`]);
  await carriedOut(world, await configAct(world, TRUST.replace('name: test', 'name: tested')));
  assert.deepEqual(await next(), [`countersign action propose --like ${actionId}`]);
  assert.equal(await codeOf(world.gate.request(actionId)), 'policy_changed', 'what was said before leads nowhere');
  const again = await world.gate.proposeLike(actionId);
  assert.ok((await next()).includes(`countersign action request ${again.action_id}`));
  await world.close();
});
