/** What is asked again, of whom, and for what: nobody is asked, and nobody waits, in vain. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditLedger } from '../../src/app/index.js';
import { LIMITS } from '../../src/core/index.js';
import { keyId } from '../../src/identity/index.js';
import {
  addKeyAct,
  approve,
  approved,
  BOB,
  carriedOut,
  codeOf,
  configAct,
  memoryWorld,
  personWithKey,
  proposed,
  sending,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { alike, opened } from '../support/grants.js';
import { verifies } from '../support/verifies.js';

async function withBob(): Promise<World> {
  const world = await memoryWorld();
  await carriedOut(world, addKeyAct(BOB));
  return world;
}

const REMOVE_BOB = { kind: 'registry', change: { change: 'remove-person', person: 'human:bob' } } as const;
const REVOKE_BOB = { kind: 'registry', change: { change: 'revoke-key', key_id: keyId(BOB.key.publicKey) } } as const;

/** The epoch raised by a restore to the end of the log. */
async function restored(world: World): Promise<void> {
  const { sequence, logHash: log_hash } = await world.gate.ledger.head();
  const remembered = { epoch: 0, sequence: sequence + 1, log_hash };
  await carriedOut(world, { kind: 'restore', sequence, log_hash, remembered });
}

describe('asking again', () => {
  it('joins no action whose rules, or whose world, are others since', async () => {
    verifies('actions.join.launchable');
    const world = await memoryWorld();
    const first = await proposed(world);
    assert.equal((await world.gate.propose(sending())).action_id, first);
    await carriedOut(world, await configAct(world, TRUST.replace('name: test', 'name: other')));
    const again = await world.gate.propose(sending());
    assert.deepEqual([again.joined, again.action_id === first], [false, false]);
    assert.equal((await world.gate.propose(sending())).action_id, again.action_id, 'the new one is joined');
  });

  it('joins no action beside which an equal one ran', async () => {
    verifies('actions.join.launchable');
    const world = await memoryWorld();
    const first = await proposed(world);
    world.clock.advance(1);
    const { action_id: second } = await world.gate.propose(sending({ idempotency_key: 'k2' }));
    await approve(world, second);
    await world.gate.execute(second);
    const again = await world.gate.propose(sending());
    assert.deepEqual([again.joined, again.action_id === first], [false, false]);
    assert.equal((await world.gate.show(again.action_id)).content.launches_seen, 1);
    const { lines } = await world.gate.summary(again.action_id);
    assert.ok(lines.includes('launches of the same before: 1'), 'whoever signs reads it');
  });

  it('keeps the approvers who are left, and adds none', async () => {
    verifies('actions.like.approvers');
    const world = await withBob();
    const both = await proposed(world);
    const bobs = await proposed(world, { args: { text: 'for bob' }, approvers: ['human:bob'] });
    await carriedOut(world, REMOVE_BOB);
    const again = await world.gate.proposeLike(both);
    assert.deepEqual((await world.gate.show(again.action_id)).content.approvers, ['human:alice']);
    assert.equal(await codeOf(world.gate.proposeLike(bobs)), 'approvers');
  });

  it('takes the place of an unknown outcome also where an approver is gone', async () => {
    verifies('actions.like.approvers');
    const world = await withBob();
    world.connector.behave = async () => ({ result: 'unknown' });
    const first = await approved(world);
    await world.gate.execute(first);
    await carriedOut(world, REMOVE_BOB);
    const { request } = await world.gate.requestResolution({ kind: 'assume_duplicate', action_id: first });
    await world.gate.submit(signed(request));
    const { replaced_by } = await world.gate.show(first);
    assert.deepEqual((await world.gate.show(replaced_by as string)).content.approvers, ['human:alice']);
  });
});

describe('an unknown outcome', () => {
  it('does not wait for somebody who has no key any more', async () => {
    verifies('authority.finding.somebody');
    const world = await withBob();
    world.connector.behave = async () => ({ result: 'unknown' });
    const actionId = await proposed(world, { approvers: ['human:bob'] });
    await approve(world, actionId, BOB);
    await world.gate.execute(actionId);
    const asked = { kind: 'finding', action_id: actionId, outcome: 'failed', evidence: 'not there' } as const;
    assert.equal((await world.gate.requestResolution(asked)).request.approver, 'human:bob');
    await carriedOut(world, REVOKE_BOB);
    assert.equal(await codeOf(world.gate.requestResolution(asked, 'human:bob')), 'approver_not_allowed');
    const { request } = await world.gate.requestResolution(asked);
    assert.equal(request.approver, 'human:alice');
    await world.gate.submit(signed(request));
    assert.equal((await world.gate.show(actionId)).state, 'failed');
  });
});

