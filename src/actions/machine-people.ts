/**
 * What people decide about an action that ran, or will not run as it is: a finding, another attempt, another action in
 * its place, a changed copy. Rows of the table in `machine.ts`. Pure.
 * Source: spec actions (transitions).
 */
import type { Approval } from '../approvals/index.js';
import { type JsonObject, Refusal } from '../core/index.js';
import type { ActionEvent } from './machine.js';
import type { ActionState, Attempt, Authorization, Retry } from './schema.js';

/** What a person found out, with their signature over it. */
export interface Finding {
  readonly outcome: 'confirmed' | 'failed';
  readonly by: string;
  readonly request_id: string;
  /** Address of the evidence that was signed. */
  readonly evidence_ref: string;
}

type Refuse = (state: ActionState, what: string) => Refusal;

/**
 * INVARIANT: only a signed finding leaves `unknown` without the connector's word (actions.machine.finding). It speaks
 * of every attempt whose outcome is unknown, and of the one that a later word contradicts; never of one that runs.
 */
export function find(state: ActionState, finding: Finding, refuse: Refuse): readonly ActionEvent[] | Refusal {
  const late = state.late_result;
  const attempt = late === null ? state.attempts.at(-1) : state.attempts.find(({ no }) => no === late.attempt);
  const data: JsonObject = {
    attempt: attempt?.no ?? 0,
    outcome: finding.outcome,
    code: 'finding',
    external_ref: attempt?.external_ref ?? null,
    evidence_ref: finding.evidence_ref,
    settled_by: 'human',
    by: finding.by,
    request_id: finding.request_id,
  };
  if (state.state === 'launched') return refuse(state, 'wait for its outcome, or recover it');
  if (late !== null) {
    // What is confirmed stays so: a finding can only say that the later word was wrong.
    if (state.state === 'confirmed' && finding.outcome === 'failed') return refuse(state, 'it is confirmed');
    return [{ type: 'late-result-settled', data }];
  }
  if (state.state !== 'unknown') return refuse(state, 'nothing is unknown');
  const isDone = state.attempts.some(({ outcome }) => outcome === 'confirmed');
  if (isDone && finding.outcome === 'failed') return refuse(state, 'one of its attempts is confirmed');
  return [{ type: finding.outcome === 'confirmed' ? 'action-confirmed' : 'action-failed', data }];
}

/** The action that takes the place of this one is proposed in the same commit. */
export function replace(
  state: ActionState,
  { by, requestId }: { readonly by: string; readonly requestId: string },
  refuse: Refuse,
): readonly ActionEvent[] | Refusal {
  if (state.state !== 'unknown') return refuse(state, 'only what is unknown can be run again');
  if (state.replaced_by !== null) return replaced(state);
  return [{ type: 'action-replaced', data: { replaced_by: by, request_id: requestId } }];
}

/** A receipt toward another attempt: kept beside the unknown outcome until the whole quorum has signed. */
export function approveRetry(state: ActionState, approval: Approval, now: number): readonly ActionEvent[] | Refusal {
  const barrier = retryBarrier(state);
  if (barrier !== undefined) return barrier;
  if (now >= state.content.approve_by) return new Refusal('expired', 'the time to approve it has passed');
  const { quorum, launch_within_ms } = state.content;
  const others = state.retry?.approvals.filter(({ approver }) => approver !== approval.approver) ?? [];
  const approvals = [...others, approval].slice(-quorum);
  const isWhole = approvals.length >= quorum;
  const authorization: Authorization | null = isWhole
    ? { kind: 'receipts', request_ids: approvals.map((one) => one.request_id) }
    : null;
  const launch_by = isWhole ? now + launch_within_ms : null;
  return [{ type: 'retry-approved', data: { approvals, authorization, launch_by } as unknown as JsonObject }];
}

/**
 * Why nobody may approve or launch this action, in whatever state it is.
 * INVARIANT: what runs in the place of an action keeps it from ever running again (actions.machine.replaced).
 */
export function standingBarrier(state: ActionState): Refusal | undefined {
  if (state.replaced_by !== null) return replaced(state);
  if (state.late_result === null) return undefined;
  return new Refusal('late_result', 'a later result contradicts the settled one');
}

/** Why no further attempt of an unknown action is possible, whoever signs. */
export function retryBarrier(state: ActionState): Refusal | undefined {
  const barrier = standingBarrier(state);
  if (barrier !== undefined || !state.interrupted) return barrier;
  return new Refusal('decision_required', 'the store was restored since: a person has to find out what happened');
}

function replaced({ replaced_by }: ActionState): Refusal {
  return new Refusal('replaced', `${replaced_by} runs in the place of this action`);
}

/**
 * INVARIANT: another attempt under the same key leaves only while the other side still knows the key
 * (actions.machine.retry-window). `windowMs` is undefined where the operation does not deduplicate.
 */
export function retryWindow(
  attempts: readonly Attempt[],
  windowMs: number | undefined,
  now: number,
): Refusal | undefined {
  if (windowMs === undefined)
    return new Refusal('dedupe', 'the operation does not tell a repeated call from a new one');
  const first = attempts[0]?.launched_at ?? 0;
  if (now < first + windowMs) return undefined;
  return new Refusal('dedupe', 'the time is over within which the operation knows a repeated call');
}

/** On what the next launch of an action stands: the approvals beside an unknown outcome, or its own. */
export function launchTerms(state: ActionState): Retry {
  return state.state === 'unknown' && state.retry !== null ? state.retry : state;
}

/** Why an unknown action is not launched again. */
export function retryRefusal(state: ActionState, windowMs: number | undefined, now: number): Refusal | undefined {
  const barrier = retryBarrier(state);
  if (barrier !== undefined) return barrier;
  if (state.retry?.authorization === undefined || state.retry.authorization === null) {
    return new Refusal('decision_required', 'the outcome is unknown: check it, or let people approve another attempt', {
      details: { state: state.state },
    });
  }
  return retryWindow(state.attempts, windowMs, now);
}

/**
 * Whether the outcome of any attempt was unknown once, whoever established it since. Then only people allow another
 * launch (actions.machine.fresh-receipts).
 */
export function wasUnknown(state: ActionState): boolean {
  if (state.interrupted) return true;
  return state.attempts.some(
    ({ outcome, settled_by }) => outcome === 'unknown' || (settled_by !== null && settled_by !== 'connector'),
  );
}

/** INVARIANT: a standing approval never takes the place of receipts (actions.machine.fresh-receipts). */
export function cover(
  state: ActionState,
  grantId: string,
  now: number,
  refuse: Refuse,
): readonly ActionEvent[] | Refusal {
  // From one that is used up to another; never from what people signed.
  const again = state.state === 'approved' && state.authorization?.kind === 'grant';
  if (!again && state.state !== 'proposed' && state.state !== 'failed') {
    return refuse(state, 'no standing approval is needed');
  }
  const barrier = standingBarrier(state);
  if (barrier !== undefined) return barrier;
  if (now >= state.content.approve_by) return new Refusal('expired', 'the time to approve it has passed');
  if (wasUnknown(state)) return new Refusal('receipt_required', 'a person has to approve this');
  const authorization: Authorization = { kind: 'grant', grant_id: grantId };
  const launch_by = now + state.content.launch_within_ms;
  return [{ type: 'action-approved', data: { approvals: [], authorization, launch_by } as unknown as JsonObject }];
}
