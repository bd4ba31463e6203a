/**
 * A test case of policy: an action that could be proposed, and what has to be decided about it. Pure.
 * Test cases stand beside the rules in the file and are no part of the configuration that becomes active.
 * Source: spec authority (policy: test cases).
 */
import * as z from 'zod';
import { type JsonObject, LIMITS, PATTERNS, parseMoney } from '../core/index.js';
import type { PolicyQuestion } from './question.js';

const Money = z
  .string()
  .refine((text) => parseMoney(text) !== undefined, 'money is an amount and a currency, such as `500 EUR`');

export const WrittenRuleTest = z.strictObject({
  title: z.string().min(1).max(256).optional(),
  given: z.strictObject({
    agent: z.string().regex(PATTERNS.principal).default('agent:local'),
    on_behalf_of: z.array(z.string().regex(PATTERNS.principal)).max(LIMITS.onBehalfOfMax).default([]),
    project: z.string().regex(PATTERNS.project).optional(),
    connector: z.string().regex(PATTERNS.project).optional(),
    operation: z.string().regex(PATTERNS.operation).optional(),
    class: z.enum(['read', 'reversible', 'irreversible', 'costly']).optional(),
    target: z.string().min(1).max(LIMITS.targetCharsMax).optional(),
    amount: Money.optional(),
    args: z.record(z.string(), z.json()).default({}),
    facts_unknown: z.boolean().default(false),
  }),
  expect: z.enum(['allow', 'ask', 'deny']),
});
export type RuleTest = z.infer<typeof WrittenRuleTest>;

export const EXPECTED = { ALLOW: 'allow', REQUIRE_APPROVAL: 'ask', DENY: 'deny' } as const;

/** The question of a test case. What it leaves out is what its rule names, where that is one name. */
export function questionOfTest({ given }: RuleTest, match: Readonly<Record<string, unknown>>): PolicyQuestion {
  const named = (field: string, otherwise: string): string => {
    const value = match[field];
    return typeof value === 'string' && !value.includes('*') ? value : otherwise;
  };
  const money = given.amount === undefined ? undefined : parseMoney(given.amount);
  const classes = match['class'] as readonly string[] | undefined;
  return {
    principal: given.agent,
    on_behalf_of: given.on_behalf_of,
    project: given.project ?? named('project', 'any'),
    connector: given.connector ?? named('connector', 'any'),
    operation: given.operation ?? named('operation', 'any'),
    class: given.class ?? classes?.[0] ?? 'irreversible',
    target: given.target ?? named('target', 'any'),
    amount: money?.amount ?? null,
    currency: money?.currency ?? null,
    facts_unknown: given.facts_unknown,
    args: given.args as JsonObject,
  };
}
