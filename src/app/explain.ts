/**
 * Why policy said what it said: for an action (at its proposal and at each launch), or for a decision by its id.
 */
import {
  type ActionState,
  actionKind,
  type Caller,
  explainProposal,
  type Proposal,
  type Services,
} from '../actions/index.js';
import { LIMITS, PATTERNS, type Principal, Refusal } from '../core/index.js';
import type { Decision } from '../policy/index.js';
import { atBorder } from './border.js';
import type { Gate } from './gate.js';

export interface Explained {
  readonly at: 'proposal' | 'launch';
  readonly action_id: string;
  readonly decision: Decision;
}

/** Decisions of the newest actions are found by their own id: this many are looked through. */
const SEARCHED_MAX = 10_000;

/** Refuses `unknown_action` for an id of neither kind. */
export function explainDecision(gate: Gate, id: string): Promise<readonly Explained[]> {
  return atBorder(gate.services.log, { id }, (asked) => decisionsNamed(gate, asked.id));
}

async function decisionsNamed(gate: Gate, id: string): Promise<readonly Explained[]> {
  if (id.startsWith('act_')) return decisionsOf(await gate.show(id));
  const same = await gate.ledger.read(actionKind, `act_${id.slice('dec_'.length)}`);
  const found = same === undefined ? [] : decisionsOf(same.state).filter((one) => one.decision.decision_id === id);
  if (found.length > 0) return found;
  let seen = 0;
  for (let after: string | undefined; seen < SEARCHED_MAX; seen += LIMITS.pageRowsMax) {
    const page = await gate.list(after === undefined ? {} : { after });
    for (const row of page.rows) {
      const known = decisionsOf(await gate.show(row.id)).filter((one) => one.decision.decision_id === id);
      if (known.length > 0) return known;
    }
    if (page.next === undefined) break;
    after = page.next;
  }
  throw new Refusal('not_found', 'there is no such decision among the newest actions');
}

function decisionsOf(state: ActionState): readonly Explained[] {
  const { action_id } = state.content;
  const launches = state.attempts.map(({ decision }) => ({ at: 'launch', action_id, decision }) as const);
  return [{ at: 'proposal', action_id, decision: state.decision }, ...launches];
}

/** What would be decided about a proposal of the caller, or, for a person who is signed in, of the agent `as`. */
export async function explainFor(services: Services, caller: Caller, proposal: Proposal, as: string | undefined) {
  if (as === undefined) return explainProposal(services, caller, proposal);
  if (caller.session !== true) throw new Refusal('forbidden', 'an agent asks for itself');
  if (!PATTERNS.agent.test(as)) throw new Refusal('invalid', 'an agent is named `agent:NAME`', { path: 'as' });
  return explainProposal(services, { principal: as as Principal }, proposal);
}
