/** The trust configuration changes by a receipt, shown against what it replaces, and voids what came before. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditLedger } from '../../src/app/index.js';
import { type Act, configChanges } from '../../src/approvals/index.js';
import {
  approved,
  carriedOut,
  codeOf,
  configAct,
  homeWorld,
  memoryWorld,
  proposed,
  signed,
  TRUST,
} from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const OTHER = TRUST.replace('name: test', 'name: tested');
describe('a configuration', () => {
  it('is applied by a receipt, and voids what was proposed before', async () => {
    verifies('authority.config.apply');
    const world = await homeWorld();
    const [first, second] = [await approved(world), await proposed(world, { args: { text: 'second' } })];
    const { request, summary } = await world.gate.requestAct(await configAct(world, OTHER));
    assert.ok(summary.includes('change name: "test" -> "tested"'), summary.join('\n'));
    const other = await world.another();
    await world.gate.submit(signed(request));
    for (const gate of [world.gate, other]) {
      assert.equal(gate === world.gate ? gate.services.trust().config.name : 'tested', 'tested');
      assert.equal(await codeOf(gate.execute(first)), 'policy_changed');
      assert.equal(await codeOf(gate.request(second)), 'policy_changed');
      await gate.request(second, { decision: 'deny' });
    }
    assert.equal(await codeOf(world.gate.submit(signed(request))), 'replay');
    await world.gate.cancel(second);
    await world.gate.proposeLike(first);
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    await world.close();
  });

  it('that changed in between is not applied over', async () => {
    verifies('authority.config.base');
    const world = await memoryWorld();
    const [one, two] = [
      await configAct(world, OTHER),
      await configAct(world, TRUST.replace('name: test', 'name: third')),
    ];
    const { request } = await world.gate.requestAct(one);
    await carriedOut(world, two);
    assert.equal(await codeOf(world.gate.submit(signed(request))), 'policy_changed');
    assert.equal(await codeOf(world.gate.requestAct(one)), 'policy_changed');
    assert.equal(world.gate.services.trust().config.name, 'third');
  });

  it('is shown against the one that it replaces, whatever who asks for it says', async () => {
    verifies('authority.acts.shown');
    const world = await memoryWorld();
    const act = await configAct(world, `${TRUST}policy: { allow_unattended_irreversible: true }\n`);
    assert.ok(act.kind === 'config');
    assert.equal(await codeOf(world.gate.requestAct({ ...act, before: act.config })), 'invalid');
    assert.equal(await codeOf(world.gate.requestAct({ ...act, base: `sha256:${'0'.repeat(64)}` })), 'invalid');
    const { summary } = await world.gate.requestAct(act);
    assert.ok(summary.includes('change policy.allow_unattended_irreversible: false -> true'));
  });

  it('whose connectors could not be opened is never asked for', async () => {
    verifies('authority.config.openable');
    const world = await memoryWorld();
    const act = await configAct(world, OTHER);
    assert.ok(act.kind === 'config');
    for (const connectors of [{ nowhere: {} }, { 'shell-noop': {} }, { 'shell-noop': { dir: 'relative' } }]) {
      const spoiled: Act = { ...act, config: { ...act.config, connectors } };
      assert.equal(await codeOf(world.gate.requestAct(spoiled)), 'config_invalid');
    }
  });

  it('names the agents, also for a gate that is open', async () => {
    verifies('authority.config.agents');
    const world = await homeWorld({ as: 'agent:owned' });
    const { rows } = await world.gate.list();
    assert.equal(rows.length, 0);
    const other = await world.another({ as: 'agent:local' });
    const { request } = await other.requestAct(
      await configAct({ ...world, gate: other }, TRUST.replace('  owned: { owner: human:alice }\n', '')),
    );
    await other.submit(signed(request));
    assert.equal(await codeOf(proposed(world, { operation: 'note' })), 'forbidden');
    assert.equal(await codeOf(proposed(world, { operation: 'note' })), 'forbidden');
    await world.close();
  });

  it('lists what changes by path, both values in full', () => {
    verifies('authority.config.changes');
    const before = { a: { b: 1, c: [1] }, d: 'x' };
    assert.deepEqual(configChanges(before, before), []);
    assert.deepEqual(configChanges(before, { a: { b: 2, c: [1, 2] }, e: null }), [
      { path: 'a.b', before: '1', after: '2' },
      { path: 'a.c', before: '[1]', after: '[1,2]' },
      { path: 'd', before: '"x"', after: 'none' },
      { path: 'e', before: 'none', after: 'null' },
    ]);
  });

  it('shows a change of a rule by its title, and a change of their order', () => {
    verifies('authority.config.changes');
    const rule = (title: string, decide: string) => ({ title, decide });
    const rules = [rule('one', 'ask'), rule('two', 'deny')];
    assert.deepEqual(configChanges({ rules }, { rules: [rule('one', 'allow'), rule('two', 'deny')] }), [
      { path: 'rules.one.decide', before: '"ask"', after: '"allow"' },
    ]);
    assert.deepEqual(configChanges({ rules }, { rules: [...rules].reverse() }), [
      { path: 'rules in order', before: '["one","two"]', after: '["two","one"]' },
    ]);
    const added = configChanges({ rules }, { rules: [...rules, rule('three', 'ask')] });
    assert.deepEqual(
      added.map(({ path }) => path),
      ['rules.three', 'rules in order'],
    );
    const twice = [rule('one', 'ask'), rule('one', 'deny')];
    assert.deepEqual(
      configChanges({ rules }, { rules: twice }).map(({ path }) => path),
      ['rules'],
    );
  });
});
