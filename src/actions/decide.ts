/**
 * Policy about an action: the stricter of what it says of the class that was asked for, and of the class that the
 * operation itself says. So nobody leaves a rule about a class by raising it.
 * Source: spec actions (class: nothing lowers it), authority (policy).
 */
import type { ActionClass, Operation } from '../connectors/index.js';
import { type Decision, decidePolicy, type PolicyQuestion } from '../policy/index.js';
import type { Services } from './services.js';

const STRICTNESS = ['ALLOW', 'REQUIRE_APPROVAL', 'DENY'] as const;

export interface Decided {
  readonly decision: Decision;
  /** What policy says of the class that the operation itself says. */
  readonly unraised: Decision['outcome'];
}

/** INVARIANT: raising the class of an action never loosens what policy says of it (actions.class.raised). */
export async function decideStrictly(
  services: Services,
  question: PolicyQuestion,
  floor: ActionClass,
  decisionId: string,
  args: Operation['args'],
): Promise<Decided> {
  const { config } = services.trust();
  const ask = (asked: PolicyQuestion) => decidePolicy(services.policy, asked, config, decisionId, services.timer, args);
  const decision = await ask(question);
  if (floor === question.class) return { decision, unraised: decision.outcome };
  const own = await ask({ ...question, class: floor });
  const isStricter = STRICTNESS.indexOf(own.outcome) > STRICTNESS.indexOf(decision.outcome);
  const isAllowed = own.outcome === 'ALLOW' && decision.outcome === 'ALLOW';
  return { decision: isAllowed ? together(own, decision) : isStricter ? own : decision, unraised: own.outcome };
}

/** Allowed both ways: what bounds either of them bounds the action. */
function together(unraised: Decision, decision: Decision): Decision {
  const own = decision.reservations ?? [];
  const more = (unraised.reservations ?? []).filter(({ id }) => !own.some((known) => known.id === id));
  if (more.length === 0) return decision;
  const determined_by = [...new Set([...decision.determined_by, ...unraised.determined_by])];
  return { ...decision, determined_by, reservations: [...own, ...more] };
}
