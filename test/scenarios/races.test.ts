/** Many callers, one action: one launch, whoever they are. And what is asked for twice. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { open } from '../../src/app/index.js';
import { loggedNoop } from '../support/gate-child.js';
import { bundleGateChild, childHome } from '../support/gate-processes.js';
import {
  ALICE,
  approve,
  approved,
  codeOf,
  homeWorld,
  memoryWorld,
  proposed,
  sending,
  signed,
} from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const REFUSALS = ['replay', 'launched', 'state', 'busy', 'decision_required'];

describe('one approved action', () => {
  it('is launched once by 64 callers of one process, and 63 are told why not', async () => {
    verifies('actions.launch.once');
    for (const make of [memoryWorld, homeWorld]) {
      const world = await make();
      const actionId = await approved(world);
      const calls = Array.from({ length: 64 }, () => world.gate.execute(actionId).then(() => 'launched once', codeIn));
      const results = await Promise.all(calls);
      assert.equal(results.filter((result) => result === 'launched once').length, 1);
      for (const code of results) assert.ok(code === 'launched once' || REFUSALS.includes(code), code);
      assert.equal(world.connector.calls.length, 1);
      assert.equal((await world.gate.show(actionId)).attempts.length, 1);
      assert.equal(await codeOf(world.gate.execute(actionId)), 'state');
      await world.close();
    }
  });

  it('is launched once by two gates on one store at once', async () => {
    verifies('actions.launch.once');
    const world = await homeWorld();
    const gates = [world.gate, await world.another(), await world.another()];
    const actionId = await approved(world);
    const calls = gates.flatMap((gate) =>
      Array.from({ length: 20 }, () =>
        gate.execute(actionId).then(
          () => 1,
          () => 0,
        ),
      ),
    );
    assert.equal(
      (await Promise.all(calls)).reduce<number>((sum, one) => sum + one, 0),
      1,
    );
    assert.equal(world.connector.calls.length, 1);
    await world.close();
  });

  it('is launched once by four processes with 16 callers each', { timeout: 60_000 }, async () => {
    verifies('actions.launch.once');
    const children = await bundleGateChild();
    const { folder, remove } = await childHome();
    const gate = await open({ home: `${folder}/home`, connectors: [loggedNoop(folder)] });
    for (let round = 0; round < 3; round += 1) {
      const text = `round ${round}`;
      const { action_id } = await gate.propose(sending({ connector: 'shell-noop', args: { text } }));
      const { request } = await gate.request(action_id);
      await gate.approve(action_id, signed(request));
      const running = Array.from({ length: 4 }, () => children.start(folder, 'race', action_id, '16'));
      await Promise.all(running.map((child) => child.line('ready')));
      for (const child of running) child.go();
      const codes = (await Promise.all(running.map((child) => child.line('codes')))).flatMap(
        (line) => line.codes as string[],
      );
      assert.equal(codes.length, 64);
      assert.equal(codes.filter((code) => code === 'confirmed').length, 1, codes.join(' '));
      for (const code of codes) assert.ok(code === 'confirmed' || REFUSALS.includes(code), code);
      assert.equal((await gate.show(action_id)).attempts.length, 1);
      await Promise.all(running.map((child) => child.ended));
    }
    const { readFileSync } = await import('node:fs');
    assert.equal(readFileSync(`${folder}/calls.log`, 'utf8').trim().split('\n').length, 3);
    await gate.close();
    remove();
    children.remove();
  });
});

function codeIn(error: unknown): string {
  return (error as { code?: string }).code ?? String(error);
}

describe('a receipt', () => {
  it('counts once, however often and wherever it is handed in', async () => {
    verifies('authority.receipt.replay');
    const world = await memoryWorld();
    const actionId = await proposed(world);
    const { request } = await world.gate.request(actionId);
    const receipt = signed(request);
    const calls = Array.from({ length: 64 }, () => world.gate.approve(actionId, receipt).then(() => 'counted', codeIn));
    const results = await Promise.all(calls);
    assert.equal(results.filter((result) => result === 'counted').length, 1);
    assert.ok(
      results.every((result) => result === 'counted' || result === 'replay'),
      [...new Set(results)].join(' '),
    );
    await world.gate.execute(actionId);
    assert.equal(await codeOf(world.gate.approve(actionId, receipt)), 'state');
    const other = await proposed(world);
    assert.notEqual(other, actionId);
    assert.equal(await codeOf(world.gate.approve(other, receipt)), 'subject_mismatch');
    assert.equal(await codeOf(world.gate.submit(receipt)), 'state');
  });

  it('that denies is used up at once', async () => {
    verifies('authority.receipt.replay');
    const world = await memoryWorld();
    const actionId = await proposed(world);
    const { request } = await world.gate.request(actionId, { decision: 'deny' });
    const receipt = signed(request);
    const calls = [1, 2, 3].map(() => world.gate.approve(actionId, receipt).then(() => 'counted', codeIn));
    assert.deepEqual((await Promise.all(calls)).sort(), ['counted', 'replay', 'replay']);
    const { state, closed } = await world.gate.show(actionId);
    assert.deepEqual([state, closed?.how, closed?.by], ['cancelled', 'denied', 'human:alice']);
  });
});

describe('the same effect asked for twice', () => {
  it('at once is one action', async () => {
    verifies('actions.propose.join');
    const world = await memoryWorld();
    const all = await Promise.all(Array.from({ length: 16 }, () => world.gate.propose(sending())));
    assert.equal(new Set(all.map(({ action_id }) => action_id)).size, 1);
    assert.equal(all.filter(({ joined }) => !joined).length, 1);
    const other = await world.gate.propose(sending({ args: { text: 'other' } }));
    assert.notEqual(other.action_id, all[0]?.action_id);
    const byOther = await (await world.another({ as: 'agent:nobody' })).propose(sending());
    assert.notEqual(byOther.action_id, all[0]?.action_id, 'another principal has its own');
  });

  it('after it was done is another action, and while it runs or may have run it is the same', async () => {
    verifies('actions.propose.join');
    const world = await memoryWorld();
    const first = await approved(world);
    world.connector.behave = async () => ({ result: 'unknown' });
    await world.gate.execute(first);
    assert.deepEqual(await world.gate.propose(sending()), { action_id: first, joined: true, state: 'unknown' });
    const second = await approved(world, { args: { text: 'second' } });
    world.connector.behave = async (_call, effect) => effect();
    await world.gate.execute(second);
    assert.notEqual((await world.gate.propose(sending({ args: { text: 'second' } }))).action_id, second);
  });

  it('does not wait for one whose time is over', async () => {
    verifies('actions.propose.not-expired');
    const world = await memoryWorld();
    const first = await proposed(world, { approve_within_ms: 1_000 });
    world.clock.advance(1_000);
    const second = await world.gate.propose(sending());
    assert.deepEqual([second.joined, second.state], [false, 'proposed']);
    assert.notEqual(second.action_id, first);
    assert.equal((await world.gate.show(first)).closed?.how, 'expired');
  });

  it('under one idempotency key is one command: replayed, and refused for another', async () => {
    verifies('actions.propose.idempotency');
    const world = await memoryWorld();
    const keyed = (changes = {}) => world.gate.propose(sending({ idempotency_key: 'k-1', ...changes }));
    const first = await keyed();
    assert.equal((await keyed()).action_id, first.action_id);
    assert.equal(await codeOf(keyed({ args: { text: 'other' } })), 'idempotency_reuse');
    const fresh = await keyed({ idempotency_key: 'k-2' });
    assert.notEqual(fresh.action_id, first.action_id);
    await approve(world, first.action_id);
    await world.gate.execute(first.action_id);
    assert.equal((await keyed()).action_id, first.action_id, 'also when it is done');
    const other = await world.another({ as: 'agent:nobody' });
    assert.notEqual((await other.propose(sending({ idempotency_key: 'k-1' }))).action_id, first.action_id);
  });
});

describe('a possible duplicate', () => {
  const unknownFirst = async () => {
    const world = await memoryWorld();
    const first = await approved(world);
    return { world, first, other: await world.another({ as: 'agent:nobody' }) };
  };

  it('that appears after the proposal stops its launch; proposed anew it is flagged and needs a person', async () => {
    verifies('actions.launch.possible-duplicate');
    const world = await memoryWorld();
    const other = await world.another({ as: 'agent:nobody' });
    const [first, second] = [await approved(world), (await other.propose(sending())).action_id];
    await approve(world, second);
    world.connector.behave = async () => ({ result: 'unknown' });
    await world.gate.execute(first);
    assert.equal(await codeOf(world.gate.execute(second)), 'possible_duplicate');
    assert.equal(world.connector.calls.length, 1);
    const again = await world.gate.proposeLike(second);
    assert.notEqual(again.action_id, second);
    assert.deepEqual((await world.gate.show(again.action_id)).content.flags, ['possible_duplicate']);
    await approve(world, again.action_id);
    assert.equal((await world.gate.execute(again.action_id)).state, 'unknown');
    assert.equal(world.connector.calls.length, 2);
  });

  it('is flagged at the proposal, and policy alone never allows it', async () => {
    verifies('actions.propose.possible-duplicate');
    const world = await memoryWorld();
    const other = await world.another({ as: 'agent:nobody' });
    const note = sending({ operation: 'note' });
    world.connector.behave = async () => ({ result: 'unknown' });
    const { action_id } = await world.gate.propose(note);
    await world.gate.execute(action_id);
    const second = await other.propose(note);
    assert.equal(second.state, 'proposed');
    assert.deepEqual((await world.gate.show(second.action_id)).content.flags, ['possible_duplicate']);
    assert.equal(await codeOf(world.gate.execute(second.action_id)), 'receipt_required');
    await approve(world, second.action_id);
    await world.gate.execute(second.action_id);
    assert.equal(world.connector.calls.length, 2);
  });

  it('for which nobody could be asked is refused', async () => {
    verifies('actions.propose.possible-duplicate');
    const world = await memoryWorld({ trust: 'version: 1\nname: test\nmode: enforce\n' });
    const note = sending({ operation: 'note' });
    world.connector.behave = async () => ({ result: 'unknown' });
    await world.gate.execute((await world.gate.propose(note)).action_id);
    const other = await world.another({ as: 'agent:nobody' });
    assert.equal(await codeOf(other.propose(note)), 'possible_duplicate');
  });

  it('is never a read', async () => {
    verifies('actions.propose.possible-duplicate');
    const { world, other } = await unknownFirst();
    const read = sending({ operation: 'read' });
    world.connector.behave = async () => ({ result: 'unknown' });
    await world.gate.execute((await world.gate.propose(read)).action_id);
    const again = await world.gate.propose(read);
    assert.equal(again.joined, false);
    assert.deepEqual((await world.gate.show(again.action_id)).content.flags, []);
    assert.equal((await other.propose(read)).state, 'approved');
  });
});

describe('proposing like an earlier action', () => {
  it('asks for the same call under the present rules, with its content', async () => {
    verifies('actions.propose.like');
    const world = await memoryWorld();
    const bytes = new TextEncoder().encode('the file');
    const first = await proposed(world, { work_item: 'chg_7', class: 'costly', content: [bytes] });
    const again = await world.gate.proposeLike(first);
    assert.notEqual(again.action_id, first);
    const [before, after] = [await world.gate.show(first), await world.gate.show(again.action_id)];
    assert.equal(after.content.effect, before.content.effect);
    assert.deepEqual([after.content.class, after.content.work_item], ['costly', 'chg_7']);
    await approve(world, again.action_id);
    let seen: Uint8Array | undefined;
    world.connector.behave = async (call, effect) => {
      const { contentRef } = await import('../../src/core/index.js');
      seen = await call.content(contentRef(bytes));
      return effect();
    };
    await world.gate.execute(again.action_id);
    assert.deepEqual(Buffer.from(seen ?? []), Buffer.from(bytes));
    assert.equal(await codeOf(world.gate.proposeLike('act_01JDXW3Q4R8Y2M5N7P9S0T1V3W')), 'unknown_action');
    assert.equal(ALICE.key.person, 'human:alice');
  });
});
