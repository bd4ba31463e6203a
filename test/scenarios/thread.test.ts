/** The project's thread: every step once, in words that hide nothing and give nothing away; and refusals, within bounds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusalKind } from '../../src/actions/index.js';
import { type CountersignGate, readThread, verifyThread } from '../../src/app/index.js';
import { isoTime, LIMITS } from '../../src/core/index.js';
import {
  ALICE,
  approve,
  approved,
  codeOf,
  deny,
  homeWorld,
  memoryWorld,
  proposed,
  sending,
  signed,
  type World,
} from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

async function entriesOf(world: World, thread = 'acme') {
  const entries = [];
  for await (const entry of readThread(world.gate.ledger, thread)) entries.push(entry);
  return entries;
}

async function textsOf(world: World, thread = 'acme'): Promise<readonly string[]> {
  return (await entriesOf(world, thread)).map(({ payload }) => String(payload));
}

describe('the thread of a project', () => {
  it('has every step, request and refused launch of an action exactly once', async () => {
    verifies('actions.thread.entries');
    const world = await homeWorld();
    const actionId = await proposed(world);
    await codeOf(world.gate.execute(actionId));
    const { request } = await world.gate.request(actionId);
    await codeOf(world.gate.approve(actionId, { ...signed(request), credential_id: `sha256:${'0'.repeat(64)}` }));
    await world.gate.approve(actionId, signed(request));
    await world.gate.execute(actionId);
    await codeOf(world.gate.execute(actionId));
    const texts = await textsOf(world);
    const expected = [
      `${actionId} proposed by agent:local: counting send on customers (irreversible)`,
      `${actionId} execute refused [receipt_required] for agent:local`,
      `${actionId} asks human:alice to approve until ${isoTime(request.exp)}: countersign approver sign ${request.request_id}`,
      `${actionId} approve refused [unknown_authenticator] for agent:local`,
      `${actionId} approved by human:alice`,
      `${actionId} running: attempt 1, counting send on customers`,
      `${actionId} confirmed: effect-1`,
      `${actionId} execute refused [state] for agent:local`,
    ];
    assert.deepEqual(texts, expected);
    const entries = await entriesOf(world);
    for (const entry of entries) {
      assert.equal(entry.provenance.source, 'engine:gate');
      assert.deepEqual([entry.epistemic, entry.thread_id], ['verified', 'acme']);
      assert.equal(entry.intent, String(entry.payload).includes(' asks ') ? 'escalate' : 'assert');
    }
    const keys = [(world.gate as CountersignGate).threadPublicKey()];
    const report = await verifyThread(entries, { signatures: 'cover', keys });
    assert.deepEqual([report.ok, report.count], [true, expected.length]);
    await world.close();
  });

  it('tells every way in which an action can end', async () => {
    verifies('actions.thread.entries');
    const world = await memoryWorld();
    const denied = await proposed(world, { args: { text: 'a' } });
    await deny(world, denied);
    const withdrawn = await proposed(world, { args: { text: 'b' } });
    await world.gate.cancel(withdrawn);
    const expired = await proposed(world, { args: { text: 'c' }, approve_within_ms: 1 });
    world.clock.advance(1);
    await world.gate.recover();
    const failed = await approved(world, { args: { text: 'd' } });
    world.connector.behave = async () => ({ result: 'failed', code: 'full' });
    await world.gate.execute(failed);
    const unknown = await approved(world, { args: { text: 'e' } });
    world.connector.behave = async () => ({ result: 'unknown' });
    await world.gate.execute(unknown);
    world.connector.found = async () => ({ result: 'confirmed' });
    await world.gate.reconcile(unknown);
    const allowed = await world.gate.propose(sending({ operation: 'note' }));
    const texts = await textsOf(world);
    for (const [id, words] of [
      [denied, 'denied by human:alice'],
      [withdrawn, 'withdrawn by agent:local'],
      [expired, 'expired by engine:gate'],
      [failed, 'failed without effect: full'],
      [unknown, 'outcome unknown: it may have happened'],
      [unknown, 'confirmed'],
      [allowed.action_id, 'allowed by policy: class reversible may run without a person'],
    ] as const) {
      assert.equal(texts.filter((text) => text === `${id} ${words}`).length, 1, words);
    }
    const report = await verifyThread(await entriesOf(world), { signatures: 'cover' });
    assert.equal(report.ok, true);
  });

  it('is redacted, and one line for each entry', async () => {
    verifies('actions.thread.redacted');
    const world = await memoryWorld();
    const secret = `ghp_${'a1B2'.repeat(8)}`;
    await proposed(world, { target: `queue ${secret} \\ x` });
    const [text = ''] = await textsOf(world);
    assert.ok(!text.includes(secret) && text.includes('[redacted]') && text.includes('\\\\'));
    assert.ok(!/[\n\r]/.test(text));
  });

  it('keeps projects apart, and has nothing of what was never proposed', async () => {
    verifies('actions.thread.entries');
    const world = await memoryWorld();
    await proposed(world, { project: 'one' });
    await proposed(world, { project: 'two' });
    await codeOf(proposed(world, { project: 'two', operation: 'nothing' }));
    await codeOf(world.gate.execute('act_01JDXW3Q4R8Y2M5N7P9S0T1V3W'));
    assert.equal((await textsOf(world, 'one')).length, 1);
    assert.equal((await textsOf(world, 'two')).length, 1);
  });
});

describe('a refusal', () => {
  it('is recorded with its code and without what was sent', async () => {
    verifies('actions.refusals.no-content');
    const world = await memoryWorld();
    const secret = 'hunter2-hunter2';
    await codeOf(proposed(world, { args: { data: { password: secret } } }));
    await codeOf(world.gate.execute(`${secret}\n`));
    await codeOf(world.gate.execute('\ud800'));
    await codeOf(world.gate.execute('x'.repeat(100_000)));
    await codeOf(world.gate.approve('act_nowhere', { secret }));
    const id = `agent:local/${isoTime(world.clock.now()).slice(0, 10)}`;
    const events = await world.gate.ledger.events({ kind: 'refusal', id });
    assert.deepEqual(
      events.map(({ data }) => data),
      [
        { code: 'secret_value', total: 1, verb: 'propose', project: 'acme' },
        { code: 'unknown_action', total: 2, verb: 'execute' },
        { code: 'invalid', total: 3, verb: 'execute' },
        { code: 'unknown_action', total: 4, verb: 'execute' },
        { code: 'format', total: 5, verb: 'approve' },
      ],
    );
    assert.ok(!JSON.stringify(events).includes(secret));
  });

  it('changes nothing of what was refused', async () => {
    verifies('actions.refusals.no-change');
    const world = await memoryWorld();
    const actionId = await proposed(world);
    const before = await world.gate.ledger.events({ kind: 'action', id: actionId });
    await codeOf(world.gate.execute(actionId));
    await codeOf(world.gate.reconcile(actionId));
    await codeOf(world.gate.approve(actionId, {}));
    assert.deepEqual(await world.gate.ledger.events({ kind: 'action', id: actionId }), before);
  });

  it('is written in full a thousand times a day, and counted from then on', { timeout: 60_000 }, async () => {
    verifies('actions.refusals.bounded');
    const world = await memoryWorld();
    const actionId = await proposed(world);
    const more = 250;
    for (let at = 0; at < LIMITS.refusalsPerDayMax + more; at += 125) {
      await Promise.all(Array.from({ length: 125 }, () => codeOf(world.gate.execute(actionId))));
    }
    const id = `agent:local/${isoTime(world.clock.now()).slice(0, 10)}`;
    const count = async () => (await world.gate.ledger.read(refusalKind, id))?.state.count;
    assert.equal(await count(), LIMITS.refusalsPerDayMax);
    assert.equal((await textsOf(world)).length, 1 + LIMITS.refusalsPerDayMax);
    await world.gate.close();
    assert.equal(await count(), LIMITS.refusalsPerDayMax + more, 'what was counted is written when the gate closes');
    world.clock.advance(24 * 3_600_000);
    await codeOf(world.gate.execute(actionId));
    const next = `agent:local/${isoTime(world.clock.now()).slice(0, 10)}`;
    assert.equal((await world.gate.ledger.read(refusalKind, next))?.state.count, 1, 'the next day begins anew');
  });
});

describe('what waits for a person', () => {
  it('is listed with what to do next, and is gone when it is done or has expired', async () => {
    verifies('app.decisions');
    const world = await memoryWorld();
    const waiting = await proposed(world, { approve_within_ms: 60_000 });
    const [row] = await world.gate.decisions();
    assert.deepEqual([row?.what, row?.id, row?.approvals, row?.quorum], ['approval', waiting, 0, 1]);
    assert.equal(row?.next, `countersign action request ${waiting}`);
    assert.deepEqual(await world.gate.decisions('human:bob'), []);
    assert.equal((await world.gate.decisions(ALICE.key.person)).length, 1);
    await approve(world, waiting);
    assert.deepEqual(await world.gate.decisions(), []);
    await proposed(world, { args: { text: 'late' }, approve_within_ms: 1_000 });
    world.clock.advance(1_000);
    assert.deepEqual(await world.gate.decisions(), []);
    const unknown = await approved(world, { args: { text: 'unknown' } });
    world.connector.behave = async () => ({ result: 'unknown' });
    await world.gate.execute(unknown);
    assert.deepEqual(
      (await world.gate.decisions()).map(({ what, next }) => [what, next]),
      [['outcome_unknown', `countersign action reconcile ${unknown}`]],
    );
  });
});
