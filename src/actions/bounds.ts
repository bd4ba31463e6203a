/**
 * The bounds of policy around an action: what its launch takes of them, and what its outcome makes of that.
 * Source: spec authority (policy: limits and budgets).
 */
import { Refusal } from '../core/index.js';
import type { NewEvent, RecordRef, View } from '../ledger/index.js';
import { overBound, overDecision, reservedRecords, type Settling, settleReserved, takeRoom } from '../policy/index.js';
import { coverRecords, settleCover } from './cover.js';
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

/** What the outcome of an attempt makes of what the attempt took. */
interface Settlement {
  readonly attempt: BoundedAttempt;
  readonly settling: Settling;
}

/** What an event of an action makes of what its attempts took. The commit holds `boundRecords` of them. */
export function settledBounds(
  state: ActionState | undefined,
  event: Pick<ActionEvent, 'type' | 'data'>,
): readonly NewEvent[] {
  if (state === undefined) return [];
  return settlementsOf(state, event).flatMap(({ attempt, settling }) => {
    const action = { actionId: state.content.action_id, attempt: attempt.no };
    const cover = settleCover(state.content, attempt, settling === 'failed' ? 'failed' : 'confirmed');
    return [...cover, ...settleReserved(attempt.reserved, settling, action)];
  });
}

/** The records that attempts took something of: what settles them has to lock these. */
export function boundRecords(attempts: readonly BoundedAttempt[]): readonly RecordRef[] {
  return attempts.flatMap(({ authorization, reserved }) => [
    ...coverRecords(authorization),
    ...reservedRecords(reserved),
  ]);
}

/**
 * INVARIANT: what was taken is given back on a certain failure alone (policy.budget.settled). A confirmed action counts
 * for each of its attempts that nobody can tell from the one that had the effect.
 */
function settlementsOf(state: ActionState, { type, data }: Pick<ActionEvent, 'type' | 'data'>): readonly Settlement[] {
  const own = state.attempts.filter(({ no }) => no === data['attempt']);
  const open = state.attempts.filter(({ outcome }) => outcome === null || outcome === 'unknown');
  const all = (settling: Settling, attempts: readonly Attempt[]) =>
    attempts.map((attempt): Settlement => ({ attempt, settling }));
  const outcome = data['outcome'] as AttemptOutcome | undefined;
  switch (type) {
    case 'action-confirmed':
      return all('confirmed', open);
    case 'action-failed':
      return all('failed', open);
    case 'attempt-settled':
    case 'action-outcome-unknown':
      // What a confirmed action held was counted when it was confirmed.
      return state.state === 'confirmed' || outcome === undefined || outcome === 'unknown' ? [] : all(outcome, own);
    case 'late-result-recorded':
      return outcome === 'confirmed' ? all('confirmed-late', own) : [];
    case 'late-result-settled':
      return outcome === 'confirmed' || outcome === 'failed' ? all(outcome, open) : [];
    default:
      return [];
  }
}
