/**
 * What people do about an outcome that nobody knows: they establish it, approve another attempt, or let the effect run
 * again as another action; and what they do about an action that should be another one.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { editAction } from '../../src/actions/index.js';
import { auditLedger } from '../../src/app/index.js';
import type { Principal } from '../../src/core/index.js';
import {
  ALICE,
  addKeyAct,
  approve,
  approved,
  BOB,
  carriedOut,
  codeOf,
  configAct,
  homeWorld,
  memoryWorld,
  proposed,
  sending,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

/** An action whose answer was lost, with or without its effect. */
async function unknown(world: World, hadEffect = false): Promise<string> {
  const actionId = await approved(world);
  world.connector.behave = async (_call, effect) => {
    if (hadEffect) effect();
    return { result: 'unknown' };
  };
  assert.equal((await world.gate.execute(actionId)).state, 'unknown');
  world.connector.behave = async (_call, effect) => effect();
  return actionId;
}

async function find(world: World, action_id: string, outcome: 'confirmed' | 'failed', by = ALICE): Promise<void> {
  const asked = { kind: 'finding', action_id, outcome, evidence: 'looked into the mailbox' } as const;
  const { request } = await world.gate.requestResolution(asked, by.key.person);
  await world.gate.submit(signed(request, by));
}

describe('a finding', () => {
  it('settles what is unknown, with what was found as evidence', async () => {
    verifies('actions.machine.finding');
    for (const outcome of ['confirmed', 'failed'] as const) {
      const world = await memoryWorld();
      const actionId = await unknown(world);
      await find(world, actionId, outcome);
      const { state, attempts } = await world.gate.show(actionId);
      const last = attempts[0];
      assert.deepEqual([state, last?.outcome, last?.settled_by, last?.code], [outcome, outcome, 'human', 'finding']);
      const ref = last?.evidence_ref ?? '';
      const at = (await world.gate.ledger.events({ kind: 'action', id: actionId })).find((e) =>
        e.payloads.includes(ref),
      );
      const bytes = await world.gate.ledger.payload({ kind: 'action', id: actionId }, at?.revision ?? 0, ref);
      assert.equal(new TextDecoder().decode(bytes), 'looked into the mailbox');
      assert.equal((await auditLedger(world.gate.ledger)).defects.length, 0);
    }
  });

  it('of no effect lets only people allow another launch', async () => {
    verifies('actions.machine.finding');
    const world = await memoryWorld();
    const actionId = await unknown(world);
    await find(world, actionId, 'failed');
    assert.equal(await codeOf(world.gate.execute(actionId)), 'state');
    await approve(world, actionId);
    assert.equal((await world.gate.execute(actionId)).state, 'confirmed');
    assert.equal(world.connector.effects.length, 1);
    assert.equal((await auditLedger(world.gate.ledger)).defects.length, 0);
  });

  it('is refused where nothing is unknown, from somebody else, for something else, and a second time', async () => {
    verifies('authority.acts.once');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB, ['viewer']));
    const asked = { kind: 'finding', outcome: 'confirmed', evidence: 'seen' } as const;
    const waiting = await proposed(world, { args: { text: 'b' } });
    assert.equal(await codeOf(world.gate.requestResolution({ ...asked, action_id: waiting })), 'state');
    const actionId = await unknown(world);
    const byBob = world.gate.requestResolution({ ...asked, action_id: actionId }, 'human:bob');
    assert.equal(await codeOf(byBob), 'approver_not_allowed');
    const { request } = await world.gate.requestResolution({ ...asked, action_id: actionId });
    assert.equal(await codeOf(world.gate.approve(actionId, signed(request))), 'kind');
    const other = { ...request, digest: `sha256:${'0'.repeat(64)}` };
    assert.equal(await codeOf(world.gate.submit(signed(other))), 'unknown_request');
    await world.gate.submit(signed(request));
    assert.match(await codeOf(world.gate.submit(signed(request))), /^(state|replay|summary_mismatch)$/);
  });

  it('settles a later word that contradicts, and never takes a confirmation back', async () => {
    verifies('actions.machine.finding');
    const world = await memoryWorld();
    const actionId = await approved(world);
    let late: (outcome: { result: 'failed' }) => void = () => undefined;
    world.connector.timeoutMs = 1;
    world.connector.behave = () => new Promise((resolve) => (late = resolve));
    assert.equal((await world.gate.execute(actionId)).state, 'unknown');
    await find(world, actionId, 'confirmed');
    late({ result: 'failed' });
    await world.gate.wait(actionId, ({ late_result }) => late_result !== null, 2_000);
    assert.equal((await world.gate.show(actionId)).late_result?.outcome, 'failed');
    const failed = { kind: 'finding', action_id: actionId, outcome: 'failed', evidence: 'x' } as const;
    assert.equal(await codeOf(world.gate.requestResolution(failed)), 'state');
    await find(world, actionId, 'confirmed');
    const { state, late_result } = await world.gate.show(actionId);
    assert.deepEqual([state, late_result], ['confirmed', null]);
    assert.equal((await auditLedger(world.gate.ledger)).defects.length, 0);
  });
});

