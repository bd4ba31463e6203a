/**
 * Bounds on what runs without a person: taken by the launch's own commit, settled by the outcome, kept while it is
 * unknown.
 * Source: spec authority (policy: limits and budgets); reliability T13, I5.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Proposal } from '../../src/actions/index.js';
import { auditLedger } from '../../src/app/index.js';
import { budgetKind } from '../../src/policy/index.js';
import { approve, codeOf, type FakeClock, homeWorld, memoryWorld, TRUST, type World } from '../support/gate-world.js';
import { defectsIn, logOf } from '../support/logs.js';
import { verifies } from '../support/verifies.js';

/** A trust configuration with one rule about payments. */
function bounded(lines: string, switched = true): string {
  return `${TRUST}policy:
  allow_unattended_irreversible: ${switched}
  rules:
    - { title: pay, decide: allow, match: { connector: counting }, ${lines} }
`;
}

function paying(amount: number, changes: Partial<Proposal> = {}): Proposal {
  const money = { amount, currency: 'EUR' };
  const args = { ...money, text: String(Math.random()) };
  return { project: 'acme', connector: 'counting', operation: 'pay', target: 'shop', args, ...money, ...changes };
}

async function launched(world: World, amount: number): Promise<{ id: string; state: string }> {
  const { proposed, settled } = await world.gate.proposeAndLaunch(paying(amount));
  return { id: proposed.action_id, state: settled?.state ?? (await world.gate.show(proposed.action_id)).state };
}

/** Every bound's record, by the amounts that it holds. */
async function bounds(world: World): Promise<readonly (readonly number[])[]> {
  const { rows } = await world.gate.ledger.list({ kind: 'budget' });
  const states = await Promise.all(rows.map(({ id }) => world.gate.ledger.readVerified(budgetKind, id)));
  return states.map((one) => [one?.state.reserved ?? 0, one?.state.spent ?? 0]);
}

/** A moment in the middle of a month, a day and an hour. */
function midMonth(clock: FakeClock): void {
  const at = new Date(clock.wall);
  clock.wall = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 15, 12, 30);
}

async function worldWith(lines: string): Promise<World> {
  const world = await memoryWorld({ trust: bounded(lines) });
  midMonth(world.clock);
  return world;
}

