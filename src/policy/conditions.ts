/**
 * The conditions of a plain rule, each in three forms that say the same: words, Cedar, and a function for explanations.
 * Cedar alone decides. Pure.
 *
 * What is not known never widens: a condition on a target or an amount that the operation does not derive from its
 * arguments, or on an argument that has no type, keeps an allowing rule from covering the action, and lets a rule that
 * asks or denies keep the action from running without a person.
 * Source: spec actions (facts), authority (policy).
 */
import { isPlainTarget, type Json, matchesPattern, matchesWidely, moneyText, parseMoney } from '../core/index.js';
import { cedarExactly, cedarLike, cedarMember, cedarString, cedarWide } from './cedar-text.js';
import type { PolicyQuestion } from './question.js';
import type { ArgCondition, PolicyRule } from './rule-schema.js';

/** The question with its arguments as Cedar gets them. */
export interface Facts extends PolicyQuestion {
  /** Whether some argument could not be put in. */
  readonly args_unknown: boolean;
}

export interface Condition {
  readonly words: string;
  /** Holds in Cedar where it is known to hold, narrowly: for what widens. */
  readonly cedar: string;
  /** The same read widely, for what holds back; absent where there is no difference. */
  readonly wide?: string;
  /** Holds in Cedar where nothing is known of it; absent where it is always known. */
  readonly unknown?: string;
  /** Set where the scope of the policy says it already. */
  readonly isScope?: true;
  holds(facts: Facts): boolean;
}

/** The connector, and the operation of a rule, where they are one name each. */
export function scopeOf({ match }: PolicyRule): readonly string[] {
  const isName = (text: string | undefined): text is string => text !== undefined && !text.includes('*');
  if (!isName(match.connector)) return [];
  return isName(match.operation) ? [match.connector, match.operation] : [match.connector];
}

/** Every condition of a rule. */
export function conditionsOf(rule: PolicyRule): readonly Condition[] {
  const { match, when = {}, budget } = rule;
  const scope = scopeOf(rule);
  // INVARIANT: a `/` in a value takes it out of no rule that asks or denies (policy.rule.wide).
  const matches = rule.decide === 'allow' ? matchesPattern : matchesWidely;
  const plain = (['project', 'connector', 'operation'] as const).flatMap((field) => {
    const pattern = match[field];
    if (pattern === undefined) return [];
    const isScope = (field === 'connector' && scope[0] === pattern) || (field === 'operation' && scope[1] === pattern);
    return [{ ...patternCondition(field, pattern, matches), ...(isScope ? { isScope } : {}) }];
  });
  const { target } = match;
  const classes = match.class;
  const { agent: agents, on_behalf_of: whose } = when;
  return [
    ...plain,
    ...(classes === undefined ? [] : [oneOf('class', 'context.class', classes, (facts) => facts.class)]),
    ...(target === undefined ? [] : [targetCondition(target, matches)]),
    ...(agents === undefined ? [] : [oneOf('agent', 'context.agent', agents, (facts) => facts.principal)]),
    ...(whose === undefined ? [] : [behalfCondition(whose)]),
    ...(when.amount === undefined ? [] : amountConditions(when.amount)),
    ...(budget === undefined ? [] : [currencyCondition(budget.currency)]),
    ...Object.entries(when.args ?? {}).flatMap(([name, condition]) => argConditions(name, condition, matches)),
  ];
}

type Matches = (pattern: string, text: string) => boolean;

function patternCondition(field: 'project' | 'connector' | 'operation', pattern: string, matches: Matches): Condition {
  return {
    words: `${field} is \`${pattern}\``,
    cedar: cedarLike(`context.${field}`, pattern),
    wide: cedarWide(`context.${field}`, pattern),
    holds: (facts) => matches(pattern, facts[field]),
  };
}

function oneOf(name: string, value: string, names: readonly string[], of: (facts: Facts) => string): Condition {
  return {
    words: `${name} is ${names.map((one) => `\`${one}\``).join(' or ')}`,
    cedar: `(${names.map((one) => `${value} like ${cedarExactly(one)}`).join(' || ')})`,
    holds: (facts) => names.includes(of(facts)),
  };
}

function targetCondition(pattern: string, matches: Matches): Condition {
  return {
    words: `target is \`${pattern}\`, and known`,
    cedar: cedarLike('context.target', pattern),
    wide: cedarWide('context.target', pattern),
    unknown: 'context.facts_unknown || !context.target_plain',
    holds: (facts) => isTargetKnown(facts) && matches(pattern, facts.target),
  };
}

export function isTargetKnown({ facts_unknown, target }: PolicyQuestion): boolean {
  return !facts_unknown && isPlainTarget(target);
}

function behalfCondition(whose: string): Condition {
  return {
    words: `on behalf of \`${whose}\``,
    cedar: `context.on_behalf_of.contains(${cedarString(whose)})`,
    holds: (facts) => facts.on_behalf_of.includes(whose),
  };
}

function amountConditions(bounds: NonNullable<NonNullable<PolicyRule['when']>['amount']>): readonly Condition[] {
  const { at_least, at_most } = bounds;
  return [
    ...(at_least === undefined ? [] : [amountCondition('at least', '>=', at_least)]),
    ...(at_most === undefined ? [] : [amountCondition('at most', '<=', at_most)]),
  ];
}

