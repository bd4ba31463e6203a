/**
 * May this be launched at all, and without a person? The built-in class rule, and an engine that asks Cedar where the
 * configuration has rules or Cedar files. An engine that throws, or answers nothing in time, has denied: nothing is
 * ever allowed by a failure.
 * Source: spec authority (policy).
 */
import type { ZodType } from 'zod';
import { beforeRing, digest, isWellFormed, type Json, LIMITS, type Timer } from '../core/index.js';
import type { Decision, PolicyAnswer, PolicyEngine, PolicyQuestion } from './question.js';
import type { TrustConfig } from './schema.js';

const UNATTENDED: ReadonlySet<string> = new Set(['read', 'reversible']);

/** Launch for all; unattended for read and reversible alone, unless the configuration allows more. */
export const classRule: PolicyEngine = {
  decide(question, config): PolicyAnswer {
    if (UNATTENDED.has(question.class)) {
      const reason = `class ${question.class} may run without a person`;
      return { outcome: 'ALLOW', determinedBy: ['built-in: unattended classes'], reason };
    }
    if (config.policy.allow_unattended_irreversible) {
      const reason = 'the configuration allows every class without a person';
      return { outcome: 'ALLOW', determinedBy: ['policy.allow_unattended_irreversible'], reason };
    }
    const reason = `class ${question.class} needs a person`;
    return { outcome: 'REQUIRE_APPROVAL', determinedBy: ['built-in: unattended classes'], reason };
  },
};

/** Whether `launch_unattended` is asked at all. */
export function mayRunUnattended(question: PolicyQuestion, config: TrustConfig): boolean {
  return UNATTENDED.has(question.class) || config.policy.allow_unattended_irreversible;
}

/** Asks an engine, and makes of any failure a DENY with `policy_error`. */
export async function decidePolicy(
  engine: PolicyEngine,
  question: PolicyQuestion,
  config: TrustConfig,
  decisionId: string,
  timer: (ms: number) => Timer,
  args?: ZodType,
): Promise<Decision> {
  const facts_digest = digest('countersign-facts/1', question as unknown as Json);
  const answer = await answerInTime(() => engine.decide(question, config, args), timer);
  const { outcome, determinedBy, reason, reservations } = answer;
  const code = outcome === 'DENY' ? (answer.code ?? 'policy_denied') : null;
  const bounds = outcome !== 'ALLOW' || reservations === undefined ? {} : { reservations };
  return { decision_id: decisionId, outcome, code, determined_by: determinedBy, reason, facts_digest, ...bounds };
}

/** An engine's answer in its plain form; undefined for anything that is none. */
function answerIn(given: PolicyAnswer | undefined): PolicyAnswer | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { outcome, code, determinedBy, reason, reservations } = given;
  if (outcome !== 'ALLOW' && outcome !== 'DENY' && outcome !== 'REQUIRE_APPROVAL') return undefined;
  if (typeof reason !== 'string' || !isWellFormed(reason)) return undefined;
  const named = Array.isArray(determinedBy) && determinedBy.every((rule) => typeof rule === 'string');
  if (!named || !determinedBy.every(isWellFormed)) return undefined;
  if (reservations !== undefined && !reservations.every(({ amount, max }) => isCount(amount) && isCount(max))) return;
  const bounds = reservations === undefined || reservations.length === 0 ? {} : { reservations: [...reservations] };
  return {
    outcome,
    determinedBy: [...determinedBy],
    reason,
    ...(code === 'policy_error' ? { code } : {}),
    ...bounds,
  };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

export function policyError(reason: string, determinedBy: readonly string[] = []): PolicyAnswer {
  return { outcome: 'DENY', code: 'policy_error', determinedBy, reason };
}

async function answerInTime(
  ask: () => PolicyAnswer | Promise<PolicyAnswer>,
  timer: (ms: number) => Timer,
): Promise<PolicyAnswer> {
  const none = () => policyError('policy gave no answer');
  try {
    const asked = ask();
    if (!isPromise(asked)) return answerIn(asked) ?? none();
    const came = await beforeRing(timer(LIMITS.policyMsMax), asked);
    return came === undefined ? policyError('policy took too long to answer') : (answerIn(came.answer) ?? none());
  } catch {
    return policyError('policy could not be evaluated');
  }
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}
