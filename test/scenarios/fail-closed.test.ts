/** What is missing, unset, damaged or told by the caller opens nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Proposal } from '../../src/actions/index.js';
import { parseTrustConfig } from '../../src/app/index.js';
import { LIMITS } from '../../src/core/index.js';
import { classRule, type PolicyEngine } from '../../src/policy/index.js';
import { approve, codeOf, homeWorld, memoryWorld, proposed, sending, signed, TRUST } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const BARE = 'version: 1\nname: test\nmode: enforce\n';

/** A policy that counts how often it was asked. */
function countingPolicy(): { policy: PolicyEngine; asked(): number } {
  let asked = 0;
  const policy: PolicyEngine = {
    decide: (question, config) => {
      asked += 1;
      return classRule.decide(question, config);
    },
  };
  return { policy, asked: () => asked };
}

async function refusals(proposals: readonly unknown[], code: string): Promise<void> {
  const { policy, asked } = countingPolicy();
  const world = await memoryWorld({ policy });
  for (const [at, one] of proposals.entries()) {
    assert.equal(await codeOf(world.gate.propose(one as Proposal)), code, `proposal ${at}`);
  }
  assert.equal(asked(), 0, 'policy was not asked');
  assert.deepEqual((await world.gate.list()).rows, []);
}

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
    assert.throws(() => world.gate.as({ principal: 'human:alice' }), { code: 'forbidden' });
    await world.close();
  });

  it('asks for others only where the door said that it may', async () => {
    verifies('actions.propose.on-behalf');
    const world = await memoryWorld();
    const on_behalf_of = ['human:alice'];
    assert.equal(await codeOf(proposed(world, { on_behalf_of })), 'forbidden');
    assert.equal(await codeOf(proposed(world, { on_behalf_of: [] })), 'forbidden');
    const trusted = world.gate.as({ principal: 'agent:local', mayActForOthers: true });
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

describe('a proposal', () => {
  it('is a closed form: what it says of its own approval is refused', async () => {
    verifies('actions.propose.closed');
    const fields = [
      'approved',
      'state',
      'receipt_verified',
      'proposed_by',
      'approvals',
      'digest',
      'class_floor',
      'quorum',
    ];
    await refusals(
      [
        ...fields.map((name) => ({ ...sending(), [name]: true })),
        { ...sending(), state: 'approved' },
        ...[null, undefined, [], 'text', 7, {}],
        JSON.parse('{"__proto__":{"approved":true},"project":"acme"}'),
      ],
      'invalid',
    );
  });

  it('with arguments that are no object never reaches policy', async () => {
    verifies('actions.propose.args-object');
    const values = [null, [], 'text', '{', 7, true, new Map([['text', 'x']]), new Date(0), new Uint8Array(1), () => 1];
    const cyclic: Record<string, unknown> = {};
    cyclic.data = cyclic;
    await refusals(
      [...values, new (class Args {})(), cyclic].map((args) => ({ ...sending(), args })),
      'invalid',
    );
  });

  it('with arguments that the schema does not take, or that have no canonical form, is refused', async () => {
    verifies('actions.propose.args-schema');
    const bad = [
      { text: 1 },
      { approved: true },
      { text: '\ud800' },
      { data: 2 ** 53 },
      { data: Number.NaN },
      { data: Number.NEGATIVE_INFINITY },
    ];
    let deep: unknown = 1;
    for (let level = 0; level < LIMITS.depthMax + 1; level += 1) deep = [deep];
    await refusals(
      [...bad, { data: deep }, { data: undefined, text: 'x', more: undefined }].map((args) => ({ ...sending(), args })),
      'invalid',
    );
  });

  it('with more arguments than the bound is refused, counted in bytes', async () => {
    verifies('actions.propose.args-size');
    const { length } = '{"text":""}';
    const world = await memoryWorld();
    for (const [letter, bytes] of [
      ['x', 1],
      ['€', 3],
    ] as const) {
      const most = Math.floor((LIMITS.argsBytesMax - length) / bytes);
      await proposed(world, { args: { text: letter.repeat(most) } });
      assert.equal(await codeOf(proposed(world, { args: { text: letter.repeat(most + 1) } })), 'invalid');
    }
  });

  it('with a secret in plain is refused, and one that is named is not', async () => {
    verifies('actions.propose.secret');
    const secrets = [
      { data: { password: 'hunter2' } },
      { data: [{ api_key: 'abc' }] },
      { text: `sk_${'live'}_0123456789abcdef` },
      { data: { [`ghp_${'a1B2'.repeat(8)}`]: 1 } },
    ];
    await refusals(
      secrets.map((args) => ({ ...sending(), args })),
      'secret_value',
    );
    const world = await memoryWorld();
    await proposed(world, { args: { data: { password: { $secret: 'SMTP' } } } });
    const flagged = await proposed(world, { args: { text: 'kD93jf02KdlqP83hdkW02mXzQ71v' } });
    assert.deepEqual((await world.gate.show(flagged)).content.flags, ['high_entropy_args']);
  });

  it('with another target or amount than its arguments say is refused', async () => {
    verifies('actions.propose.facts');
    await refusals([sending({ args: { account: 'other' } })], 'target_mismatch');
    const money = { amount: 100, currency: 'EUR' };
    await refusals(
      [
        sending({ args: money, amount: 101, currency: 'EUR' }),
        sending({ args: money, amount: 100, currency: 'USD' }),
        sending({ amount: 100, currency: 'EUR' }),
        sending({ args: {}, amount: 0, currency: 'EUR' }),
      ],
      'amount_mismatch',
    );
    const half = [
      { amount: 1 },
      { currency: 'EUR' },
      { amount: 0.5, currency: 'EUR' },
      { amount: -1, currency: 'EUR' },
    ];
    const odd = [
      { amount: 1, currency: 'eur' },
      { amount: 2 ** 53, currency: 'EUR' },
    ];
    await refusals(
      [...half, ...odd].map((more) => sending({ operation: 'loose', ...more })),
      'invalid',
    );
    const world = await memoryWorld();
    const actionId = await proposed(world, { args: money });
    const { amount, currency } = (await world.gate.show(actionId)).content;
    assert.deepEqual([amount, currency], [100, 'EUR']);
  });

  it('names what is plain: no control, invisible or unassigned character, no form that another spelling has', async () => {
    verifies('actions.propose.target');
    const bad = [
      '',
      'a\nb',
      'a\u0000',
      '\u202ea',
      'a\u200bb',
      '\u00ad',
      '\ufe0f',
      '\u{e0100}',
      '\u2028',
      '\ud800',
      '\u{378}',
    ];
    const more = ['e\u0301', '\u{1d173}', '\u115f', 'x'.repeat(LIMITS.targetCharsMax + 1)];
    await refusals(
      [
        ...[...bad, ...more].map((target) => sending({ target })),
        ...['', 'a b', 'a\n', '-a', 'a'.repeat(129), '\u00e9'].map((project) => sending({ project })),
        ...['', 'a\u0000', '\u202e', 'x'.repeat(LIMITS.workItemCharsMax + 1)].map((work_item) =>
          sending({ work_item }),
        ),
      ],
      'invalid',
    );
    const world = await memoryWorld();
    await proposed(world, { target: 'x'.repeat(LIMITS.targetCharsMax) });
    const flagged = await proposed(world, { target: 'p\u0430ypal' });
    assert.deepEqual((await world.gate.show(flagged)).content.flags, ['non_ascii_target']);
  });

  it('names an operation that there is', async () => {
    verifies('actions.propose.known');
    await refusals([sending({ connector: 'nowhere' }), sending({ connector: 'constructor' })], 'connector');
    await refusals([sending({ operation: 'erase' }), sending({ operation: 'constructor' })], 'operation');
  });

  it('of whatever kind never has a class below that of the operation', async () => {
    verifies('actions.propose.class-floor');
    const classes = ['read', 'reversible', 'irreversible', 'costly'] as const;
    const floors = {
      read: 'read',
      note: 'reversible',
      send: 'irreversible',
      guarded: 'irreversible',
      loose: 'irreversible',
      pay: 'costly',
    } as const;
    const world = await memoryWorld();
    const asked = fc.record(
      {
        operation: fc.constantFrom(...(Object.keys(floors) as (keyof typeof floors)[])),
        class: fc.constantFrom(...classes),
        args: fc.record(
          { text: fc.string(), data: fc.jsonValue({ maxDepth: 2 }) },
          { requiredKeys: [], noNullPrototype: true },
        ),
        work_item: fc.string({ minLength: 1, maxLength: 20 }),
      },
      { requiredKeys: ['operation'], noNullPrototype: true },
    );
    await fc.assert(
      fc.asyncProperty(asked, async (changes) => {
        const found = await world.gate.propose(sending(changes as Partial<Proposal>)).then(
          async ({ action_id }) => (await world.gate.show(action_id)).content.class,
          ({ code }: { code: string }) => code,
        );
        const at = classes.indexOf(found as (typeof classes)[number]);
        if (at < 0) assert.match(found, /^(class|invalid|secret_value)$/);
        else assert.ok(at >= classes.indexOf(floors[changes.operation]), `${changes.operation} as ${found}`);
      }),
      { numRuns: 500 },
    );
    assert.equal(await codeOf(proposed(world, { class: 'read' })), 'class');
    world.connector.class = 'harmless' as 'read';
    assert.equal(await codeOf(proposed(world, { class: 'costly' })), 'internal', 'no class is no class');
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
      `${BARE}approvals: [{ title: x, approvers: ['*'], quorum: 2 }]\n`,
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
