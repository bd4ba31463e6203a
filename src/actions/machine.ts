/**
 * The life of an action as one table: every (state, command) is a transition or a named refusal. Pure.
 *
 * INVARIANT: confirmed and cancelled are terminal; launched and unknown are never cancelled; nothing leaves unknown
 * without the connector's evidence or a person's signed decision; a launch is written before its call
 * (actions.machine.*).
 * Source: seeds actions-and-the-gate; spec actions (transitions).
 */
import type { Approval } from '../approvals/index.js';
import { assertNever, type Json, type JsonObject, LIMITS, Refusal } from '../core/index.js';
import type { NewPayload } from '../ledger/index.js';
import { type Decision, type Reserved, refusalOf } from '../policy/index.js';
import {
  approveRetry,
  cover,
  type Finding,
  find,
  launchTerms,
  replace,
  retryRefusal,
  standingBarrier,
  wasUnknown,
} from './machine-people.js';
import { interrupt, recover, type Settlement, settle } from './machine-settle.js';
import type { ActionContent, ActionState, Attempt, Authorization, Closing } from './schema.js';

export type ActionCommand =
  | { readonly do: 'propose'; readonly content: ActionContent; readonly decision: Decision }
  | { readonly do: 'approve'; readonly approval: Approval }
  | { readonly do: 'allow' }
  | { readonly do: 'cover'; readonly grantId: string }
  | {
      readonly do: 'cancel';
      readonly how: Closing;
      readonly by: string;
      readonly words: string | null;
      /** Where a person did it who was signed in and signed nothing. */
      readonly via?: 'session';
      /** The changed copy, with `superseded`. */
      readonly supersededBy?: string;
    }
  | { readonly do: 'expire' }
  | { readonly do: 'launch'; readonly launch: Launch }
  | { readonly do: 'settle'; readonly settlement: Settlement }
  | { readonly do: 'recover'; readonly by: string }
  | { readonly do: 'interrupt' }
  | { readonly do: 'replace'; readonly by: string; readonly requestId: string }
  | { readonly do: 'find'; readonly finding: Finding };

export interface Launch {
  readonly authorization: Authorization;
  readonly decision: Decision;
  readonly launchedBy: string;
  readonly timeoutMs: number;
  readonly prepared: Json;
  /** How long the operation knows a repeated call; undefined where it does not. */
  readonly dedupeWindowMs?: number | undefined;
  readonly reserved?: readonly Reserved[];
}

/** What a command adds to the action: a type, its data, and payloads. */
export interface ActionEvent {
  readonly type: string;
  readonly data: JsonObject;
  readonly payloads?: readonly NewPayload[];
}

/** Events of a command, or why it is refused. `now` is the time of the commit. */
export function decideAction(
  state: ActionState | undefined,
  command: ActionCommand,
  now: number,
): readonly ActionEvent[] | Refusal {
  if (command.do === 'propose') return propose(state, command);
  if (state === undefined) return new Refusal('unknown_action', 'there is no such action');
  switch (command.do) {
    case 'approve':
      return approve(state, command.approval, now);
    case 'allow':
      return allow(state, now);
    case 'cover':
      return cover(state, command.grantId, now, refuse);
    case 'cancel':
      return cancel(state, command);
    case 'expire':
      return expire(state, now);
    case 'launch':
      return launch(state, command.launch, now);
    case 'settle':
      return settle(state, command.settlement, now, refuse);
    case 'recover':
      return recover(state, command.by, now, refuse);
    case 'interrupt':
      return interrupt(state, refuse);
    case 'replace':
      return replace(state, command, refuse);
    case 'find':
      return find(state, command.finding, refuse);
    default:
      return assertNever(command);
  }
}

function refuse(state: ActionState, what: string): Refusal {
  const details = { state: state.state };
  switch (state.state) {
    case 'launched':
      return new Refusal('launched', `the action is running: ${what}`, { details });
    case 'unknown':
      return new Refusal('decision_required', `the outcome is unknown: ${what}`, { details });
    case 'cancelled':
      return state.closed?.how === 'expired'
        ? new Refusal('expired', `the action has expired: ${what}`, { details })
        : new Refusal('state', `the action is cancelled: ${what}`, { details });
    default:
      return new Refusal('state', `the action is ${state.state}: ${what}`, { details });
  }
}

function propose(
  state: ActionState | undefined,
  { content, decision }: { content: ActionContent; decision: Decision },
): readonly ActionEvent[] | Refusal {
  if (state !== undefined) return refuse(state, 'its id is taken');
  if (decision.outcome === 'DENY') return refusalOf(decision);
  return [{ type: 'action-proposed', data: { content, decision } as unknown as JsonObject }];
}

