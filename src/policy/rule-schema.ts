/**
 * A plain rule of policy as a person writes it, and as the ledger holds it: durations, money and names in one form, the
 * test cases left behind. Pure.
 *
 * It refuses what would silently mean nothing: an unknown key, a rule that allows what no rule may allow, a bound on a
 * rule that does not allow, two rules of one title.
 * Source: spec authority (policy).
 */
import * as z from 'zod';
import { ACTION_CLASSES, defectIn, isWellFormed, LIMITS, PATTERNS, parseMoney } from '../core/index.js';
import { WrittenRuleTest } from './test-case.js';

/** `*` stands for any characters but `/`; a pattern without one is an exact name. */
const Pattern = z
  .string()
  .min(1)
  .max(LIMITS.targetCharsMax)
  .refine((text) => isWellFormed(text) && !/\p{Cc}/u.test(text), 'a pattern is plain text');

const Name = z
  .string()
  .min(1)
  .max(256)
  .refine((text) => isWellFormed(text) && !/\p{Cc}/u.test(text), 'a title is one line of plain text');

const storedMatch = {
  project: Pattern.optional(),
  connector: Pattern.optional(),
  operation: Pattern.optional(),
  target: Pattern.optional(),
  class: z.array(z.enum(ACTION_CLASSES)).min(1).max(ACTION_CLASSES.length).optional(),
};

const StoredMatch = z.strictObject(storedMatch);
export type RuleMatch = z.infer<typeof StoredMatch>;

/** `server` and `tool` are other words for the operation of the connector `mcp`. */
const WrittenMatch = z
  .strictObject({ ...storedMatch, server: Pattern.optional(), tool: Pattern.optional() })
  .refine(({ server, tool, connector, operation }) => {
    const plain = connector !== undefined || operation !== undefined;
    return (server === undefined && tool === undefined) || !plain;
  }, '`server` and `tool` stand instead of `connector` and `operation`')
  .transform(({ server, tool, ...match }): RuleMatch => {
    if (server === undefined && tool === undefined) return match;
    return { ...match, connector: 'mcp', operation: `${server ?? '*'}/${tool ?? '*'}` };
  });

const MONEY_WORDS = 'money is an amount and a currency, such as `500 EUR`';
const Money = z.string(MONEY_WORDS).refine((text) => parseMoney(text) !== undefined, MONEY_WORDS);

const Text = z.string().max(LIMITS.targetCharsMax).refine(isWellFormed, 'not well-formed text');
const Whole = z.int();
/** A number with decimals, in quotes: it is compared as a Cedar decimal. */
const DECIMAL = /^-?(0|[1-9][0-9]{0,13})\.[0-9]{1,4}$/;
const Bound = z.union([Whole, z.string().regex(DECIMAL, 'a bound is a whole number, or a decimal in quotes')]);

/** What an argument has to be. A bare value is the same as `is`. */
const ArgCondition = z.union([
  Text,
  Whole,
  z.boolean(),
  z.array(Text).min(1).max(LIMITS.ruleChoicesMax),
  z
    .strictObject({
      is: z.union([Text, Whole, z.boolean()]).optional(),
      one_of: z.array(Text).min(1).max(LIMITS.ruleChoicesMax).optional(),
      like: Pattern.optional(),
      at_least: Bound.optional(),
      at_most: Bound.optional(),
      /** For a list: that it holds this text. */
      holds: Text.optional(),
      given: z.boolean().optional(),
    })
    .refine((given) => Object.keys(given).length > 0, 'a condition says something'),
]);
export type ArgCondition = z.infer<typeof ArgCondition>;

const AgentName = z.string().regex(PATTERNS.principal, 'a principal is named such as `agent:bot`');
const ArgName = z.string().regex(/^args(\.[A-Za-z0-9_$-]{1,128}){1,8}$/, 'an argument is named `args.NAME`');

