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
  /** The one group of actions that it can apply to; absent where that may be any. */
  readonly scope?: string;
}

export const LAUNCH = 'Action::"launch"';
export const UNATTENDED = 'Action::"launch_unattended"';

const OTHERWISE: Readonly<Record<'classes' | 'ask' | 'deny', readonly CompiledPolicy[]>> = {
  classes: [
    builtIn('launch', `permit (principal, action in ${LAUNCH}, resource);`),
    builtIn(
      'unattended classes',
      `permit (principal, action in ${UNATTENDED}, resource)\n` +
        'when { context.class == "read" || context.class == "reversible" };',
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
  const scope = groupOf(rule);
  const conditions = conditionsOf(rule).filter(({ isScope }) => isScope !== true);
  const of = (suffix: string, effect: string, question: string | undefined, tests: readonly string[]) => ({
    id: `${name}${suffix}`,
    name,
    ...(scope === undefined ? {} : { scope }),
    text: policyText(rule, effect, question === undefined ? tests : [`action in ${question}`, ...tests]),
  });
  const known = conditions.map((condition) => condition.cedar);
  const held = conditions.map(({ cedar, wide = cedar }) => wide);
  switch (rule.decide) {
    case 'allow':
      return [of('', 'permit', undefined, conditions.map(certain))];
    case 'ask':
      return [of(' (launch)', 'permit', LAUNCH, known), of('', 'forbid', UNATTENDED, conditions.map(possible))];
    case 'deny':
      return [
        of('', 'forbid', undefined, held),
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

/** Holds, read widely, or nothing is known of it. */
function possible({ cedar, wide = cedar, unknown }: Condition): string {
  return unknown === undefined ? wide : `((${wide}) || ${unknown})`;
}

/** The action group of an operation, so that arguments are read where their types are known. */
function actionScope(rule: PolicyRule): string {
  const group = groupOf(rule);
  return group === undefined ? 'action' : `action in Action::${cedarString(group)}`;
}

function groupOf(rule: PolicyRule): string | undefined {
  const [connector, operation] = scopeOf(rule);
  if (connector === undefined) return undefined;
  return operation === undefined ? `connector:${connector}` : `operation:${connector}/${operation}`;
}

function policyText(rule: PolicyRule, effect: string, tests: readonly string[]): string {
  const head = `@title(${cedarString(rule.title)})\n${effect} (principal, ${actionScope(rule)}, resource)`;
  if (tests.length === 0) return `${head};`;
  return `${head}\nwhen {\n  ${tests.map((test) => `(${test})`).join(' &&\n  ')}\n};`;
}

type Bound = Omit<Reservation, 'amount'>;

/** The bounds of a rule, which are the same for every action: made when one is first taken. */
const BOUNDS = new WeakMap<PolicyRule, readonly Bound[]>();

function boundsOf(rule: PolicyRule): readonly Bound[] {
  const { title, limit, budget, over = 'ask' } = rule;
  const id = (unit: string) => sha256Hex(`${unit}\u0000${title}`).slice(0, 32);
  const bounds: Bound[] = [];
  if (limit !== undefined) {
    bounds.push({ rule: title, id: id('actions'), per: limit.per, max: limit.count, currency: null, over });
  }
  if (budget !== undefined) {
    const { amount, currency, per } = budget;
    bounds.push({ rule: title, id: id(currency), per, max: amount, currency, over });
  }
  BOUNDS.set(rule, bounds);
  return bounds;
}

/** What a launch takes of the bounds of a rule that allows it. */
export function reservationsOf(rule: PolicyRule, question: PolicyQuestion): readonly Reservation[] {
  // A rule with a budget covers no action without an amount; more than everything, should that ever fail.
  const money = question.amount ?? Number.MAX_SAFE_INTEGER;
  const bounds = BOUNDS.get(rule) ?? boundsOf(rule);
  return bounds.map((bound) => ({ ...bound, amount: bound.currency === null ? 1 : money }));
}