describe('another attempt of an unknown action', () => {
  it('leaves with fresh receipts of the whole quorum, where the operation knows a repeated call', async () => {
    verifies('actions.machine.retry-window');
    const trust = TRUST.replace("approvers: ['*']", "approvers: ['*']\n    quorum: 2");
    const world = await memoryWorld({ trust });
    await carriedOut(world, addKeyAct(BOB));
    world.connector.dedupe = { windowMs: 60_000, comparesBody: true, cachesErrors: false };
    const actionId = await proposed(world);
    await approve(world, actionId);
    await approve(world, actionId, BOB);
    world.connector.behave = async () => ({ result: 'unknown' });
    await world.gate.execute(actionId);
    world.connector.behave = async (_call, effect) => effect();
    assert.equal(await codeOf(world.gate.retry(actionId)), 'decision_required');
    await approve(world, actionId);
    assert.equal(await codeOf(world.gate.retry(actionId)), 'decision_required');
    assert.equal((await world.gate.show(actionId)).state, 'unknown');
    await approve(world, actionId, BOB);
    assert.equal((await world.gate.retry(actionId)).state, 'confirmed');
    const { attempts } = await world.gate.show(actionId);
    assert.deepEqual(
      attempts.map(({ outcome }) => outcome),
      ['unknown', 'confirmed'],
    );
    const keys = new Set(world.connector.calls.map(({ idempotencyKey }) => idempotencyKey));
    assert.equal(keys.size, 1);
    assert.equal((await auditLedger(world.gate.ledger)).defects.length, 0);
  });

  it('is refused where a repeated call is a second effect, or its time is over', async () => {
    verifies('actions.machine.retry-window');
    const none = await memoryWorld();
    const first = await unknown(none);
    assert.equal(await codeOf(none.gate.request(first)), 'dedupe');
    const world = await memoryWorld();
    world.connector.dedupe = { windowMs: 60_000, comparesBody: true, cachesErrors: false };
    const actionId = await unknown(world);
    await approve(world, actionId);
    world.clock.advance(60_000);
    assert.equal(await codeOf(world.gate.retry(actionId)), 'dedupe');
    assert.equal(await codeOf(world.gate.request(actionId)), 'dedupe');
    assert.equal(world.connector.effects.length, 0);
  });
});

