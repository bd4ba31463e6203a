/** A server ends what nobody will end, by itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CountersignGate } from '../../src/app/index.js';
import { serve } from '../../src/server/index.js';
import { approved, homeWorld, proposed, sending } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

test('what is overdue ends while a server runs, and nothing is called for it', async () => {
  verifies('server.upkeep');
  const world = await homeWorld();
  world.connector.timeoutMs = 2_000;
  const waiting = await proposed(world);
  const hanging = await approved(world, sending({ args: { text: 'other', account: 'customers' } }));
  world.connector.behave = () => new Promise(() => undefined);
  void world.gate.execute(hanging).catch(() => undefined);
  for (let left = 100; left > 0 && world.connector.calls.length === 0; left -= 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const serving = await serve(world.gate as CountersignGate, {
    publicUrl: 'http://localhost:0',
    version: '0.0.0',
    upkeepMs: 20,
  });
  const stateOf = async (id: string) => (await world.gate.show(id)).state;
  assert.deepEqual([await stateOf(waiting), await stateOf(hanging)], ['proposed', 'launched']);
  world.clock.advance(25 * 3_600_000);
  for (let left = 100; left > 0 && (await stateOf(waiting)) === 'proposed'; left -= 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.equal((await world.gate.show(waiting)).closed?.how, 'expired');
  const { state, attempts } = await world.gate.show(hanging);
  assert.deepEqual([state, attempts[0]?.settled_by], ['unknown', 'recover']);
  assert.equal(world.connector.calls.length, 1);
  const { sequence } = await world.gate.ledger.head();
  await serving.close();
  assert.equal((await world.gate.ledger.head()).sequence, sequence, 'looking again writes nothing');
  await world.close();
});