describe('an action of an earlier epoch', () => {
  it('is approved no more: not by a receipt that was asked for since, not by a standing approval', async () => {
    verifies('actions.approve.epoch');
    const world = await memoryWorld();
    world.connector.behave = async () => ({ result: 'failed', code: 'no' });
    const actionId = await approved(world, alike());
    await world.gate.execute(actionId);
    await restored(world);
    await opened(world, { count: 9 });
    assert.equal((await world.gate.show(actionId)).state, 'failed');
    assert.equal(await codeOf(world.gate.coverByStanding(actionId)), 'decision_required');
    assert.equal(await codeOf(world.gate.request(actionId)), 'decision_required');
  });
});

describe('a standing approval', () => {
  it('that somebody signed who may not approve this very action covers it not', async () => {
    verifies('authority.standing.signers-stand');
    const world = await withBob();
    await opened(world, { count: 9 });
    const { action_id } = await world.gate.propose(alike({ approvers: ['human:bob'] }));
    assert.equal((await world.gate.show(action_id)).state, 'proposed');
    assert.equal(await codeOf(world.gate.coverByStanding(action_id)), 'no_cover');
  });
});

describe('nobody is asked in vain', () => {
  it('for a standing approval that would stand too long', async () => {
    verifies('authority.asked.feasible');
    const world = await memoryWorld();
    const actionId = await proposed(world);
    const grant = await world.gate.narrowestGrant(actionId, { count: 2, until: world.clock.now() + 60_000 });
    for (const until of [world.clock.now() + LIMITS.grantMsMax + 1, world.clock.now()]) {
      assert.equal(await codeOf(world.gate.requestStanding({ ...grant, until })), 'invalid');
    }
    assert.deepEqual(
      (await world.gate.decisions()).filter(({ what }) => what === 'request'),
      [],
    );
  });

  it('to say what became of an outcome that is known, or to run again what runs again already', async () => {
    verifies('authority.asked.feasible');
    const world = await memoryWorld();
    world.connector.behave = async (_call, effect) => ({ ...effect(), result: 'unknown' });
    const actionId = await approved(world);
    await world.gate.execute(actionId);
    const finding = { kind: 'finding', action_id: actionId, outcome: 'confirmed', evidence: 'seen' } as const;
    await world.gate.requestResolution(finding);
    const again = { kind: 'assume_duplicate', action_id: actionId } as const;
    const { request } = await world.gate.requestResolution(again);
    await world.gate.requestResolution(again);
    const asked = async () => (await world.gate.decisions()).filter(({ what }) => what === 'request').length;
    assert.equal(await asked(), 3);
    await world.gate.submit(signed(request));
    assert.equal(await asked(), 1, 'it runs again once');
    await world.gate.reconcile(actionId);
    assert.equal(await asked(), 0);
  });

  it('who lost every key to sign for a new one: operators do', async () => {
    verifies('authority.registry.without-keys');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB));
    const second = personWithKey('human:bob', 9);
    const own = await world.gate.requestAct(addKeyAct(second));
    assert.equal(own.request.approver, 'human:bob', 'as long as there is another one');
    const change = { change: 'revoke-key', key_id: keyId(BOB.key.publicKey) } as const;
    await carriedOut(world, { kind: 'registry', change });
    const asked = await world.gate.requestAct(addKeyAct(second));
    assert.equal(asked.request.approver, 'human:alice');
    await world.gate.submit(signed(asked.request));
    const { request } = await world.gate.request(await proposed(world), { approver: 'human:bob' });
    await world.gate.approve(request.subject, signed(request, second));
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('again, of callers who launch at once all but one hear that it runs', async () => {
    verifies('actions.launch.raced');
    const world = await memoryWorld();
    world.connector.behave = async (_call, effect) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return effect();
    };
    const actionId = await approved(world);
    const told = await Promise.all(
      Array.from({ length: 6 }, () =>
        world.gate.execute(actionId).then(
          ({ state }) => state,
          ({ code }: { code: string }) => code,
        ),
      ),
    );
    assert.deepEqual(told.sort(), ['confirmed', 'launched', 'launched', 'launched', 'launched', 'launched']);
  });
});