describe('running the same effect again', () => {
  async function replace(world: World, action_id: string): Promise<string> {
    const { request } = await world.gate.requestResolution({ kind: 'assume_duplicate', action_id });
    const done = await world.gate.submit(signed(request));
    return done.action_id ?? '';
  }

  it('is another action, flagged, with an approval of its own; the first one is never launched again', async () => {
    verifies('actions.replace');
    const world = await memoryWorld();
    const actionId = await unknown(world);
    const again = await replace(world, actionId);
    const first = await world.gate.show(actionId);
    const second = await world.gate.show(again);
    assert.deepEqual([first.state, first.replaced_by], ['unknown', again]);
    const { replaces, flags, proposed_by, effect } = second.content;
    assert.deepEqual([replaces, flags, proposed_by], [actionId, ['possible_duplicate'], 'agent:local']);
    assert.equal(effect, first.content.effect);
    assert.ok((await world.gate.summary(again)).lines.includes(`runs again: ${actionId}`));
    assert.equal(await codeOf(world.gate.execute(again)), 'receipt_required');
    assert.equal(
      await codeOf(world.gate.requestResolution({ kind: 'assume_duplicate', action_id: actionId })),
      'replaced',
    );
    assert.equal(await codeOf(world.gate.execute(actionId)), 'replaced');
    await approve(world, again);
    assert.equal((await world.gate.execute(again)).state, 'confirmed');
    assert.deepEqual(
      (await world.gate.decisions()).map(({ id }) => id),
      [],
    );
    assert.equal((await auditLedger(world.gate.ledger)).defects.length, 0);
  });

  it('is asked of nobody where it could not be proposed now', async () => {
    verifies('actions.replace');
    const world = await memoryWorld();
    const actionId = await unknown(world);
    await carriedOut(
      world,
      await configAct(world, TRUST.replace('approvers: [', 'match: { operation: other }\n    approvers: [')),
    );
    const asked = { kind: 'assume_duplicate', action_id: actionId } as const;
    const open = async () => (await world.gate.ledger.list({ kind: 'request', waiting: true })).rows.length;
    const before = await open();
    assert.equal(await codeOf(world.gate.requestResolution(asked)), 'approvers');
    assert.equal(await open(), before);
  });

  it('asked by many at once happens once', async () => {
    verifies('actions.replace');
    const world = await memoryWorld();
    const actionId = await unknown(world);
    const { request } = await world.gate.requestResolution({ kind: 'assume_duplicate', action_id: actionId });
    const results = await Promise.allSettled(Array.from({ length: 16 }, () => world.gate.submit(signed(request))));
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    const { rows } = await world.gate.list();
    assert.equal(rows.length, 2);
  });
});

describe('an action that a person changes', () => {
  it('is a copy with its own approval, says who changed what, and the first one is over', async () => {
    verifies('actions.edit');
    const world = await memoryWorld();
    const actionId = await approved(world, { args: { text: 'ten', account: 'customers' } });
    const { services } = world.gate;
    const alice = 'human:alice' as Principal;
    assert.equal(await codeOf(editAction(services, alice, actionId, { text: 'ten', account: 'customers' })), 'invalid');
    const edited = await editAction(services, alice, actionId, { text: 'nine', account: 'customers' });
    assert.deepEqual(edited.changed_paths, ['args.text']);
    const first = await world.gate.show(actionId);
    assert.deepEqual(
      [first.state, first.closed?.how, first.superseded_by],
      ['cancelled', 'superseded', edited.action_id],
    );
    const { content, state } = await world.gate.show(edited.action_id);
    assert.deepEqual(
      [state, content.proposed_by, content.edited_by, content.revised_from, content.changed_paths],
      ['proposed', 'agent:local', 'human:alice', actionId, ['args.text']],
    );
    const { lines } = await world.gate.summary(edited.action_id);
    for (const line of ['edited by: human:alice', 'changed by the editor: args.text']) assert.ok(lines.includes(line));
    assert.match(await codeOf(world.gate.execute(actionId)), /^state$/);
    await approve(world, edited.action_id);
    await world.gate.execute(edited.action_id);
    assert.deepEqual(world.connector.calls[0]?.args, { account: 'customers', text: 'nine' });
    assert.equal((await auditLedger(world.gate.ledger)).defects.length, 0);
  });

  it('is not approved by its editor where the rule keeps them apart', async () => {
    verifies('actions.edit');
    const trust = TRUST.replace('separate: [proposer, owner]', 'separate: [proposer, editor]');
    const world = await memoryWorld({ trust });
    await carriedOut(world, addKeyAct(BOB));
    const actionId = await proposed(world);
    const { action_id } = await editAction(world.gate.services, 'human:alice' as Principal, actionId, { text: 'x' });
    assert.deepEqual((await world.gate.show(action_id)).content.approvers, ['human:bob']);
  });
});

