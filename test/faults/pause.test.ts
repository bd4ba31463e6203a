/**
 * A process that is stopped between the launch's commit and the call: the call must not leave late, whichever clock tells.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { open } from '../../src/app/index.js';
import { LIMITS } from '../../src/core/index.js';
import { loggedNoop } from '../support/gate-child.js';
import { bundleGateChild, childHome } from '../support/gate-processes.js';
import { approved, FakeClock, memoryWorld, sending, signed } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

describe('a pause before the call', () => {
  it('by a stopped process means no call', { timeout: 60_000 }, async () => {
    verifies('actions.launch.never-called');
    const children = await bundleGateChild();
    const { folder, remove } = await childHome();
    const gate = await open({ home: `${folder}/home`, connectors: [loggedNoop(folder)] });
    const { action_id } = await gate.propose(sending({ connector: 'shell-noop' }));
    const { request } = await gate.request(action_id);
    await gate.approve(action_id, signed(request));
    const child = children.start(folder, 'pause', action_id);
    await child.line('stopping');
    assert.equal((await gate.show(action_id)).state, 'launched');
    await new Promise((resolve) => setTimeout(resolve, LIMITS.launchToCallMsMax + 300));
    child.process.kill('SIGCONT');
    const settled = await child.line('action_id');
    assert.deepEqual([settled.state, settled.code], ['failed', 'never_called']);
    await child.ended;
    assert.ok(!existsSync(`${folder}/calls.log`), 'the connector was never called');
    assert.equal((await gate.show(action_id)).state, 'failed');
    await gate.close();
    remove();
    children.remove();
  });

  for (const [name, move] of [
    ['the wall clock', (clock: FakeClock, ms: number) => Object.assign(clock, { wall: clock.wall + ms })],
    ['the monotonic clock', (clock: FakeClock, ms: number) => Object.assign(clock, { elapsed: clock.elapsed + ms })],
    [
      'the monotonic clock while the wall clock goes back an hour',
      (clock: FakeClock, ms: number) =>
        Object.assign(clock, { elapsed: clock.elapsed + ms, wall: clock.wall - 3_600_000 }),
    ],
  ] as const) {
    it(`is told by ${name}, to the millisecond`, async () => {
      verifies('actions.launch.never-called');
      for (const late of [-1, 0, 1]) {
        const clock = new FakeClock();
        let armed = false;
        const failpoint = (point: string) => {
          if (armed && point === 'launch.before-call') move(clock, LIMITS.launchToCallMsMax + late);
        };
        const world = await memoryWorld({ clock, failpoint });
        const actionId = await approved(world);
        armed = true;
        const { state, code } = await world.gate.execute(actionId);
        const expected = late <= 0 ? ['confirmed', null] : ['failed', 'never_called'];
        assert.deepEqual([state, code], expected, String(late));
        assert.equal(world.connector.calls.length, late <= 0 ? 1 : 0);
      }
    });
  }
});
