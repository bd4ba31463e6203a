/** A connector that throws, hangs, lies or answers late; a store that fails in the middle. What is not certain is unknown. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditLedger } from '../../src/app/index.js';
import type { Outcome } from '../../src/connectors/index.js';
import { LIMITS, Refusal } from '../../src/core/index.js';
import { FailingStore } from '../support/failing-store.js';
import { approve, approved, codeOf, memoryWorld, proposed, type World } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const until = async (world: World, actionId: string, state: string) => {
  for (let turn = 0; turn < 200; turn += 1) {
    if ((await world.gate.show(actionId)).state === state) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal((await world.gate.show(actionId)).state, state);
};

describe('the answer of a connector', () => {
  it('that is an exception, or none, or no answer at all, is unknown', async () => {
    verifies('actions.settle.only-certain');
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    let deep: unknown = 'x';
    for (let level = 0; level < 5_000; level += 1) deep = [deep];
    const answers: readonly (readonly [string, unknown])[] = [
      ['undefined', undefined],
      ['null', null],
      ['text', 'confirmed'],
      ['a number', 1],
      ['a list', ['confirmed']],
      ['another word', { result: 'done' }],
      ['another case', { result: 'CONFIRMED' }],
      ['no result', { code: 'ok' }],
      ['a long code', { result: 'confirmed', code: 'x'.repeat(129) }],
      ['a long name', { result: 'confirmed', externalRef: 'x'.repeat(1_025) }],
      ['a code that is no text', { result: 'confirmed', code: 7 }],
      ['half a character', { result: 'confirmed', externalRef: '\ud800' }],
      ['half a character as evidence', { result: 'confirmed', evidence: { a: '\udc00' } }],
      ['a function as evidence', { result: 'confirmed', evidence: () => 1 }],
      ['a number that is none', { result: 'confirmed', evidence: Number.NaN }],
      ['a number that others round', { result: 'confirmed', evidence: 2 ** 53 }],
      ['a cycle', { result: 'confirmed', evidence: cyclic }],
      ['a pit', { result: 'confirmed', evidence: deep }],
    ];
    for (const [name, answer] of answers) {
      const world = await memoryWorld();
      const actionId = await approved(world);
      world.connector.behave = async () => answer as Outcome;
      const settled = await world.gate.execute(actionId);
      assert.deepEqual([settled.state, settled.code], ['unknown', 'malformed_answer'], name);
    }
    for (const thrown of [new Error('x'), 'text', undefined, new Refusal('invalid', 'x')]) {
      const world = await memoryWorld();
      const actionId = await approved(world);
      world.connector.behave = async () => {
        throw thrown;
      };
      assert.equal((await world.gate.execute(actionId)).state, 'unknown');
      world.connector.behave = () => {
        throw thrown;
      };
      const second = await approved(world, { args: { text: 'second' } });
      assert.equal((await world.gate.execute(second)).state, 'unknown');
    }
  });

  it('that is certain settles, and leaves its evidence', async () => {
    verifies('actions.settle.only-certain');
    const world = await memoryWorld();
    const actionId = await approved(world);
    world.connector.behave = async () => ({ result: 'failed', code: 'not_mergeable', evidence: { why: 'conflict' } });
    const settled = await world.gate.execute(actionId);
    assert.deepEqual(settled, {
      ...{ action_id: actionId, state: 'failed', attempt: 1, code: 'not_mergeable', external_ref: null },
      evidence: { why: 'conflict' },
    });
  });

  it('that does not come in time is unknown; its late word still settles its attempt', async () => {
    verifies('actions.settle.late');
    const world = await memoryWorld();
    world.connector.timeoutMs = 20;
    const actionId = await approved(world);
    let answer: (outcome: Outcome) => void = () => undefined;
    let signal: AbortSignal | undefined;
    world.connector.behave = (call) => {
      signal = call.signal;
      return new Promise((resolve) => {
        answer = resolve;
      });
    };
    assert.deepEqual((await world.gate.execute(actionId)).state, 'unknown');
    assert.equal(signal?.aborted, true, 'the call was called off');
    answer({ result: 'confirmed', externalRef: 'late' });
    await until(world, actionId, 'confirmed');
    const [attempt] = (await world.gate.show(actionId)).attempts;
    assert.deepEqual([attempt?.settled_by, attempt?.external_ref], ['connector-late', 'late']);
    assert.equal(world.connector.calls.length, 1);
  });

  it('that contradicts what was found out blocks the action and asks a person', async () => {
    verifies('actions.machine.late-result');
    const world = await memoryWorld();
    world.connector.timeoutMs = 20;
    const actionId = await approved(world);
    let answer: (outcome: Outcome) => void = () => undefined;
    world.connector.behave = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    await world.gate.execute(actionId);
    world.clock.advance(20 + LIMITS.graceMs);
    assert.equal((await world.gate.reconcile(actionId)).state, 'failed');
    answer({ result: 'confirmed' });
    for (let turn = 0; turn < 100 && (await world.gate.show(actionId)).late_result === null; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.equal((await world.gate.show(actionId)).late_result?.outcome, 'confirmed');
    assert.equal(await codeOf(approve(world, actionId)), 'late_result');
    assert.deepEqual(
      (await world.gate.decisions()).map(({ what }) => what),
      ['late_result'],
    );
  });

  it('is asked for again by reconcile alone, and never twice by itself', async () => {
    verifies('actions.reconcile.evidence');
    const world = await memoryWorld();
    const actionId = await approved(world);
    world.connector.behave = async () => ({ result: 'unknown' });
    await world.gate.execute(actionId);
    assert.equal(await codeOf(world.gate.execute(actionId)), 'decision_required');
    assert.equal(await codeOf(world.gate.cancel(actionId)), 'decision_required');
    assert.equal(await codeOf(approve(world, actionId)), 'dedupe');
    for (const nothing of [undefined, { result: 'unknown' }, { result: 'maybe' }, null]) {
      world.connector.found = async () => nothing as Outcome;
      assert.equal(await codeOf(world.gate.reconcile(actionId)), 'decision_required');
    }
    world.connector.found = async () => {
      throw new Error('unreachable');
    };
    assert.equal(await codeOf(world.gate.reconcile(actionId)), 'decision_required');
    world.connector.found = async () => ({ result: 'failed' });
    assert.equal(await codeOf(world.gate.reconcile(actionId)), 'decision_required', 'the call may still arrive');
    world.clock.advance(world.connector.timeoutMs + LIMITS.graceMs - 1);
    assert.equal(await codeOf(world.gate.reconcile(actionId)), 'decision_required');
    world.clock.advance(1);
    assert.equal((await world.gate.reconcile(actionId)).state, 'failed');
    assert.equal(await codeOf(world.gate.reconcile(actionId)), 'state');
    assert.equal(world.connector.calls.length, 1);
  });

  it('after a failure leaves the way to a fresh approval whose summary tells of the attempt', async () => {
    verifies('actions.machine.fresh-receipts');
    const world = await memoryWorld();
    const actionId = await proposed(world);
    const stale = await world.gate.request(actionId);
    await approve(world, actionId);
    world.connector.behave = async () => ({ result: 'failed', code: 'conflict' });
    await world.gate.execute(actionId);
    const { signWith } = await import('../../src/approvals/index.js');
    const { ALICE } = await import('../support/gate-people.js');
    assert.equal(await codeOf(world.gate.approve(actionId, signWith(ALICE.key, stale.request))), 'summary_mismatch');
    const fresh = await world.gate.request(actionId);
    assert.ok(fresh.summary.some((line) => line.startsWith('attempt 1: ') && line.endsWith('failed conflict')));
    await world.gate.approve(actionId, signWith(ALICE.key, fresh.request));
    world.connector.behave = async (_call, effect) => effect();
    const settled = await world.gate.execute(actionId);
    assert.deepEqual([settled.state, settled.attempt], ['confirmed', 2]);
    assert.deepEqual(
      world.connector.calls.map(({ idempotencyKey, attempt }) => [idempotencyKey, attempt]),
      [
        [actionId, 1],
        [actionId, 2],
      ],
    );
  });
});

describe('a connector that does not answer before a launch', () => {
  it('is a fault, and nothing was written', { timeout: 10_000 }, async () => {
    verifies('actions.connector.bounded');
    const world = await memoryWorld();
    const actionId = await approved(world, { operation: 'guarded' });
    Object.assign(world.gate.services, { timer: () => ({ rings: Promise.resolve(), stop: () => undefined }) });
    Object.defineProperty(world.connector, 'outside', { get: () => new Promise(() => undefined) });
    assert.equal(await codeOf(world.gate.execute(actionId)), 'internal');
    assert.equal((await world.gate.show(actionId)).state, 'approved');
    assert.equal(world.connector.calls.length, 0);
  });
});

describe('a connector that does not say which operations it has', () => {
  it('is a fault, and nothing was written', { timeout: 10_000 }, async () => {
    verifies('actions.connector.bounded');
    const world = await memoryWorld();
    const actionId = await approved(world);
    Object.assign(world.gate.services, { timer: () => ({ rings: Promise.resolve(), stop: () => undefined }) });
    Object.assign(world.connector, { operation: () => new Promise(() => undefined) });
    assert.equal(await codeOf(world.gate.execute(actionId)), 'internal');
    assert.equal((await world.gate.show(actionId)).state, 'approved');
    assert.equal(world.connector.calls.length, 0);
  });
});

describe('a store that fails', () => {
  it('at the settlement: unrecorded, the launch stays, recover finds it and reconcile establishes it', async () => {
    verifies('actions.settle.unrecorded');
    const store = new FailingStore();
    const world = await memoryWorld({ store });
    const actionId = await approved(world);
    world.connector.behave = async (_call, effect) => {
      store.failAt(1);
      return effect();
    };
    assert.equal(await codeOf(world.gate.execute(actionId)), 'unrecorded');
    assert.equal((await world.gate.show(actionId)).state, 'launched');
    assert.deepEqual(await world.gate.recover(), { unknown: [], expired: [] });
    world.clock.advance(world.connector.timeoutMs + LIMITS.graceMs);
    assert.deepEqual(
      (await world.gate.decisions()).map(({ what }) => what),
      ['interrupted_launch'],
    );
    assert.deepEqual(await world.gate.recover(), { unknown: [actionId], expired: [] });
    assert.equal((await world.gate.reconcile(actionId)).state, 'confirmed');
    assert.equal(world.connector.effects.length, 1);
  });

  it('because others hold it: unrecorded as well, and not a word to try again', async () => {
    verifies('actions.settle.unrecorded');
    const store = new FailingStore();
    const world = await memoryWorld({ store });
    const actionId = await approved(world);
    world.connector.behave = async (_call, effect) => {
      store.held = () => world.clock.advance(LIMITS.storeWaitMsMax + 1);
      return effect();
    };
    assert.equal(await codeOf(world.gate.execute(actionId)), 'unrecorded');
    store.held = undefined;
    assert.equal((await world.gate.show(actionId)).state, 'launched');
  });

  it('at any commit of the way: no second effect, nothing half done, the next try or recover goes on', async () => {
    verifies('actions.launch.nth-fault');
    let faults = 0;
    for (const done of [false, true]) {
      for (let nth = 1; nth <= 12; nth += 1) {
        const store = new FailingStore();
        const world = await memoryWorld({ store });
        store.failAt(nth, done);
        let actionId: string | undefined;
        for (let turn = 0; turn < 4; turn += 1) {
          try {
            actionId ??= await proposed(world);
            const { state } = await world.gate.show(actionId);
            if (state === 'proposed') await approve(world, actionId);
            if (state !== 'launched' && state !== 'confirmed') await world.gate.execute(actionId);
            break;
          } catch (error) {
            faults += 1;
            assert.match((error as { code: string }).code, /^(store|unrecorded|replay|state|launched)$/);
            await world.reopen();
          }
        }
        assert.ok(actionId !== undefined);
        world.clock.advance(world.connector.timeoutMs + LIMITS.graceMs);
        await world.gate.recover();
        if ((await world.gate.show(actionId)).state === 'unknown') await world.gate.reconcile(actionId);
        const { state } = await world.gate.show(actionId);
        const { effects } = world.connector;
        assert.ok(effects.length <= 1, `commit ${nth}`);
        assert.equal(state, effects.length === 1 ? 'confirmed' : 'failed', `commit ${nth}`);
        assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
      }
    }
    assert.ok(faults >= 8, String(faults));
  });
});