/** A valid receipt: counts toward the quorum, approves, or binds an approved action to a fresher receipt. */
function approve(state: ActionState, approval: Approval, now: number): readonly ActionEvent[] | Refusal {
  const { content } = state;
  if (state.state === 'unknown') return approveRetry(state, approval, now);
  const barrier = standingBarrier(state);
  if (barrier !== undefined) return barrier;
  if (state.state !== 'proposed' && state.state !== 'approved' && state.state !== 'failed') {
    return refuse(state, 'it can not be approved');
  }
  if (now >= content.approve_by) return new Refusal('expired', 'the time to approve it has passed');
  // INVARIANT: after a failure only receipts that were asked for since then count: their summary lists every attempt
  // (actions.machine.fresh-receipts).
  const others = state.state === 'failed' ? [] : state.approvals.filter((a) => a.approver !== approval.approver);
  // The newest count, as many as are needed: a receipt that can no longer be used does not stand in the way of others.
  const approvals = [...others, approval].slice(-content.quorum);
  if (approvals.length < content.quorum)
    return [{ type: 'approval-recorded', data: { approvals } as unknown as JsonObject }];
  const authorization: Authorization = { kind: 'receipts', request_ids: approvals.map((a) => a.request_id) };
  const launch_by = now + content.launch_within_ms;
  return [{ type: 'action-approved', data: { approvals, authorization, launch_by } as unknown as JsonObject }];
}

/** What was done, or denied, before: policy alone never allows it again. */
export function needsPerson(flags: ActionContent['flags']): boolean {
  return flags.includes('possible_duplicate') || flags.includes('previously_denied');
}

function allow(state: ActionState, now: number): readonly ActionEvent[] | Refusal {
  if (state.state !== 'proposed' && state.state !== 'failed') return refuse(state, 'it can not be allowed');
  const barrier = standingBarrier(state);
  if (barrier !== undefined) return barrier;
  if (now >= state.content.approve_by) return new Refusal('expired', 'the time to approve it has passed');
  if (state.decision.outcome !== 'ALLOW' || wasUnknown(state) || needsPerson(state.content.flags)) {
    return new Refusal('receipt_required', 'a person has to approve this');
  }
  const authorization: Authorization = { kind: 'policy', decision_id: state.decision.decision_id };
  const launch_by = now + state.content.launch_within_ms;
  return [{ type: 'action-approved', data: { approvals: [], authorization, launch_by } as unknown as JsonObject }];
}

function cancel(
  state: ActionState,
  { how, by, words, via, supersededBy }: Extract<ActionCommand, { do: 'cancel' }>,
): readonly ActionEvent[] | Refusal {
  const afterFailure = how === 'withdrawn' || how === 'superseded';
  const may = state.state === 'proposed' || state.state === 'approved' || (state.state === 'failed' && afterFailure);
  if (!may) return refuse(state, 'it can not be cancelled');
  const data = {
    ...{ how, by, words },
    ...(via === undefined ? {} : { via }),
    ...(supersededBy === undefined ? {} : { superseded_by: supersededBy }),
  };
  return [{ type: 'action-cancelled', data }];
}

function expire(state: ActionState, now: number): readonly ActionEvent[] | Refusal {
  const proposed = state.state === 'proposed' && now >= state.content.approve_by;
  const approved = state.state === 'approved' && now >= (state.launch_by ?? 0);
  if (!proposed && !approved) return refuse(state, 'it has not expired');
  return [{ type: 'action-cancelled', data: { how: 'expired', by: 'engine:gate', words: null } }];
}

/** The part of a launch that the action itself can judge; receipts, policy and effect are judged beside it. */
function launch(state: ActionState, plan: Launch, now: number): readonly ActionEvent[] | Refusal {
  const barrier = standingBarrier(state);
  if (barrier !== undefined) return barrier;
  if (state.interrupted) return new Refusal('decision_required', 'the store was restored since: look at it first');
  if (state.state === 'proposed') {
    return now >= state.content.approve_by
      ? new Refusal('expired', 'the time to approve it has passed')
      : new Refusal('receipt_required', 'a person has to approve this first');
  }
  if (state.attempts.length >= LIMITS.attemptsMax) return refuse(state, 'it was launched as often as it may be');
  const again = state.state === 'unknown' ? retryRefusal(state, plan.dedupeWindowMs, now) : undefined;
  if (again !== undefined) return again;
  if (state.state !== 'approved' && state.state !== 'unknown') return refuse(state, 'it can not be launched');
  // INVARIANT: a launch at its deadline is refused, inside the commit (actions.launch.deadline).
  if (now >= (launchTerms(state).launch_by ?? 0)) return new Refusal('expired', 'the time to launch it has passed');
  const attempt: Attempt = {
    no: state.attempts.length + 1,
    authorization: plan.authorization,
    decision: plan.decision,
    launched_by: plan.launchedBy,
    launched_at: now,
    deadline: now + plan.timeoutMs,
    send_by: now + LIMITS.launchToCallMsMax,
    prepared: plan.prepared,
    ...(plan.reserved === undefined || plan.reserved.length === 0 ? {} : { reserved: plan.reserved }),
    finished_at: null,
    outcome: null,
    code: null,
    external_ref: null,
    evidence_ref: null,
    settled_by: null,
  };
  return [{ type: 'action-launched', data: { attempt } as unknown as JsonObject }];
}