describe('undoing', () => {
  it('is an ordinary action that the confirmed one described', async () => {
    verifies('actions.undo');
    const world = await homeWorld();
    world.connector.behave = async (_call, effect) => ({
      ...effect(),
      evidence: { undo: { operation: 'send', args: { text: 'please ignore', account: 'customers' } } },
    });
    const actionId = await approved(world);
    assert.equal(await codeOf(world.gate.proposeUndo(actionId)), 'state');
    assert.equal(await world.gate.undoing(actionId), undefined);
    await world.gate.execute(actionId);
    const undo = { operation: 'send', args: { text: 'please ignore', account: 'customers' } };
    assert.deepEqual(await world.gate.undoing(actionId), undo);
    const { action_id, state } = await world.gate.proposeUndo(actionId);
    assert.equal(state, 'proposed');
    assert.equal(await world.gate.args(action_id), '{"account":"customers","text":"please ignore"}');
    world.connector.behave = async (_call, effect) => effect();
    await approve(world, action_id);
    await world.gate.execute(action_id);
    assert.equal(await codeOf(world.gate.proposeUndo(action_id)), 'not_found');
    await world.close();
  });
});

describe('an unknown outcome whose approvers are gone', () => {
  const lost = async (world: World, operation: string) => {
    world.connector.behave = async () => ({ result: 'unknown' });
    world.connector.found = async () => undefined;
    const { proposed: asked } = await world.gate.proposeAndLaunch({ ...sending({ operation }) });
    return asked.action_id;
  };
  const finding = (action_id: string) => ({ kind: 'finding', action_id, outcome: 'failed', evidence: 'x' }) as const;

  it('is found out by whom the present rule names, or by operators where there is none', async () => {
    verifies('authority.finding.somebody');
    const trust = TRUST.replace('  - title: anybody', '  - title: anybody\n    match: { operation: send }');
    const world = await memoryWorld({ trust });
    const actionId = await lost(world, 'note');
    assert.deepEqual((await world.gate.show(actionId)).content.approvers, []);
    const { request } = await world.gate.requestResolution(finding(actionId));
    await world.gate.submit(signed(request));
    assert.equal((await world.gate.show(actionId)).state, 'failed');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('does not wait for somebody who was removed', async () => {
    verifies('authority.finding.somebody');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB));
    const actionId = await proposed(world, { approvers: ['human:bob'] });
    await approve(world, actionId, BOB);
    world.connector.behave = async () => ({ result: 'unknown' });
    await world.gate.execute(actionId);
    await carriedOut(world, { kind: 'registry', change: { change: 'remove-person', person: 'human:bob' } });
    const { request } = await world.gate.requestResolution(finding(actionId));
    assert.equal(request.approver, 'human:alice');
    await world.gate.submit(signed(request));
    assert.equal((await world.gate.show(actionId)).state, 'failed');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });
});

describe('an action of an earlier epoch', () => {
  it('is approved no more: a signature for it would be for nothing', async () => {
    verifies('actions.request.usable');
    const world = await memoryWorld();
    world.connector.behave = async () => ({ result: 'failed', code: 'refused' });
    const actionId = await approved(world);
    await world.gate.execute(actionId);
    const { sequence, logHash } = await world.gate.ledger.head();
    const remembered = { epoch: 0, sequence: sequence + 1, log_hash: logHash };
    await carriedOut(world, { kind: 'restore', sequence, log_hash: logHash, remembered });
    assert.equal(await codeOf(world.gate.request(actionId)), 'decision_required');
  });
});