describe('bounds of policy', () => {
  it('a budget holds at its amount and asks beyond it; a person may still approve', async () => {
    verifies('policy.budget.over');
    const world = await worldWith('budget: 5 EUR/day');
    assert.equal((await launched(world, 300)).state, 'confirmed');
    assert.equal((await launched(world, 201)).state, 'proposed', 'one cent too much');
    assert.equal((await launched(world, 200)).state, 'confirmed');
    const over = await launched(world, 1);
    assert.equal(over.state, 'proposed');
    const { decision } = await world.gate.show(over.id);
    assert.deepEqual([decision.outcome, decision.determined_by], ['REQUIRE_APPROVAL', ['rule: pay']]);
    await approve(world, over.id);
    assert.equal((await world.gate.execute(over.id)).state, 'confirmed');
    assert.deepEqual(await bounds(world), [[0, 500]], 'what a person approved takes nothing');
    await world.close();
  });

  it('`over: deny` refuses, with the rule and what to do', async () => {
    verifies('policy.budget.over');
    const world = await worldWith('limit: 2/h, over: deny');
    await launched(world, 1);
    await launched(world, 1);
    await assert.rejects(world.gate.proposeAndLaunch(paying(1)), (error: Error & Record<string, unknown>) => {
      assert.deepEqual([error['code'], error['details']], ['policy_denied', { rule: 'rule: pay' }]);
      assert.match(error.message, /bound of rule `pay`/);
      assert.match(String(error['next']), /next period/);
      return true;
    });
    world.clock.advance(3_600_000);
    assert.equal((await launched(world, 1)).state, 'confirmed', 'a new hour');
    await world.close();
  });

  it('an action that was allowed when there was room is refused at its launch when there is none', async () => {
    verifies('policy.budget.over');
    const world = await worldWith('limit: 1/day');
    const first = await world.gate.propose(paying(1));
    const second = await world.gate.propose(paying(1));
    assert.deepEqual([first.state, second.state], ['approved', 'approved'], 'a proposal takes nothing');
    assert.equal((await world.gate.execute(first.action_id)).state, 'confirmed');
    assert.equal(await codeOf(world.gate.execute(second.action_id)), 'receipt_required');
    assert.equal((await world.gate.show(second.action_id)).state, 'approved');
    await approve(world, second.action_id);
    assert.equal((await world.gate.execute(second.action_id)).state, 'confirmed');
    await world.close();
  });

  it('a certain failure gives back; unknown keeps, until it is known', async () => {
    verifies('policy.budget.settled');
    const world = await worldWith('limit: 10/day, budget: 9 EUR/month');
    world.connector.behave = async () => ({ result: 'failed', code: 'no' });
    await launched(world, 100);
    assert.deepEqual(
      await bounds(world),
      [
        [0, 0],
        [0, 0],
      ].map((pair) => pair),
    );
    world.connector.behave = async () => ({ result: 'unknown' });
    const [kept, lost] = [await launched(world, 100), await launched(world, 200)];
    assert.deepEqual((await bounds(world)).flat().sort(), [0, 0, 2, 300]);
    world.clock.advance(120_000);
    world.connector.found = async () => ({ result: 'confirmed' });
    await world.gate.reconcile(kept.id);
    world.connector.found = async () => ({ result: 'failed' });
    await world.gate.reconcile(lost.id);
    assert.deepEqual((await bounds(world)).flat().sort(), [0, 0, 1, 100]);
    await world.close();
  });

  it('what was called a failure and happened after all is charged', async () => {
    verifies('policy.budget.settled');
    const world = await worldWith('budget: 9 EUR/day');
    world.connector.behave = async () => ({ result: 'unknown' });
    const { id } = await launched(world, 100);
    world.clock.advance(120_000);
    world.connector.found = async () => ({ result: 'failed' });
    await world.gate.reconcile(id);
    assert.deepEqual(await bounds(world), [[0, 0]]);
    const { settle } = await import('../../src/actions/settle.js');
    const [attempt] = (await world.gate.show(id)).attempts;
    assert.ok(attempt !== undefined);
    await settle(world.gate.services, id, attempt, { result: 'confirmed' }, 'connector-late');
    assert.notEqual((await world.gate.show(id)).late_result, null);
    assert.deepEqual(await bounds(world), [[0, 100]]);
    await world.close();
  });

  it('a killed launch keeps what it took', async () => {
    verifies('policy.budget.settled');
    const failpoint = (name: string) => {
      if (name === 'launch.before-call') throw new Error('killed');
    };
    const world = await memoryWorld({ trust: bounded('budget: 9 EUR/day'), failpoint });
    midMonth(world.clock);
    await assert.rejects(launched(world, 100));
    world.clock.advance(120_000);
    await world.gate.recover();
    assert.deepEqual(await bounds(world), [[100, 0]]);
    await world.close();
  });

  it('no refused proposal and no refused launch takes anything', async () => {
    verifies('policy.budget.exact');
    const world = await worldWith('limit: 2/day');
    const { action_id } = await world.gate.propose(paying(1));
    await world.gate.cancel(action_id);
    assert.equal(await codeOf(world.gate.execute(action_id)), 'state');
    assert.deepEqual(await bounds(world), []);
    const same = paying(1);
    const [one, two] = await Promise.all([same, same].map((proposal) => world.gate.proposeAndLaunch(proposal)));
    assert.equal(one?.proposed.action_id, two?.proposed.action_id, 'the same effect is one action');
    assert.deepEqual(await bounds(world), [[0, 1]]);
    await world.close();
  });

  it('a budget covers no other currency, and nothing of which the amount is not known', async () => {
    verifies('policy.budget.covers');
    const world = await worldWith('budget: 9 EUR/day');
    const dollars = { amount: 1, currency: 'USD' };
    const asked = [
      paying(1, { ...dollars, args: dollars }),
      paying(1, { operation: 'send', args: {}, amount: undefined, currency: undefined } as never),
      paying(1, { operation: 'loose' }),
    ];
    for (const { amount, currency, ...proposal } of asked) {
      const money = amount === undefined ? {} : { amount, currency };
      const { state } = await world.gate.propose({ ...proposal, ...(money as object) });
      assert.equal(state, 'proposed', proposal.operation);
    }
    await world.close();
  });

  it('the audit finds a launch beyond its bound, and one that took nothing', async () => {
    verifies('policy.budget.audited');
    const world = await homeWorld({ trust: bounded('limit: 2/month') });
    for (let count = 0; count < 2; count += 1) await launched(world, 1);
    assert.equal((await launched(world, 1)).state, 'proposed');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    const events = await logOf(world.gate.ledger);
    const without = events.filter(({ type }) => type !== 'budget-reserved');
    assert.match((await defectsIn(world.gate.ledger, without)).join(), /told something else/);
    const [first, ...others] = events.filter(({ type }) => type === 'budget-reserved');
    const beyond = [...events, first, ...others].filter((event) => event !== undefined);
    assert.match((await defectsIn(world.gate.ledger, beyond)).join(), /without a launch or an outcome/);
    for (const one of [first, ...others]) if (one !== undefined) one.data.max = 1;
    assert.match((await defectsIn(world.gate.ledger, events)).join(), /told something else/);
    await world.close();
  });
});
