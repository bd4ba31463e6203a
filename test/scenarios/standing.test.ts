/**
 * Standing approvals: signed once, for exactly bounded actions, never for more of them than they hold.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditLedger } from '../../src/app/index.js';
import { grantKind } from '../../src/approvals/index.js';
import {
  ALICE,
  addKeyAct,
  approve,
  BOB,
  carriedOut,
  codeOf,
  deny,
  homeWorld,
  memoryWorld,
  proposed,
  type sending,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { alike, grantOf, opened } from '../support/grants.js';
import { verifies } from '../support/verifies.js';

async function stateOf(world: World, id: string) {
  const state = (await world.gate.ledger.read(grantKind, id))?.state;
  return [state?.used, state?.spent, state?.holds.length];
}

describe('a standing approval', () => {
  it('stands for a person as often as it says, shows on the action, and is used up', async () => {
    verifies('authority.standing.reserved');
    const world = await homeWorld();
    const id = await opened(world);
    for (let time = 0; time < 3; time += 1) {
      const { action_id, state } = await world.gate.propose(alike());
      assert.equal(state, 'approved');
      assert.deepEqual((await world.gate.show(action_id)).authorization, { kind: 'grant', grant_id: id });
      assert.equal((await world.gate.execute(action_id)).state, 'confirmed');
    }
    assert.deepEqual(await stateOf(world, id), [3, 0, 0]);
    assert.equal((await world.gate.propose(alike())).state, 'proposed');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    await world.close();
  });

  it('that is asked for in a form that it can not have says which field, and what is wrong with it', async () => {
    verifies('authority.acts.told');
    const world = await memoryWorld();
    const grant = await grantOf(world);
    const { count: _, ...countless } = grant;
    const cases: readonly (readonly [unknown, string])[] = [
      [{}, '`change.grant.project` is missing'],
      ['x', '`change.grant` is no object'],
      [countless, '`change.grant.count` is missing'],
      [{ ...grant, count: 0 }, '`change.grant.count` is below 1'],
      [{ ...grant, until: 'tomorrow' }, '`change.grant.until` is no number'],
      [{ ...grant, targets: 'x' }, '`change.grant`: unknown key `targets`'],
      [
        { ...grant, total: 5 },
        '`change.grant`: it has a `currency` where it has `per_action` or `total`, and only there',
      ],
      [{ ...grant, args: { text: 'x' } }, '`change.grant.args.text` has none of the forms that it may have'],
    ];
    for (const [given, clause] of cases) {
      const message = `this is no act that could be signed: ${clause}`;
      await assert.rejects(world.gate.requestStanding(given), { code: 'invalid', message });
    }
  });

  it('covers nothing beside its bounds', async () => {
    verifies('authority.standing.bounds');
    const world = await memoryWorld();
    await opened(world, {
      args: { account: { is: 'customers/acme' }, amount: { min: 1, max: 500 } },
      currency: 'EUR',
      per_action: 500,
      total: 900,
      count: 10,
    });
    const money = (amount: number, more = {}) =>
      alike({ args: { account: 'customers/acme', amount, currency: 'EUR', text: `m ${amount}` }, ...more });
    const stateAfter = async (input: ReturnType<typeof sending>) => (await world.gate.propose(input)).state;
    const beside = [
      money(501),
      money(0),
      alike(),
      money(10, { project: 'other' }),
      money(10, { class: 'costly' }),
      alike({ target: 'customers/a/b' }),
      alike({ target: 'customers/..' }),
      alike({ target: 'customers/a%2fb' }),
      alike({ target: 'customers/ä' }),
      money(10, { operation: 'guarded' }),
      alike({ args: { account: 'customers/acme', amount: 10, currency: 'USD' } }),
    ];
    for (const input of beside) assert.equal(await stateAfter(input), 'proposed', JSON.stringify(input));
    assert.equal(await stateAfter(money(500)), 'approved');
    const other = await world.another({ as: 'agent:nobody' });
    assert.equal((await other.propose(money(11))).state, 'proposed');
  });

  it('never covers what is flagged, takes another’s place, or runs other code', async () => {
    verifies('authority.standing.flagged');
    const world = await memoryWorld();
    await opened(world, { count: 100 });
    const first = alike();
    const { action_id } = await world.gate.propose(first);
    await deny(world, action_id);
    const again = await world.gate.show((await world.gate.propose(first)).action_id);
    assert.deepEqual([again.state, again.content.flags], ['proposed', ['previously_denied']]);
    world.connector.behave = async () => ({ result: 'unknown' });
    const lost = (await world.gate.propose(alike())).action_id;
    await world.gate.execute(lost);
    const { request } = await world.gate.requestResolution({ kind: 'assume_duplicate', action_id: lost });
    const { action_id: replaced = '' } = await world.gate.submit(signed(request, ALICE));
    assert.equal((await world.gate.show(replaced)).state, 'proposed');
    const waits = (await world.gate.propose(alike())).action_id;
    world.connector.codeVersion = '2';
    assert.equal(await codeOf(world.gate.execute(waits)), 'binding_changed');
    assert.equal((await world.gate.propose(alike())).state, 'proposed');
  });

  it('is held while an outcome is unknown, given back on a certain failure, and settled by what is found', async () => {
    verifies('authority.standing.reserved');
    const world = await memoryWorld();
    const id = await opened(world, { count: 1 });
    world.connector.behave = async () => ({ result: 'failed', code: 'refused' });
    const failed = (await world.gate.propose(alike())).action_id;
    await world.gate.execute(failed);
    assert.deepEqual(await stateOf(world, id), [0, 0, 0]);
    world.connector.behave = async () => ({ result: 'unknown' });
    const lost = (await world.gate.propose(alike())).action_id;
    await world.gate.execute(lost);
    assert.deepEqual(await stateOf(world, id), [0, 0, 1]);
    assert.equal((await world.gate.propose(alike())).state, 'proposed');
    const finding = { kind: 'finding', action_id: lost, outcome: 'failed', evidence: 'nothing there' } as const;
    const { request } = await world.gate.requestResolution(finding);
    await world.gate.submit(signed(request));
    assert.deepEqual(await stateOf(world, id), [0, 0, 0]);
    assert.equal(await codeOf(world.gate.execute(lost)), 'state', 'after a finding only people launch it again');
    assert.equal((await world.gate.propose(alike())).state, 'approved');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('that is revoked, over or used up between approval and launch launches nothing', async () => {
    verifies('authority.standing.reserved');
    const world = await memoryWorld();
    const id = await opened(world, { count: 1 });
    const [one, two] = [(await world.gate.propose(alike())).action_id, (await world.gate.propose(alike())).action_id];
    assert.equal((await world.gate.execute(one)).state, 'confirmed');
    assert.equal(await codeOf(world.gate.execute(two)), 'no_cover');
    const more = await opened(world, { count: 1 });
    assert.equal((await world.gate.coverByStanding(two)).state, 'approved', 'another one takes its place');
    await carriedOut(world, { kind: 'standing', change: { op: 'revoke', grant_id: more } });
    const revoked = await opened(world);
    const third = (await world.gate.propose(alike())).action_id;
    await carriedOut(world, { kind: 'standing', change: { op: 'revoke', grant_id: revoked } });
    assert.equal(await codeOf(world.gate.execute(third)), 'no_cover');
    assert.equal(
      await codeOf(
        world.gate
          .requestAct({ kind: 'standing', change: { op: 'revoke', grant_id: id } })
          .then(() => carriedOut(world, { kind: 'standing', change: { op: 'revoke', grant_id: revoked } })),
      ),
      'no_cover',
    );
    await opened(world, { until: world.clock.now() + 1_000 });
    const fourth = (await world.gate.propose(alike())).action_id;
    world.clock.advance(1_000);
    assert.equal(await codeOf(world.gate.execute(fourth)), 'no_cover');
    assert.equal(world.connector.effects.length, 1);
    await approve(world, two);
    assert.equal((await world.gate.execute(two)).state, 'confirmed', 'a person may still approve it');
  });

  it('raced by many launches is never overdrawn', async () => {
    verifies('authority.standing.reserved');
    const world = await memoryWorld();
    const id = await opened(world, { count: 20 });
    const ids = await Promise.all(
      Array.from({ length: 64 }, async () => (await world.gate.propose(alike())).action_id),
    );
    const results = await Promise.allSettled(ids.map((actionId) => world.gate.execute(actionId)));
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 20);
    assert.equal(world.connector.effects.length, 20);
    assert.deepEqual(await stateOf(world, id), [20, 0, 0]);
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('is signed by as many distinct people as the strictest rule that it stands for', async () => {
    verifies('authority.standing.signers');
    const trust = TRUST.replace(
      "approvers: ['*']",
      "match: { target: 'vip/*' }\n    approvers: ['*']\n    quorum: 2",
    ).concat('  - title: others\n    approvers: ["*"]\n');

    const world = await memoryWorld({ trust });
    await carriedOut(world, addKeyAct(BOB));
    const grant = await grantOf(world);
    const change = { op: 'open', grant_id: 'grant_01JDXW3Q4R8Y2M5N7P9S0T9999', grant } as const;
    const { request, also } = await world.gate.requestAct({ kind: 'standing', change });
    assert.equal(also.length, 1);
    const { missing } = await world.gate.submit(signed(request, request.approver === 'human:alice' ? ALICE : BOB));
    assert.equal(missing, 1);
    assert.equal((await world.gate.propose(alike())).state, 'proposed');
    const owner = {
      op: 'open' as const,
      grant_id: 'grant_01JDXW3Q4R8Y2M5N7P9S0T9998',
      grant: { ...grant, agents: ['agent:owned'] },
    };
    assert.equal(await codeOf(world.gate.requestAct({ kind: 'standing', change: owner })), 'approvers');
    const long = {
      ...change,
      grant_id: 'grant_01JDXW3Q4R8Y2M5N7P9S0T9997',
      grant: { ...grant, until: world.clock.now() + 31 * 86_400_000 },
    } as const;
    const alone = await memoryWorld();
    assert.equal(await codeOf(carriedOut(alone, { kind: 'standing', change: long })), 'invalid');
    await proposed(alone);
  });

  it('is found narrowest for an action, and approves one that waits', async () => {
    verifies('authority.standing.narrowest');
    const world = await memoryWorld();
    const first = alike({ operation: 'pay', args: { account: 'customers/acme', amount: 250, currency: 'EUR' } });
    const { action_id } = await world.gate.propose(first);
    const until = world.clock.now() + 60_000;
    const grant = await world.gate.narrowestGrant(action_id, { count: 2, until });
    assert.deepEqual(
      [grant.per_action, grant.total, grant.currency, grant.target],
      [250, 500, 'EUR', 'customers/acme'],
    );
    assert.equal(await codeOf(world.gate.coverByStanding(action_id)), 'no_cover');
    const { issued } = await world.gate.requestStanding(grant);
    await world.gate.submit(signed(issued.request));
    assert.equal((await world.gate.coverByStanding(action_id)).state, 'approved');
    const signedOne = (await world.gate.propose(alike({ operation: 'guarded' }))).action_id;
    await approve(world, signedOne);
    assert.equal(await codeOf(world.gate.coverByStanding(signedOne)), 'state');
    assert.equal((await world.gate.execute(action_id)).state, 'confirmed');
    const [row] = await world.gate.grants();
    assert.deepEqual([row?.used, row?.spent, row?.signers.map(({ person }) => person)], [1, 250, ['human:alice']]);
    const loose = (await world.gate.propose(alike({ operation: 'loose', args: { text: 'x' } }))).action_id;
    assert.equal(await codeOf(world.gate.narrowestGrant(loose, { count: 1, until })), 'no_cover');
    const nothing = await homeWorld();
    assert.equal(await codeOf(nothing.gate.requestAct(null as never)), 'invalid');
    await nothing.close();
  });
});
