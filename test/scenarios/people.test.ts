/**
 * Several people: quorum, groups, who may not count, what an agent may ask for, denials and what follows them, the
 * brake, and two operators.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ALICE,
  addKeyAct,
  approve,
  BOB,
  carriedOut,
  codeOf,
  deny,
  memoryWorld,
  personWithKey,
  proposed,
  sending,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const EVE = personWithKey('human:eve', 5);

const TWO = TRUST.replace("approvers: ['*']", "approvers: ['group:pair']\n    quorum: 2").concat(
  'groups: { pair: ["human:alice", "human:bob"], nobody: ["human:zoe"] }\n',
);

async function threePeople(trust = TWO): Promise<World> {
  const world = await memoryWorld({ trust });
  await carriedOut(world, addKeyAct(BOB));
  await carriedOut(world, addKeyAct(EVE));
  return world;
}

describe('a quorum of two', () => {
  it('is two distinct people of the rule', async () => {
    verifies('authority.quorum.distinct');
    const world = await threePeople();
    const actionId = await proposed(world);
    assert.deepEqual((await world.gate.show(actionId)).content.approvers, ['human:alice', 'human:bob']);
    await approve(world, actionId);
    assert.equal(await codeOf(world.gate.execute(actionId)), 'receipt_required');
    await approve(world, actionId);
    assert.equal((await world.gate.show(actionId)).approvals.length, 1, 'one person twice is one');
    assert.equal(await codeOf(world.gate.request(actionId, { approver: 'human:eve' })), 'approver_not_allowed');
    await approve(world, actionId, BOB);
    const { state, approvals } = await world.gate.show(actionId);
    assert.deepEqual([state, approvals.map(({ approver }) => approver)], ['approved', ['human:alice', 'human:bob']]);
    assert.equal((await world.gate.execute(actionId)).state, 'confirmed');
  });

  it('counts a person with two keys once', async () => {
    verifies('authority.quorum.distinct');
    const world = await threePeople();
    const more = personWithKey('human:alice', 3);
    await carriedOut(world, addKeyAct(more));
    const actionId = await proposed(world);
    await approve(world, actionId);
    await approve(world, actionId, more);
    assert.equal((await world.gate.show(actionId)).state, 'proposed');
  });

  it('may be raised by the proposer, and never lowered', async () => {
    verifies('authority.quorum.raised');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB));
    const raised = await proposed(world, { quorum: 2 });
    assert.equal((await world.gate.show(raised)).content.quorum, 2);
    assert.equal(await codeOf(proposed(world, { quorum: 3, args: { text: 'b' } })), 'approvers');
    const strict = await threePeople();
    assert.equal((await strict.gate.show(await proposed(strict, { quorum: 1 }))).content.quorum, 2);
  });

  it('of a group without active people is nobody', async () => {
    verifies('authority.rules.groups');
    const world = await threePeople(TWO.replace('group:pair', 'group:nobody'));
    assert.equal(await codeOf(proposed(world)), 'approvers');
    const unknown = await threePeople(TWO.replace('group:pair', 'group:unheard'));
    assert.equal(await codeOf(proposed(unknown)), 'approvers');
  });

  it('falls with one of its signers: removed before the launch, the action is not launched', async () => {
    verifies('authority.quorum.distinct');
    const world = await threePeople();
    const actionId = await proposed(world);
    await approve(world, actionId);
    await approve(world, actionId, BOB);
    await carriedOut(world, { kind: 'registry', change: { change: 'remove-person', person: 'human:bob' } });
    assert.equal(await codeOf(world.gate.execute(actionId)), 'unknown_approver');
    assert.equal(world.connector.calls.length, 0);
  });
});

describe('what one agent asks of people', () => {
  it('is bounded at once: of 64 proposals side by side as many wait as may', async () => {
    verifies('authority.asks.capped');
    const trust = TRUST.replace('pending_max: none', 'pending_max: 20');
    const world = await memoryWorld({ trust });
    const results = await Promise.allSettled(
      Array.from({ length: 64 }, (_, at) => proposed(world, { args: { text: `ask ${at}` } })),
    );
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 20);
    assert.equal(await codeOf(proposed(world, { args: { text: 'one more' } })), 'too_many_pending');
    const first = (results.find(({ status }) => status === 'fulfilled') as PromiseFulfilledResult<string>).value;
    await deny(world, first);
    await proposed(world, { args: { text: 'after one was decided' } });
    assert.equal(await codeOf(proposed(world, { args: { text: 'and another' } })), 'too_many_pending');
  });

  it('is bounded by the hour, and what policy allows by itself does not count', async () => {
    verifies('authority.asks.capped');
    const trust = TRUST.replace('pending_max: none, asks_per_hour: none', 'pending_max: none, asks_per_hour: 3');
    const world = await memoryWorld({ trust });
    for (let at = 0; at < 5; at += 1) await world.gate.propose(sending({ operation: 'note', args: { text: `${at}` } }));
    for (let at = 0; at < 3; at += 1) await proposed(world, { args: { text: `${at}` } });
    assert.equal(await codeOf(proposed(world, { args: { text: 'fourth' } })), 'too_many_pending');
    world.clock.advance(3_600_001);
    await proposed(world, { args: { text: 'an hour later' } });
  });
});

describe('a denial', () => {
  it('with words sends the action back, and the caller is told', async () => {
    verifies('authority.deny.send-back');
    const world = await memoryWorld();
    const actionId = await proposed(world);
    const { request } = await world.gate.request(actionId, { decision: 'deny' });
    assert.equal(await codeOf(world.gate.approve(actionId, signed(request), { sendBack: true })), 'invalid');
    await world.gate.approve(actionId, signed(request), { sendBack: true, words: 'half of it, please' });
    const { closed } = await world.gate.show(actionId);
    assert.deepEqual(closed, { how: 'changes_requested', by: 'human:alice', words: 'half of it, please' });
  });

  it('is remembered: the same effect asked for again is flagged, and needs a person', async () => {
    verifies('actions.flags.previously-denied');
    const world = await memoryWorld({ trust: `${TRUST}policy: { allow_unattended_irreversible: true }\n` });
    const asked = { ...sending(), approvers: ['human:alice'] };
    const strict = await memoryWorld();
    const first = await proposed(strict);
    await deny(strict, first);
    const again = await strict.gate.show(await proposed(strict));
    assert.deepEqual([again.content.flags, again.state], [['previously_denied'], 'proposed']);
    assert.ok((await strict.gate.summary(again.content.action_id)).lines.includes('flags: previously_denied'));
    const { action_id } = await world.gate.propose(asked);
    assert.equal((await world.gate.show(action_id)).state, 'approved');
    await deny(world, action_id);
    const flagged = await world.gate.show((await world.gate.propose(asked)).action_id);
    assert.deepEqual([flagged.content.flags, flagged.state], [['previously_denied'], 'proposed']);
    assert.equal(await codeOf(world.gate.execute(flagged.content.action_id)), 'receipt_required');
  });
});

describe('the brake', () => {
  const set = (scope: 'all' | 'project' | 'agent' | 'connector', name: string | null) =>
    ({ kind: 'freeze', op: 'set', scope: { scope, name } }) as const;

  it('stops what is asked, approved and launched, and nothing that ends or settles', async () => {
    verifies('authority.freeze');
    for (const act of [
      set('all', null),
      set('project', 'acme'),
      set('agent', 'agent:local'),
      set('connector', 'counting'),
    ]) {
      const world = await memoryWorld();
      await carriedOut(world, addKeyAct(BOB));
      const [waiting, ready, denied] = [
        await proposed(world),
        await proposed(world, { args: { text: 'b' } }),
        await proposed(world, { args: { text: 'c' } }),
      ];
      await approve(world, ready);
      const { request } = await world.gate.request(waiting);
      await carriedOut(world, act, BOB);
      assert.equal(await codeOf(proposed(world, { args: { text: 'd' } })), 'frozen');
      assert.equal(await codeOf(world.gate.request(waiting)), 'frozen');
      assert.equal(await codeOf(world.gate.approve(waiting, signed(request))), 'frozen');
      assert.equal(await codeOf(world.gate.execute(ready)), 'frozen');
      assert.equal(await codeOf(carriedOut(world, act)), 'state');
      await deny(world, denied);
      const lift = { ...act, op: 'lift' } as const;
      assert.equal(await codeOf(world.gate.requestAct(lift, 'human:bob')), 'approver_not_allowed');
      await carriedOut(world, lift);
      assert.equal((await world.gate.execute(ready)).state, 'confirmed');
      assert.equal(world.connector.calls.length, 1);
    }
  });

  it('stops nothing beside its scope', async () => {
    verifies('authority.freeze');
    const world = await memoryWorld();
    await carriedOut(world, set('project', 'other'));
    await carriedOut(world, set('agent', 'agent:other'));
    await carriedOut(world, set('connector', 'other'));
    const actionId = await proposed(world);
    await approve(world, actionId);
    assert.equal((await world.gate.execute(actionId)).state, 'confirmed');
  });
});

describe('two operators', () => {
  it('change together who may approve; each takes an own key back alone', async () => {
    verifies('authority.registry.two-operators');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB, ['approver', 'operator']));
    const asked = await world.gate.requestAct(addKeyAct(EVE));
    assert.equal(asked.also.length, 1);
    const kept = await world.gate.submit(signed(asked.request, ALICE));
    assert.deepEqual(kept, { request_id: asked.request.request_id, missing: 1 });
    assert.equal(await codeOf(world.gate.submit(signed(asked.request, ALICE))), 'replay');
    const { rows } = await world.gate.ledger.list({ kind: 'person', statuses: ['active'] });
    assert.equal(rows.length, 2);
    const other = asked.also[0];
    assert.ok(other !== undefined);
    const done = await world.gate.submit(signed(other, BOB));
    assert.equal(done.act?.kind, 'registry');
    const more = personWithKey('human:bob', 6);
    await carriedOut(world, addKeyAct(more), BOB);
    const revoke = await world.gate.requestAct(
      { kind: 'registry', change: { change: 'revoke-key', key_id: signed(other, BOB).credential_id } },
      'human:bob',
    );
    assert.equal(revoke.also.length, 0);
    await world.gate.submit(signed(revoke.request, BOB));
  });

  it('sign the same act: two halves of different ones are none', async () => {
    verifies('authority.registry.two-operators');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB, ['approver', 'operator']));
    const one = await world.gate.requestAct(addKeyAct(EVE));
    const two = await world.gate.requestAct(addKeyAct(EVE, ['approver', 'operator']), 'human:bob');
    assert.equal((await world.gate.submit(signed(one.request, ALICE))).missing, 1);
    assert.equal((await world.gate.submit(signed(two.request, BOB))).missing, 1);
    assert.equal(await world.gate.ledger.read({ name: 'person' } as never, 'human:eve'), undefined);
  });
});

describe('a rule', () => {
  it('may launch with the last approval, and a launch that is refused leaves the action approved', async () => {
    verifies('authority.rules.launch');
    const trust = TRUST.replace("approvers: ['*']", "approvers: ['*']\n    launch: on_approval");
    const world = await memoryWorld({ trust });
    const actionId = await proposed(world, { operation: 'guarded' });
    const { request } = await world.gate.request(actionId);
    const attached = await world.gate.approve(actionId, signed(request));
    assert.deepEqual([attached.state, attached.settled?.state], ['confirmed', 'confirmed']);
    assert.equal(world.connector.effects.length, 1);
    const second = await proposed(world, { operation: 'guarded', args: { text: 'b' } });
    const asked = await world.gate.request(second);
    world.connector.outside = { head: 'another' };
    const kept = await world.gate.approve(second, signed(asked.request));
    assert.deepEqual([kept.state, kept.refused], ['approved', 'stale_precondition']);
    assert.equal(world.connector.effects.length, 1);
  });

  it('says when somebody should have decided, and who is told then', async () => {
    verifies('authority.rules.due');
    const trust = TRUST.replace(
      "approvers: ['*']",
      "approvers: ['human:alice']\n    due: 10m\n    escalate_to: ['human:bob']",
    );
    const world = await memoryWorld({ trust });
    await carriedOut(world, addKeyAct(BOB));
    const actionId = await proposed(world);
    const [row] = await world.gate.decisions();
    assert.deepEqual([row?.id, row?.wanted?.late, row?.wanted?.also], [actionId, false, ['human:bob']]);
    assert.equal((row?.wanted?.by ?? 0) - (row?.wanted?.remind ?? 0), 300_000);
    assert.deepEqual(await world.gate.decisions('human:bob'), []);
    world.clock.advance(600_000);
    const [late] = await world.gate.decisions('human:bob');
    assert.deepEqual([late?.id, late?.wanted?.late], [actionId, true]);
    assert.equal(await codeOf(world.gate.request(actionId, { approver: 'human:bob' })), 'approver_not_allowed');
  });
});