function amountCondition(words: string, operator: '>=' | '<=', text: string): Condition {
  const bound = parseMoney(text) ?? { amount: 0, currency: '' };
  const currency = `context.currency like ${cedarExactly(bound.currency)}`;
  return {
    words: `amount is ${words} ${moneyText(bound)}, and known`,
    cedar: `context has amount && context has currency && ${currency} && context.amount ${operator} ${bound.amount}`,
    // An amount in another currency is not compared, so that nothing is known of it.
    unknown: `context.facts_unknown || (context has currency && !(${currency}))`,
    holds: (facts) => {
      if (facts.facts_unknown || facts.amount === null || facts.currency !== bound.currency) return false;
      return operator === '>=' ? facts.amount >= bound.amount : facts.amount <= bound.amount;
    },
  };
}

/** A budget covers money of its currency alone. */
function currencyCondition(currency: string): Condition {
  return {
    words: `amount is in ${currency}, and known`,
    cedar: `context has amount && context has currency && context.currency like ${cedarExactly(currency)}`,
    unknown: 'context.facts_unknown',
    holds: (facts) => !facts.facts_unknown && facts.amount !== null && facts.currency === currency,
  };
}

function argConditions(name: string, given: ArgCondition, matches: Matches): readonly Condition[] {
  if (Array.isArray(given)) return argConditions(name, { one_of: given }, matches);
  if (typeof given !== 'object') return argConditions(name, { is: given }, matches);
  const path = name.split('.').slice(1);
  const { is, one_of, like, at_least, at_most, holds, given: present } = given;
  const say = (words: string, cedar: (value: string) => string, test: (value: Json) => boolean) =>
    argCondition(path, `${name} ${words}`, cedar, test);
  const { has, value: stands } = accessOf(path);
  return [
    ...(present === undefined ? [] : [presence(path, name, present)]),
    ...(is === undefined
      ? []
      : [
          say(
            `is \`${is}\``,
            (value) => cedarEqual(value, is),
            (value) => value === is,
          ),
        ]),
    ...(one_of === undefined
      ? []
      : [
          say(
            `is ${one_of.map((one) => `\`${one}\``).join(' or ')}`,
            (value) => `(${one_of.map((one) => cedarEqual(value, one)).join(' || ')})`,
            (value) => one_of.includes(value as string),
          ),
        ]),
    ...(like === undefined
      ? []
      : [
          {
            ...say(
              `is like \`${like}\``,
              (value) => cedarLike(value, like),
              (value) => typeof value === 'string' && matches(like, value),
            ),
            wide: `${has} && ${cedarWide(stands, like)}`,
          },
        ]),
    ...(at_least === undefined
      ? []
      : [
          say(
            `is at least ${at_least}`,
            (value) => cedarBound(value, '>=', at_least),
            (v) => Number(v) >= Number(at_least),
          ),
        ]),
    ...(at_most === undefined
      ? []
      : [
          say(
            `is at most ${at_most}`,
            (value) => cedarBound(value, '<=', at_most),
            (v) => Number(v) <= Number(at_most),
          ),
        ]),
    ...(holds === undefined
      ? []
      : [
          say(
            `holds \`${holds}\``,
            (value) => `${value}.contains(${cedarString(holds)})`,
            (value) => Array.isArray(value) && value.includes(holds),
          ),
        ]),
  ];
}

/** Comparisons that are an error for a value of another type: `==` would only be false, and a denying rule silent. */
function cedarEqual(value: string, wanted: string | number | boolean): string {
  if (typeof wanted === 'string') return `${value} like ${cedarExactly(wanted)}`;
  if (typeof wanted === 'boolean') return `(if ${value} then ${wanted} else ${!wanted})`;
  return `(${value} <= ${wanted} && ${value} >= ${wanted})`;
}

function cedarBound(value: string, operator: '>=' | '<=', bound: number | string): string {
  if (typeof bound === 'number') return `${value} ${operator} ${bound}`;
  const method = operator === '>=' ? 'greaterThanOrEqual' : 'lessThanOrEqual';
  return `${value}.${method}(decimal("${bound}"))`;
}

/** `context.args has a && context.args.a has b`, and the value itself. */
function accessOf(path: readonly string[]): { readonly has: string; readonly value: string } {
  const tests: string[] = [];
  let value = 'context.args';
  for (const name of path) {
    tests.push(`${value} has ${cedarString(name)}`);
    value += cedarMember(name);
  }
  return { has: tests.join(' && '), value };
}

function valueAt(facts: Facts, path: readonly string[]): Json | undefined {
  let value: Json | undefined = facts.args;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return;
    value = (value as Readonly<Record<string, Json>>)[name];
  }
  return value;
}

function argCondition(
  path: readonly string[],
  words: string,
  cedar: (value: string) => string,
  test: (value: Json) => boolean,
): Condition {
  const { has, value } = accessOf(path);
  return {
    words,
    cedar: `${has} && ${cedar(value)}`,
    unknown: `context.args_unknown && !(${has})`,
    holds: (facts) => {
      const found = valueAt(facts, path);
      return found !== undefined && test(found);
    },
  };
}

function presence(path: readonly string[], name: string, present: boolean): Condition {
  const { has } = accessOf(path);
  return {
    words: `${name} is ${present ? 'given' : 'not given'}`,
    cedar: present ? has : `!context.args_unknown && !(${has})`,
    unknown: `context.args_unknown && !(${has})`,
    holds: (facts) => (valueAt(facts, path) !== undefined) === present && (present || !facts.args_unknown),
  };
}