/** The same without what is undefined, which has no canonical form. */
function present(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

const conditions = z
  .record(z.string(), z.unknown())
  .refine((given) => Object.keys(given).length <= LIMITS.ruleConditionsMax, 'too many conditions')
  .transform((given, context) => {
    const { agent, on_behalf_of, amount, ...args } = given;
    const hasArgs = Object.keys(args).length > 0;
    const condition = present({ agent, on_behalf_of, amount, args: hasArgs ? args : undefined });
    const parsed = z
      .strictObject({
        agent: z.union([AgentName.transform((one) => [one]), z.array(AgentName).min(1).max(64)]).optional(),
        on_behalf_of: AgentName.optional(),
        amount: z.strictObject({ at_least: Money.optional(), at_most: Money.optional() }).optional(),
        args: z.record(ArgName, ArgCondition).optional(),
      })
      .safeParse(condition);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const path = issue?.path[0] === 'args' ? issue.path.slice(1) : (issue?.path ?? []);
    const { words, what } = defectIn(parsed.error.issues, condition, { ownWords: true });
    const message = issue?.code === 'invalid_key' ? 'a condition is on agent, amount, args.…' : (words ?? `it ${what}`);
    context.addIssue({ code: 'custom', path: [...path], message });
    return z.NEVER;
  });

const StoredConditions = z.strictObject({
  agent: z.array(AgentName).optional(),
  on_behalf_of: AgentName.optional(),
  amount: z.strictObject({ at_least: Money.optional(), at_most: Money.optional() }).optional(),
  args: z.record(ArgName, ArgCondition).optional(),
});
export type RuleConditions = z.infer<typeof StoredConditions>;

export const PERIODS = ['hour', 'day', 'month'] as const;
export type Period = (typeof PERIODS)[number];
const PERIOD_WORDS: Readonly<Record<string, Period>> = {
  h: 'hour',
  d: 'day',
  hour: 'hour',
  day: 'day',
  month: 'month',
};

const StoredLimit = z.strictObject({ count: z.int().min(1).max(LIMITS.ruleCountMax), per: z.enum(PERIODS) });
const StoredBudget = z.strictObject({
  amount: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  currency: z.string().regex(PATTERNS.currency),
  per: z.enum(PERIODS),
});

const LIMIT_WORDS = 'a limit is a count and hour, day or month, such as `20/h`';
const BUDGET_WORDS = 'a budget is money and hour, day or month, such as `500 EUR/day`';

const WrittenLimit = z
  .string(LIMIT_WORDS)
  .regex(/^[1-9][0-9]{0,8}\/(h|d|hour|day|month)$/, LIMIT_WORDS)
  .transform((text) => {
    const [count = '', per = ''] = text.split('/');
    return { count: Number(count), per: PERIOD_WORDS[per] ?? 'hour' };
  })
  .refine(({ count }) => count <= LIMITS.ruleCountMax, 'too high a limit');

const WrittenBudget = z.string(BUDGET_WORDS).transform((text, context) => {
  const [, money = '', per = ''] = /^(.*)\/(h|d|hour|day|month)$/.exec(text) ?? [];
  const parsed = parseMoney(money);
  if (parsed !== undefined && parsed.amount > 0) return { ...parsed, per: PERIOD_WORDS[per] ?? 'day' };
  context.addIssue({ code: 'custom', message: BUDGET_WORDS });
  return z.NEVER;
});

const storedFields = {
  title: Name,
  decide: z.enum(['allow', 'ask', 'deny']),
  match: StoredMatch,
  when: StoredConditions.optional(),
  owner: z.string().regex(PATTERNS.human).optional(),
  limit: StoredLimit.optional(),
  budget: StoredBudget.optional(),
  /** What is decided once a bound is reached. */
  over: z.enum(['ask', 'deny']).optional(),
};

const StoredRule = z.strictObject(storedFields);
export type PolicyRule = z.infer<typeof StoredRule>;

const WrittenRule = z
  .strictObject({
    ...storedFields,
    match: WrittenMatch.prefault({}),
    when: conditions.optional(),
    limit: WrittenLimit.optional(),
    budget: WrittenBudget.optional(),
    tests: z.array(WrittenRuleTest).max(LIMITS.ruleTestsMax).optional(),
  })
  .transform(({ tests: _, ...rule }) => rule)
  .superRefine((rule, context) => {
    const bounded = rule.limit !== undefined || rule.budget !== undefined;
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (bounded && rule.decide !== 'allow') refuse('decide', 'only a rule that allows has a limit or a budget');
    if (rule.over !== undefined && !bounded) refuse('over', '`over` needs a limit or a budget');
  });

const CedarName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.cedar$/, 'a Cedar file is named `NAME.cedar`, in the home of the gate');
const StoredCedar = z.strictObject({ name: CedarName, text: z.string().max(LIMITS.cedarBytesMax) });

/** What holds where no rule says otherwise: the classes, a person for everything, or nothing at all. */
const Otherwise = z.enum(['classes', 'ask', 'deny']);

const policyFields = { allow_unattended_irreversible: z.boolean().default(false), otherwise: Otherwise.optional() };

/** Policy as the ledger holds it. Without rules and files the class rule stands alone. */
export const StoredPolicy = z.strictObject({
  ...policyFields,
  rules: z.array(StoredRule).max(LIMITS.policyRulesMax).optional(),
  cedar: z.array(StoredCedar).max(LIMITS.cedarFilesMax).optional(),
});
export type Policy = z.infer<typeof StoredPolicy>;

/** Policy as a person writes it: Cedar files by their names, which whoever reads the file puts the texts to. */
export const WrittenPolicy = z
  .strictObject({
    ...policyFields,
    rules: z.array(WrittenRule).max(LIMITS.policyRulesMax).optional(),
    cedar: z.array(CedarName).max(LIMITS.cedarFilesMax).optional(),
    tests: z.array(WrittenRuleTest).max(LIMITS.policyRulesMax).optional(),
  })
  .transform(({ tests: _, ...policy }) => policy)
  .superRefine(({ rules = [], allow_unattended_irreversible }, context) => {
    const titles = new Set<string>();
    for (const [at, { title, decide, match }] of rules.entries()) {
      if (titles.has(title)) {
        context.addIssue({ code: 'custom', path: ['rules', at, 'title'], message: 'two rules have this title' });
      }
      titles.add(title);
      const beyond = match.class?.every((name) => name === 'irreversible' || name === 'costly') === true;
      if (decide === 'allow' && beyond && !allow_unattended_irreversible) {
        const message = 'these classes run without a person only with `allow_unattended_irreversible: true`';
        context.addIssue({ code: 'custom', path: ['rules', at, 'match', 'class'], message });
      }
    }
  });
