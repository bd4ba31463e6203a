/**
 * A decision explained in full: the rule with its file and line, the facts that were judged, and, where it was not
 * allowed, the rule that came nearest with what kept it from covering the action.
 * Source: spec authority (policy explain).
 */
import { findOperation, loadAction, questionOf } from '../actions/index.js';
import { Refusal } from '../core/index.js';
import {
  type Decision,
  type ExplainedRule,
  explainRules,
  nearestRule,
  type PolicyQuestion,
  policyVersion,
  shapeOf,
} from '../policy/index.js';
import { type Explained, explainDecision } from './explain.js';
import type { CountersignGate } from './open.js';
import { placeOf } from './policy-file.js';
import { readTrustText } from './trust-file.js';

export interface FullExplanation extends Explained {
  /**
   * Where the rules stand that determined it: file and line; null where no file says the same as the active
   * version.
   */
  readonly places: Readonly<Record<string, string | null>>;
  readonly facts: PolicyQuestion;
  /** The plain rules of the active version that cover the action. */
  readonly covering: readonly ExplainedRule[];
  /** The allowing rule that came nearest, where it was not allowed. */
  readonly nearest: (ExplainedRule & { readonly place: string | null }) | null;
}

/** The decisions of an action or one decision by its id, each explained. Refuses `unknown_action`, `not_found`. */
export async function explainInFull(gate: CountersignGate, id: string): Promise<readonly FullExplanation[]> {
  const found = await explainDecision(gate, id);
  return Promise.all(
    found.map(async (explained) => {
      const { content, args } = await loadAction(gate.services, explained.action_id);
      const question = questionOf(content, content.flags.includes('facts_unknown'), args);
      return { ...explained, ...(await explainQuestion(gate, question, explained.decision)) };
    }),
  );
}

/** A decision about a question, explained by the active configuration. */
export async function explainQuestion(gate: CountersignGate, facts: PolicyQuestion, decision: Decision) {
  const { services } = gate;
  const { config, version } = services.trust();
  const operation = await findOperation(services, facts.connector, facts.operation).catch(() => undefined);
  const explained = explainRules(config.policy, facts, shapeOf(operation?.args));
  const nearest = decision.outcome === 'ALLOW' ? undefined : nearestRule(explained);
  const place = await placesIn(gate, version);
  const places = Object.fromEntries(decision.determined_by.map((name) => [name, place(name)]));
  const covering = explained.filter(({ failing }) => failing.length === 0);
  return {
    places,
    facts,
    covering,
    nearest: nearest === undefined ? null : { ...nearest, place: place(nearest.rule) },
  };
}

/** Where a rule of the active version stands in the file of the home, as long as the file says the same. */
async function placesIn(gate: CountersignGate, version: string): Promise<(name: string) => string | null> {
  try {
    const text = await readTrustText(gate.home.trustFile);
    if (policyVersion(text.config) !== version) return () => null;
    return (name) => {
      const place = placeOf(text, name);
      return place === undefined ? null : place.includes(':') ? place : `${gate.home.trustFile}:${place}`;
    };
  } catch (error) {
    if (error instanceof Refusal) return () => null;
    throw error;
  }
}
