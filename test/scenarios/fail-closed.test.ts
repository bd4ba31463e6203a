/** What is missing, unset, damaged or told by the caller opens nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Gate, parseTrustConfig } from '../../src/app/index.js';
import { LIMITS } from '../../src/core/index.js';
import { approve, codeOf, homeWorld, memoryWorld, proposed, sending, signed, TRUST } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const BARE = 'version: 1\nname: test\nmode: enforce\n';

describe('nobody may approve', () => {
  it('where no approver is confirmed, no rule stands, or no rule matches', async () => {
    verifies('authority.rules.nobody');
    const bare = await memoryWorld({ bare: true });
    assert.equal(await codeOf(proposed(bare)), 'approvers');
    for (const trust of [
      BARE,
      `${BARE}approvals: []\n`,
      TRUST.replace('title: anybody', 'title: x\n    match: { project: other }'),
    ]) {
      const world = await memoryWorld({ trust });
      assert.equal(await codeOf(proposed(world)), 'approvers');
    }
  });

  it('but whom the rule names, of those whom the proposer asks', async () => {
    verifies('authority.rules.narrow');
    const bobOnly = await memoryWorld({ trust: TRUST.replace("['*']", "['human:bob']") });
    assert.equal(await codeOf(proposed(bobOnly)), 'approvers');
    const world = await memoryWorld();
    assert.equal(await codeOf(proposed(world, { approvers: ['human:mallory'] })), 'approvers');
    assert.equal(await codeOf(proposed(world, { approvers: ['human:alice', 'human:mallory'] })), 'approvers');
    const actionId = await proposed(world, { approvers: ['human:alice'] });
    assert.equal(await codeOf(world.gate.request(actionId, { approver: 'human:mallory' })), 'approver_not_allowed');
  });

  it('what they own: the owner of an agent is not asked for it', async () => {
    verifies('authority.rules.separate');
    const world = await memoryWorld({ as: 'agent:owned' });
    assert.equal(await codeOf(proposed(world)), 'approvers');
    assert.equal(await codeOf(proposed(world, { approvers: ['human:alice'] })), 'approvers');
  });

  it('what is costly by a software key, unless the rule says so', async () => {
    verifies('authority.rules.software-key');
    const strict = await memoryWorld({ trust: TRUST.replace('    software_key_for_costly: true\n', '') });
    assert.equal(await codeOf(proposed(strict, { operation: 'pay' })), 'approvers');
    assert.equal(await codeOf(proposed(strict, { class: 'costly' })), 'approvers');
    const world = await memoryWorld();
    await approve(world, await proposed(world, { operation: 'pay' }));
  });

  it('an action without facts under a rule with a target', async () => {
    verifies('authority.rules.facts-unknown');
    const trust = TRUST.replace('title: anybody', 'title: x\n    match: { target: "cust*" }');
    const world = await memoryWorld({ trust });
    await proposed(world);
    assert.equal(await codeOf(proposed(world, { operation: 'loose' })), 'approvers');
  });
});

describe('who asks', () => {
  it('is an agent that the configuration names, and never a person', async () => {
    verifies('authority.local-is-agent');
    const world = await homeWorld();
    for (const as of ['human:alice', 'human:root', 'agent:mallory', 'agent:constructor', 'agent:__proto__']) {
      assert.match(await codeOf(world.another({ as })), /^(forbidden|invalid)$/, as);
    }
    for (const as of ['engine:gate', 'alice', '', 'agent:', 'agent:a\n']) {
      assert.equal(await codeOf(world.another({ as })), 'invalid', as);
    }
    await world.close();
  });

  it('asks for others only where the door said that it may', async () => {
    verifies('actions.propose.on-behalf');
    const world = await memoryWorld();
    const on_behalf_of = ['human:alice'];
    assert.equal(await codeOf(proposed(world, { on_behalf_of })), 'forbidden');
    assert.equal(await codeOf(proposed(world, { on_behalf_of: [] })), 'forbidden');
    const trusted = new Gate(world.gate.services, { principal: 'agent:local', mayActForOthers: true }, async () => {});
    assert.equal(await codeOf(trusted.propose(sending({ on_behalf_of }))), 'approvers', 'alice may not approve it');
    const note = await trusted.propose(sending({ on_behalf_of, operation: 'note' }));
    assert.deepEqual((await world.gate.show(note.action_id)).content.on_behalf_of, ['human:alice']);
  });

  it('takes back only its own', async () => {
    verifies('actions.cancel.own');
    const world = await memoryWorld();
    const actionId = await proposed(world);
    const other = await world.another({ as: 'agent:nobody' });
    assert.equal(await codeOf(other.cancel(actionId)), 'forbidden');
    assert.equal(await codeOf(world.gate.cancel(actionId, 'x'.repeat(LIMITS.wordsCharsMax + 1))), 'invalid');
    assert.equal(await codeOf(world.gate.cancel(actionId, '\ud800')), 'invalid');
    await world.gate.cancel(actionId, 'not needed');
    assert.equal((await world.gate.show(actionId)).closed?.how, 'withdrawn');
    assert.equal(await codeOf(world.gate.cancel('act_01JDXW3Q4R8Y2M5N7P9S0T1V3W')), 'unknown_action');
  });
});

describe('a request', () => {
  it('is issued only for what can use it, to somebody who could, for a day at most', async () => {
    verifies('authority.request.usable');
    const world = await memoryWorld();
    const actionId = await proposed(world);
    for (const ttlMs of [0, -1, 0.5, Number.NaN, LIMITS.requestTtlMsMax + 1]) {
      assert.equal(await codeOf(world.gate.request(actionId, { ttlMs })), 'ttl', String(ttlMs));
    }
    assert.equal(await codeOf(world.gate.request(actionId, { decision: 'maybe' as 'deny' })), 'invalid');
    assert.equal(await codeOf(world.gate.request('act_nowhere')), 'unknown_action');
    await world.gate.request(actionId, { ttlMs: LIMITS.requestTtlMsMax });
    await world.gate.cancel(actionId);
    assert.equal(await codeOf(world.gate.request(actionId)), 'state');
    const late = await proposed(world, { approve_within_ms: 1_000 });
    world.clock.advance(1_000);
    assert.equal(await codeOf(world.gate.request(late)), 'expired');
    await world.gate.recover();
    assert.equal(await codeOf(world.gate.request(late)), 'expired');
  });

  it('can deny what is approved for as long as it can be launched', async () => {
    verifies('authority.request.deny-approved');
    const world = await memoryWorld();
    const actionId = await proposed(world, { approve_within_ms: 10_000, launch_within_ms: 60_000 });
    await approve(world, actionId);
    world.clock.advance(20_000);
    assert.equal(await codeOf(world.gate.request(actionId)), 'expired');
    const { request } = await world.gate.request(actionId, { decision: 'deny' });
    await world.gate.approve(actionId, signed(request));
    assert.equal((await world.gate.show(actionId)).closed?.how, 'denied');
    assert.equal(await codeOf(world.gate.execute(actionId)), 'state');
  });

  it('that has expired can not be signed, and one of a stale configuration neither', async () => {
    verifies('authority.receipt.deadlines');
    const world = await memoryWorld();
    const actionId = await proposed(world);
    const { request } = await world.gate.request(actionId, { ttlMs: 1_000 });
    world.clock.advance(1_000);
    assert.equal(await codeOf(world.gate.approve(actionId, signed(request))), 'expired');
    assert.equal(await codeOf(world.gate.submit(signed(request))), 'expired');
  });
});

describe('the trust configuration', () => {
  it('is a closed form, read strictly, with the line of every defect', async () => {
    verifies('authority.config.closed');
    const bad = [
      '',
      'version: 1',
      'version: 2\nname: x\nmode: enforce\n',
      `${BARE}surprise: true\n`,
      `${BARE}policy: { allow_unattended: true }\n`,
      `${BARE}mode: enforce\n`,
      BARE.replace('enforce', 'observe'),
      `${BARE}approvals: [{ title: x, approvers: [] }]\n`,
      `${BARE}approvals: [{ title: x, approvers: ['alice'] }]\n`,
      `${BARE}approvals: [{ title: x, approvers: ['*'], expires: 15 }]\n`,
      `${BARE}approvals: [{ title: x, approvers: ['*'], expires: 31d }]\n`,
      `${BARE}approvals: [{ title: x, approvers: ['*'], quorum: 17 }]\n`,
      `${BARE}connectors: { nowhere: {} }\n`,
      `${BARE}connectors: { shell-noop: {} }\n`,
      `${BARE}agents: &a { local: {} }\nsecrets: *a\n`,
      `${BARE}agents: { 'a b': {} }\n`,
      `${BARE}\t- x`,
    ];
    for (const text of bad) {
      await assert.rejects(
        async () => parseTrustConfig(text),
        { code: 'config_invalid', message: /^(line \d+:|aliases)/ },
        text,
      );
    }
    await parseTrustConfig(BARE);
  });

  it('keeps its durations through the ledger', async () => {
    verifies('authority.config.durations');
    const trust = TRUST.replace('title: anybody', 'title: anybody\n    expires: 15m\n    launch_within: 90s');
    const world = await homeWorld({ trust });
    await world.reopen();
    const actionId = await proposed(world);
    const { content, proposed_at } = await world.gate.show(actionId);
    assert.deepEqual([content.approve_by - proposed_at, content.launch_within_ms], [900_000, 90_000]);
    await world.close();
  });
});
