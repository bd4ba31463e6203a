/**
 * May this be launched at all, and without a person? One interface, which the built-in class rule fills.
 * An engine that throws, or answers nothing in time, has denied: nothing is ever allowed by a failure.
 * Source: spec authority (policy).
 */
import { beforeRing, digest, isWellFormed, type Json, type JsonObject, type Timer } from '../core/index.js';
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
}

export interface PolicyEngine {
  decide(question: PolicyQuestion, config: TrustConfig): PolicyAnswer | Promise<PolicyAnswer>;
}

/** A decision as it is kept in the events of an action. */
export type Decision = {
  readonly decision_id: string;
  readonly outcome: PolicyAnswer['outcome'];
  readonly code: string | null;
  readonly determined_by: readonly string[];
  readonly reason: string;
  readonly facts_digest: string;
};

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

const ENGINE_MS_MAX = 1_000;

/** Asks an engine, and makes of any failure a DENY with `policy_error`. */
export async function decidePolicy(
  engine: PolicyEngine,
  question: PolicyQuestion,
  config: TrustConfig,
  decisionId: string,
  timer: (ms: number) => Timer,
): Promise<Decision> {
  const facts_digest = digest('countersign-facts/1', question as unknown as Json);
  const answer = await answerInTime(engine, question, config, timer);
  const { outcome, determinedBy, reason } = answer;
  const code = outcome === 'DENY' ? (answer.code ?? 'policy_denied') : null;
  return { decision_id: decisionId, outcome, code, determined_by: determinedBy, reason, facts_digest };
}

/** An engine's answer in its plain form; undefined for anything that is none. */
function answerIn(given: PolicyAnswer | undefined): PolicyAnswer | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { outcome, code, determinedBy, reason } = given;
  if (outcome !== 'ALLOW' && outcome !== 'DENY' && outcome !== 'REQUIRE_APPROVAL') return undefined;
  if (typeof reason !== 'string' || !isWellFormed(reason)) return undefined;
  const named = Array.isArray(determinedBy) && determinedBy.every((rule) => typeof rule === 'string');
  if (!named || !determinedBy.every(isWellFormed)) return undefined;
  return { outcome, determinedBy: [...determinedBy], reason, ...(code === 'policy_error' ? { code } : {}) };
}

async function answerInTime(
  engine: PolicyEngine,
  question: PolicyQuestion,
  config: TrustConfig,
  timer: (ms: number) => Timer,
): Promise<PolicyAnswer> {
  const failed = (reason: string): PolicyAnswer => ({
    outcome: 'DENY',
    code: 'policy_error',
    determinedBy: [],
    reason,
  });
  const none = () => failed('policy gave no answer');
  try {
    const asked = engine.decide(question, config);
    if (!isPromise(asked)) return answerIn(asked) ?? none();
    const came = await beforeRing(timer(ENGINE_MS_MAX), asked);
    return came === undefined ? failed('policy took too long to answer') : (answerIn(came.answer) ?? none());
  } catch {
    return failed('policy could not be evaluated');
  }
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}
