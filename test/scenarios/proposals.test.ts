/** A proposal is a closed form: what it says of itself opens nothing, and what is not plain is refused before policy is asked. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Proposal } from '../../src/actions/index.js';
import { LIMITS } from '../../src/core/index.js';
import { classRule, type PolicyEngine } from '../../src/policy/index.js';
import { codeOf, memoryWorld, proposed, sending } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

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

  it('that is refused for its form is told which field, and what is wrong with it', async () => {
    verifies('actions.propose.told');
    const world = await memoryWorld();
    const cases: readonly (readonly [object, string, string])[] = [
      [{ args: { text: 1 } }, '`args.text` is no text', 'args.text'],
      [{ args: { text: 'x', acount: 'y' } }, '`args`: unknown key `acount`', 'args'],
      [{ approve_within_ms: 0 }, '`approve_within_ms` is below 1', 'approve_within_ms'],
      [{ project: undefined }, '`project` is missing', 'project'],
      [{ approved: true }, '`proposal`: unknown key `approved`', ''],
    ];
    for (const [changes, message, path] of cases) {
      const given = { ...sending(), ...changes } as Proposal;
      await assert.rejects(world.gate.propose(given), { code: 'invalid', message, path });
    }
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
