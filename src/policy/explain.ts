/**
 * Why a decision is as it is, in words: for each plain rule the conditions that do not hold, and of the rules that
 * allow
 * the one that is nearest. It explains and decides nothing. Pure.
 * Source: spec authority (policy: `policy explain`).
 */
import { ruleName } from './compile.js';
import { conditionsOf } from './conditions.js';
import { encodeArgs } from './encode.js';
import type { PolicyQuestion } from './question.js';
import type { Policy } from './rule-schema.js';
import type { RecordShape } from './shape.js';

export interface ExplainedRule {
  readonly rule: string;
  readonly decide: 'allow' | 'ask' | 'deny';
  readonly owner: string | null;
  /** The conditions that do not hold; none for a rule that covers the action. */
  readonly failing: readonly string[];
}

/** Every plain rule about an action, in their order. */
export function explainRules(
  { rules = [] }: Policy,
  question: PolicyQuestion,
  shape: RecordShape,
): readonly ExplainedRule[] {
  const args_unknown = encodeArgs(shape, question.args)?.isPartial ?? true;
  const facts = { ...question, args_unknown };
  return rules.map((rule) => ({
    rule: ruleName(rule),
    decide: rule.decide,
    owner: rule.owner ?? null,
    failing: conditionsOf(rule)
      .filter((condition) => !condition.holds(facts))
      .map(({ words }) => words),
  }));
}

/** The allowing rule that fewest conditions keep from covering the action; undefined where none allows. */
export function nearestRule(explained: readonly ExplainedRule[]): ExplainedRule | undefined {
  const allowing = explained.filter(({ decide, failing }) => decide === 'allow' && failing.length > 0);
  return allowing.reduce<ExplainedRule | undefined>(
    (best, one) => (best === undefined || one.failing.length < best.failing.length ? one : best),
    undefined,
  );
}
