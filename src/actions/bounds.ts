/**
 * The bounds of policy around an action: what its launch takes of them, and what its outcome makes of that.
 * Source: spec authority (policy: limits and budgets).
 */
import { Refusal } from '../core/index.js';
import type { NewEvent, View } from '../ledger/index.js';
import { overBound, overDecision, type Settling, settleReserved, takeRoom } from '../policy/index.js';
import { settleCover } from './cover.js';
import type { Judged } from './judge.js';
import type { ActionEvent } from './machine.js';
import type { ActionState, Attempt, AttemptOutcome } from './schema.js';
import { STALE } from './services.js';

/** An attempt, and what it took of the bounds of policy. */
export type BoundedAttempt = Pick<Attempt, 'no' | 'reserved' | 'authorization'>;

/** A proposal as the bounds leave it: with what its launch takes, or asking where there is no room. */
export function withinBounds(view: View, judged: Judged, lockedAt: number): Judged | Refusal {
  const { decision, unbound, launch, ...others } = judged;
  const room = takeRoom(view, decision.reservations, lockedAt, { actionId: unbound.action_id, attempt: 1 });
  if (room.is === 'stale') return STALE;
  if (room.is === 'taken') {
    if (launch === undefined) return judged;
    return { ...judged, launch: { ...launch, reserved: room.reserved }, reserving: room.events };
  }
  if (room.bound.over === 'deny') return overBound(room.bound);
  if (unbound.approvers.length < unbound.quorum) {
    return new Refusal('approvers', 'the bound of a rule is used up, and too few people may approve this');
  }
  return { ...others, unbound, decision: overDecision(decision, room.bound) };
}

/** What an event of an action makes of what its attempt took. */
export function settledBounds(
  state: ActionState | undefined,
  event: ActionEvent,
  attempt: BoundedAttempt | undefined,
): readonly NewEvent[] {
  if (state === undefined || attempt === undefined) return [];
  const before = state.attempts.find(({ no }) => no === attempt.no)?.outcome ?? null;
  const settling = settlingOf(event, before);
  const action = { actionId: state.content.action_id, attempt: attempt.no };
  if (settling === undefined) return [];
  const cover = settleCover(state.content, attempt, settling === 'failed' ? 'failed' : 'confirmed');
  return [...cover, ...(attempt.reserved === undefined ? [] : settleReserved(attempt.reserved, settling, action))];
}

/** INVARIANT: what was taken is given back on a certain failure alone (policy.budget.settled). */
function settlingOf({ type, data }: ActionEvent, before: AttemptOutcome | null): Settling | undefined {
  if (type === 'action-confirmed') return 'confirmed';
  if (type === 'action-failed') return 'failed';
  if (type !== 'late-result-recorded') return undefined;
  if (before === 'unknown') return data['outcome'] === 'confirmed' ? 'confirmed' : 'failed';
  return before === 'failed' && data['outcome'] === 'confirmed' ? 'confirmed-late' : undefined;
}
