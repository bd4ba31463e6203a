/**
 * Plain rules as Cedar: what each rule says of the two questions, `launch` and `launch_unattended`. Pure.
 *
 * | rule | launch | launch_unattended |
 * |---|---|---|
 * | allow | permit | permit |
 * | ask | permit | forbid, also where a condition is not known |
 * | deny | forbid | forbid, also where a condition is not known |
 * Beside them stands what holds otherwise: the classes, a person for everything, or nothing. A forbid wins over every
 * permit, so that deny wins over ask and ask over allow, in whatever order the rules stand.
 * Source: spec authority (policy).
 */
import { sha256Hex } from '../core/index.js';
import type { Reservation } from './budget.js';
import { cedarString } from './cedar-text.js';
import { type Condition, conditionsOf, scopeOf } from './conditions.js';
import type { PolicyQuestion } from './question.js';
import type { Policy, PolicyRule } from './rule-schema.js';

/** One Cedar policy: by its id Cedar says what determined a decision. */
export interface CompiledPolicy {
  readonly id: string;
  readonly text: string;
  /** What people call it. */
  readonly name: string;
}

export const LAUNCH = 'Action::"launch"';
export const UNATTENDED = 'Action::"launch_unattended"';

const OTHERWISE: Readonly<Record<'classes' | 'ask' | 'deny', readonly CompiledPolicy[]>> = {
  classes: [
    builtIn('launch', `permit (principal, action in ${LAUNCH}, resource);`),
    builtIn(
      'unattended classes',
      `permit (principal, action in ${UNATTENDED}, resource)\nwhen { context.class == "read" || context.class == "reversible" };`,
    ),
  ],
  ask: [builtIn('launch', `permit (principal, action in ${LAUNCH}, resource);`)],
  deny: [],
};

function builtIn(name: string, text: string): CompiledPolicy {
  return { id: `built-in: ${name}`, name: `built-in: ${name}`, text };
}

/** Every Cedar policy of the plain rules, and of what holds otherwise. */
export function compileRules({ rules = [], otherwise = 'classes' }: Policy): readonly CompiledPolicy[] {
  return [...OTHERWISE[otherwise], ...rules.flatMap(compileRule)];
}

export function ruleName({ title }: PolicyRule): string {
  return `rule: ${title}`;
}

function compileRule(rule: PolicyRule): readonly CompiledPolicy[] {
  const name = ruleName(rule);
  const conditions = conditionsOf(rule).filter(({ isScope }) => isScope !== true);
  const of = (suffix: string, effect: string, question: string | undefined, tests: readonly string[]) => ({
    id: `${name}${suffix}`,
    name,
    text: policyText(rule, effect, question === undefined ? tests : [`action in ${question}`, ...tests]),
  });
  const known = conditions.map((condition) => condition.cedar);
  switch (rule.decide) {
    case 'allow':
      return [of('', 'permit', undefined, conditions.map(certain))];
    case 'ask':
      return [of(' (launch)', 'permit', LAUNCH, known), of('', 'forbid', UNATTENDED, conditions.map(possible))];
    case 'deny':
      return [
        of('', 'forbid', undefined, known),
        ...(conditions.some(({ unknown }) => unknown !== undefined)
          ? [of(' (not known)', 'forbid', UNATTENDED, conditions.map(possible))]
          : []),
      ];
  }
}

/** Holds, and nothing about it is unknown. */
function certain({ cedar, unknown }: Condition): string {
  return unknown === undefined ? cedar : `!(${unknown}) && (${cedar})`;
}

/** Holds, or nothing is known of it. */
function possible({ cedar, unknown }: Condition): string {
  return unknown === undefined ? cedar : `((${cedar}) || ${unknown})`;
}

/** The action group of an operation, so that arguments are read where their types are known. */
function actionScope(rule: PolicyRule): string {
  const [connector, operation] = scopeOf(rule);
  if (connector === undefined) return 'action';
  const group = operation === undefined ? `connector:${connector}` : `operation:${connector}/${operation}`;
  return `action in Action::${cedarString(group)}`;
}

function policyText(rule: PolicyRule, effect: string, tests: readonly string[]): string {
  const head = `@title(${cedarString(rule.title)})\n${effect} (principal, ${actionScope(rule)}, resource)`;
  if (tests.length === 0) return `${head};`;
  return `${head}\nwhen {\n  ${tests.map((test) => `(${test})`).join(' &&\n  ')}\n};`;
}

/** What a launch takes of the bounds of a rule that allows it. */
export function reservationsOf(rule: PolicyRule, question: PolicyQuestion): readonly Reservation[] {
  const { title, limit, budget, over = 'ask' } = rule;
  const common = { rule: title, over } as const;
  const id = (unit: string) => sha256Hex(`${unit}\u0000${title}`).slice(0, 32);
  return [
    ...(limit === undefined
      ? []
      : [{ ...common, id: id('actions'), per: limit.per, amount: 1, max: limit.count, currency: null }]),
    ...(budget === undefined
      ? []
      : [
          {
            ...common,
            id: id(budget.currency),
            per: budget.per,
            // A rule with a budget covers no action without an amount; more than everything, should that ever fail.
            amount: question.amount ?? Number.MAX_SAFE_INTEGER,
            max: budget.amount,
            currency: budget.currency,
          },
        ]),
  ];
}
