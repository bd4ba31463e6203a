/**
 * What becomes of the attempts of an action: an outcome that somebody tells, a launch that nobody answered for, a
 * restore. Rows of the table in `machine.ts`. Pure.
 *
 * INVARIANT: an action is failed only when none of its attempts may have had an effect (actions.machine.every-attempt):
 * while one is unknown, the certain failure of another changes nothing.
 * Source: spec actions (transitions, launch).
 */
import { type JsonObject, LIMITS, type Refusal } from '../core/index.js';
import type { NewPayload } from '../ledger/index.js';
import { isOpen } from './evolve.js';
import type { ActionEvent } from './machine.js';
import type { ActionState, ActionStateName, Attempt, AttemptOutcome, SettledBy } from './schema.js';

export interface Settlement {
  readonly attempt: number;
  readonly outcome: AttemptOutcome;
  readonly code: string | null;
  readonly externalRef: string | null;
  readonly evidence: NewPayload | null;
  readonly settledBy: SettledBy;
}

type Refuse = (state: ActionState, what: string) => Refusal;

const OUTCOME_EVENTS = {
  confirmed: 'action-confirmed',
  failed: 'action-failed',
  unknown: 'action-outcome-unknown',
} as const;

/** Settles an attempt once; a later word that contradicts it is kept beside it and blocks the action. */
export function settle(
  state: ActionState,
  settlement: Settlement,
  now: number,
  refuse: Refuse,
): readonly ActionEvent[] | Refusal {
  const attempt = state.attempts.find(({ no }) => no === settlement.attempt);
  if (attempt === undefined) return refuse(state, 'it has no such attempt');
  const { outcome, code, settledBy } = settlement;
  if (!mayTell(state, attempt, outcome)) return settleLate(state, attempt, settlement, refuse);
  if (settledBy === 'reconcile' && state.state === 'launched') return refuse(state, 'wait, or recover it');
  if (attempt.outcome === 'unknown' && outcome === 'unknown') return refuse(state, 'nothing new is known');
  // INVARIANT: after a restore the last attempt that the store knows may not be the last that ran: that it had no
  // effect says nothing of the others (actions.machine.interrupted).
  if (state.interrupted && outcome === 'failed') {
    return refuse(state, 'the store was restored: another attempt may have run');
  }
  if (settledBy === 'reconcile' && outcome === 'failed' && now < attempt.deadline + LIMITS.graceMs) {
    return refuse(state, 'the call may still arrive');
  }
  const isLate = settledBy === 'connector' && attempt.outcome === 'unknown';
  const data: JsonObject = {
    attempt: attempt.no,
    outcome,
    code,
    external_ref: settlement.externalRef,
    evidence_ref: settlement.evidence?.ref ?? null,
    settled_by: isLate ? 'connector-late' : settledBy,
  };
  const payloads = settlement.evidence === null ? [] : [settlement.evidence];
  const next = outcomeOf(state, attempt, outcome);
  return [{ type: next === undefined ? 'attempt-settled' : OUTCOME_EVENTS[next], data, payloads }];
}

/** Whether an attempt waits for a word like this; after a restore also one that seemed to be settled. */
function mayTell(state: ActionState, attempt: Attempt, outcome: AttemptOutcome): boolean {
  if (attempt.outcome === null || attempt.outcome === 'unknown') return true;
  return state.interrupted && state.state === 'unknown' && outcome === 'confirmed' && attempt.outcome === 'failed';
}

/** The state that an action gets by the outcome of one attempt; undefined where it stays as it is. */
function outcomeOf(state: ActionState, settled: Attempt, outcome: AttemptOutcome): AttemptOutcome | undefined {
  if (state.state !== 'launched' && state.state !== 'unknown') return undefined;
  const others = state.attempts.filter(({ no }) => no !== settled.no);
  // After a restore nothing runs that this store knows of: what has no outcome is unknown.
  if (state.state === 'launched' && others.some((one) => one.outcome === null)) return undefined;
  const outcomes = [outcome, ...others.map((one) => one.outcome ?? 'unknown')];
  let next: AttemptOutcome = 'failed';
  if (outcomes.includes('confirmed')) next = 'confirmed';
  else if (outcomes.includes('unknown') || state.interrupted) next = 'unknown';
  return next === (state.state as ActionStateName) ? undefined : next;
}

function settleLate(
  state: ActionState,
  attempt: Attempt,
  { outcome, code }: Settlement,
  refuse: Refuse,
): readonly ActionEvent[] | Refusal {
  const contradicts = outcome !== 'unknown' && attempt.outcome !== outcome;
  const outstanding = state.late_result === null ? [] : [state.late_result, ...state.late_more];
  const isTold = outstanding.some((one) => one.attempt === attempt.no);
  if (!contradicts || isTold) return refuse(state, 'it is settled already');
  return [{ type: 'late-result-recorded', data: { attempt: attempt.no, outcome, code } }];
}

/** A launch that nobody answered for: never a call, only the truth that nothing is known. */
export function recover(state: ActionState, by: string, now: number, refuse: Refuse): readonly ActionEvent[] | Refusal {
  const attempt = state.attempts.at(-1);
  if (state.state !== 'launched' || attempt === undefined) return refuse(state, 'there is nothing to recover');
  if (now < attempt.deadline + LIMITS.graceMs) return refuse(state, 'its answer may still come');
  const data = {
    attempt: attempt.no,
    outcome: 'unknown',
    code: 'no_answer',
    external_ref: null,
    evidence_ref: null,
    settled_by: 'recover',
    by,
  };
  return [{ type: OUTCOME_EVENTS[outcomeOf(state, attempt, 'unknown') ?? 'unknown'], data }];
}

/** After a restore nobody knows what became of an open action since the backup. */
export function interrupt(state: ActionState, refuse: Refuse): readonly ActionEvent[] | Refusal {
  if (!isOpen(state.state)) return refuse(state, 'it is not open');
  if (state.interrupted) return refuse(state, 'it is marked already');
  return [{ type: 'action-interrupted', data: {} }];
}
