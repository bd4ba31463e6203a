/** A clock that is set back: what time has closed stays closed, and nothing is launched by it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIMITS } from '../../src/core/index.js';
import {
  approve,
  approved,
  carriedOut,
  codeOf,
  deny,
  homeWorld,
  memoryWorld,
  proposed,
  sending,
  type World,
} from '../support/gate-world.js';
import { alike, opened } from '../support/grants.js';
import { verifies } from '../support/verifies.js';

const HOUR = 3_600_000;

/** Something happens later, and then the clock is set back. */
async function setBack(world: World, ms: number): Promise<void> {
  world.clock.advance(ms);
  await world.gate.propose(sending({ args: { text: `at ${world.clock.wall}` } }));
  world.clock.wall -= ms;
}

describe('a clock that is set back', () => {
  it('reopens no approval, no launch and no standing approval', async () => {
    verifies('ledger.time.forward');
    const world = await homeWorld();
    const waiting = await proposed(world, { approve_within_ms: HOUR });
    const ready = await approved(world, { launch_within_ms: HOUR, args: { text: 'ready' } });
    await opened(world, { until: world.clock.now() + HOUR });
    await setBack(world, HOUR);
    assert.equal(await codeOf(approve(world, waiting)), 'expired');
    assert.match(await codeOf(world.gate.execute(ready)), /^(busy|expired)$/);
    assert.equal((await world.gate.propose(alike())).state, 'proposed');
    assert.equal(world.connector.effects.length, 0);
    await world.close();
  });

  it('calls nobody again whom the other side has forgotten', async () => {
    verifies('actions.launch.clock');
    const world = await memoryWorld();
    world.connector.dedupe = { windowMs: 2 * HOUR, comparesBody: true, cachesErrors: false };
    world.connector.behave = async (_call, effect) => {
      effect();
      return { result: 'unknown' };
    };
    const actionId = await approved(world, { launch_within_ms: 6 * HOUR });
    await world.gate.execute(actionId);
    await approve(world, actionId);
    await setBack(world, HOUR);
    assert.equal(await codeOf(world.gate.retry(actionId)), 'busy');
    assert.equal(world.connector.calls.length, 1);
  });

  it('lets people approve, deny and freeze all the same', async () => {
    verifies('ledger.time.forward');
    const world = await memoryWorld();
    const [one, two] = [await proposed(world), await proposed(world, { args: { text: 'two' } })];
    await setBack(world, HOUR);
    await approve(world, one);
    await deny(world, two);
    await carriedOut(world, { kind: 'freeze', op: 'set', scope: { scope: 'all', name: null } });
    assert.equal(await codeOf(world.gate.propose(sending({ args: { text: 'three' } }))), 'frozen');
  });

  it('launches nothing, alone or with its proposal, until it has caught up', async () => {
    verifies('actions.launch.clock');
    const world = await memoryWorld();
    const actionId = await approved(world);
    await setBack(world, LIMITS.clockBehindMsMax + 1);
    assert.equal(await codeOf(world.gate.execute(actionId)), 'busy');
    assert.equal(await codeOf(world.gate.proposeAndLaunch(sending({ operation: 'note' }))), 'busy');
    assert.equal(world.connector.calls.length, 0);
    world.clock.advance(1);
    assert.equal((await world.gate.execute(actionId)).state, 'confirmed');
  });
});
