/**
 * What policy is asked, what it answers, and what of that is kept in the events of an action. Pure.
 * Source: spec authority (policy).
 */
import type { ZodType } from 'zod';
import { type Details, type JsonObject, Refusal } from '../core/index.js';
import type { Reservation } from './budget.js';
import type { TrustConfig } from './schema.js';

/** The facts that policy judges. */
export type PolicyQuestion = {
  readonly principal: string;
  readonly on_behalf_of: readonly string[];
  readonly project: string;
  readonly connector: string;
  readonly operation: string;
  readonly class: string;
  readonly target: string;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly facts_unknown: boolean;
  readonly args: JsonObject;
};

export interface PolicyAnswer {
  readonly outcome: 'ALLOW' | 'DENY' | 'REQUIRE_APPROVAL';
  /** Why it denies: by a rule, or because it could not be evaluated. */
  readonly code?: 'policy_denied' | 'policy_error';
  /** Names of the rules that determined the outcome. */
  readonly determinedBy: readonly string[];
  /** One sentence that the agent may be told. */
  readonly reason: string;
  /** What the launch has to reserve, where a rule bounds what it allows. */
  readonly reservations?: readonly Reservation[];
}

export interface PolicyEngine {
  /** `args` is the schema of the operation's arguments; without one, no argument is judged. */
  decide(question: PolicyQuestion, config: TrustConfig, args?: ZodType): PolicyAnswer | Promise<PolicyAnswer>;
}

/** A decision as it is kept in the events of an action. */
export type Decision = {
  readonly decision_id: string;
  readonly outcome: PolicyAnswer['outcome'];
  readonly code: string | null;
  readonly determined_by: readonly string[];
  readonly reason: string;
  readonly facts_digest: string;
  /** Absent where no rule bounds what it allows. */
  readonly reservations?: readonly Reservation[];
};

/** What an agent is told of a decision against it: code, rule, reason, and what to do next. */
export function refusalOf(decision: Pick<Decision, 'code' | 'determined_by' | 'reason'>): Refusal {
  const [rule] = decision.determined_by;
  const details: { details?: Details } = rule === undefined ? {} : { details: { rule } };
  if (decision.code === 'policy_error') return new Refusal('policy_error', decision.reason, details);
  const next = 'do not ask again: propose something else, or ask the operator to change the rule';
  return new Refusal('policy_denied', decision.reason, { ...details, next });
}
