/** Cedar decides, and the words of an explanation say the same: every condition in both forms, over many actions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as z from 'zod';
import { asking, engine } from '../../test/support/policy-world.js';
import { verifies } from '../../test/support/verifies.js';
import { conditionsOf } from './conditions.js';
import { TrustConfig } from './index.js';
import type { PolicyRule } from './rule-schema.js';

const ARGS = z.strictObject({
  text: z.string().optional(),
  count: z.int().optional(),
  flag: z.boolean().optional(),
  list: z.array(z.string()).optional(),
  deep: z.strictObject({ er: z.string().optional() }).optional(),
});

const word = fc.constantFrom('a', 'ab', 'a/b', 'a/b/c', 'a*b', 'é', '"', '\\', '\u0001', 'A', '');
const name = fc.constantFrom('a', 'a/b');
const pattern = fc.constantFrom('a', 'a*', '*', '*/*', 'a/*', '*b', 'a*b', '*/b/*', 'x', '"*', '\\*');
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const rule = fc.record(
  {
    match: fc.record(
      { project: pattern, connector: pattern, operation: pattern, target: pattern },
      { requiredKeys: [] },
    ),
    when: fc.record(
      {
        agent: fc.constantFrom(['agent:bot'], ['agent:a', 'engine:gate']),
        on_behalf_of: fc.constant('human:alice'),
        amount: fc.constantFrom(
          { at_most: '1 EUR' },
          { at_least: '2 USD' },
          { at_least: '0.50 EUR', at_most: '1 EUR' },
        ),
        args: fc.constantFrom<PolicyRule['when']>(
          { args: { 'args.text': 'a' } },
          { args: { 'args.text': { like: 'a*' } } },
          { args: { 'args.text': ['a*b', '"', '\\'] } },
          { args: { 'args.count': { at_least: 1, at_most: 3 } } },
          { args: { 'args.count': 2 } },
          { args: { 'args.flag': false } },
          { args: { 'args.list': { holds: 'a' } } },
          { args: { 'args.deep.er': { given: true } } },
          { args: { 'args.deep': { given: false } } },
        ),
      },
      { requiredKeys: [] },
    ),
    budget: fc.constant({ amount: 1_000, currency: 'EUR', per: 'day' }),
  },
  { requiredKeys: ['match'] },
);

const question = fc.record({
  project: name,
  connector: name,
  operation: name,
  target: fc.oneof(
    name,
    word.filter((text) => text !== ''),
  ),
  amount: fc.constantFrom(null, 49, 50, 100, 101, 200),
  principal: fc.constantFrom('agent:bot', 'engine:gate', 'human:alice'),
  on_behalf_of: fc.constantFrom<string[]>([], ['human:alice'], ['human:bob', 'human:alice']),
  facts_unknown: fc.boolean(),
  args: fc
    .record({
      text: optional(word),
      count: optional(fc.integer({ min: 0, max: 4 })),
      flag: optional(fc.boolean()),
      list: optional(fc.array(word, { maxLength: 3 })),
      deep: optional(fc.constantFrom({}, { er: 'x' })),
    })
    .map((args) => Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined))),
});

test('an allowing rule covers exactly what its conditions say in words', () => {
  verifies('policy.rules.exact');
  const cedar = engine();
  const base = { version: 1, name: 'test', mode: 'enforce' };
  fc.assert(
    fc.property(rule, fc.array(question, { minLength: 5, maxLength: 20 }), ({ match, when, ...bound }, questions) => {
      const { args, ...others } = (when ?? {}) as { args?: { args: object } };
      const written = { title: 'it', decide: 'allow', match, when: { ...others, ...args }, ...bound };
      const policy = { allow_unattended_irreversible: true, otherwise: 'ask', rules: [written] };
      const config = TrustConfig.parse({ ...base, policy });
      const [parsed] = config.policy.rules ?? [];
      assert.ok(parsed !== undefined);
      const conditions = conditionsOf(parsed);
      for (const changes of questions) {
        const asked = asking({ ...changes, currency: changes.amount === null ? null : 'EUR' } as never);
        const expected = conditions.every((one) => one.holds({ ...asked, args_unknown: false }));
        const answer = cedar.decide(asked, config, ARGS);
        assert.notEqual(answer.code, 'policy_error', answer.reason);
        assert.equal(answer.outcome === 'ALLOW', expected, JSON.stringify([written, asked]));
      }
    }),
    { numRuns: 60 },
  );
});
