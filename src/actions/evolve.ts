/**
 * How an action follows from its events, and what of it lists look for. Pure.
 *
 * An effect's digest leads to the actions that are open: a duplicate is noticed by it.
 * Source: spec actions (transitions), ledger (the decider).
 */
import { LIMITS } from '../core/index.js';
import type { Kind, LedgerEvent } from '../ledger/index.js';
import type { Decision } from '../policy/index.js';
import type { ActionContent, ActionState, ActionStateName, Attempt, AttemptOutcome, Retry } from './schema.js';

export const actionKind: Kind<ActionState> = {
  name: 'action',
  version: 1,
  evolve: (state, event) => evolve(state, event),
  columns: (state) => ({
    project: state.content.project,
    // Found under its effect, it may have happened, and was not denied.
    status: state.state === 'cancelled' && state.late_result !== null ? 'late' : state.state,
    principal: state.content.proposed_by,
    ...dueOf(state),
    ...(isFound(state) ? { lookup: state.content.effect } : {}),
  }),
};

/**
 * Whether its effect leads to an action: while it is open; where people denied it, because the same effect asked for
 * again is shown as such; and where a later word says of a settled one that it may have happened after all.
 */
function isFound({ state, closed, late_result }: ActionState): boolean {
  const isOver = state === 'failed' || state === 'cancelled';
  return isOpen(state) || closed?.how === 'denied' || (isOver && late_result !== null);
}

export function isOpen(state: ActionStateName): boolean {
  return state === 'proposed' || state === 'approved' || state === 'launched' || state === 'unknown';
}

/** Until when the action waits for something; absent when it waits for nothing. */
function dueOf(state: ActionState): { readonly due?: number } {
  const last = state.attempts.at(-1);
  if (state.late_result !== null) return { due: last?.finished_at ?? state.proposed_at };
  switch (state.state) {
    case 'proposed':
      return { due: state.content.approve_by };
    case 'approved':
      return { due: state.launch_by ?? state.content.approve_by };
    case 'launched':
      return { due: (last?.deadline ?? 0) + LIMITS.graceMs };
    case 'unknown':
      // What runs again under another name waits for nobody any more.
      return state.replaced_by === null ? { due: last?.finished_at ?? state.proposed_at } : {};
    default:
      return {};
  }
}

/** The state that events of a commit lead to, before they have their place in the log. */
export function stateAfter(
  id: string,
  before: ActionState | undefined,
  events: readonly Pick<LedgerEvent, 'type' | 'data'>[],
): ActionStateName {
  const placed = { record: { kind: 'action', id } as const, revision: 0, at: 0, actor: '', payloads: [], prev: null };
  const after = events.reduce<ActionState | undefined>(
    (state, { type, data }) => evolve(state, { ...placed, type, data, hash: '' }),
    before,
  );
  return (after as ActionState).state;
}

type Cancelled = NonNullable<ActionState['closed']> & { readonly superseded_by?: string };

/** A launch that was approved beside an unknown outcome stands on those approvals from then on. */
function retried({ retry }: ActionState): Partial<ActionState> {
  return retry === null ? {} : { ...retry, retry: null };
}

type ApprovedData = Pick<ActionState, 'approvals' | 'authorization' | 'launch_by'>;
type SettledData = Pick<Attempt, 'code' | 'external_ref' | 'evidence_ref' | 'settled_by'> & {
  readonly attempt: number;
  readonly outcome: AttemptOutcome;
};

function evolve(state: ActionState | undefined, event: LedgerEvent): ActionState {
  const data: unknown = event.data;
  if (event.type === 'action-proposed') {
    const { content, decision } = data as { content: ActionContent; decision: Decision };
    const empty = {
      approvals: [],
      authorization: null,
      launch_by: null,
      attempts: [],
      closed: null,
      late_result: null,
      late_more: [],
    };
    const nothing = { interrupted: false, retry: null, replaced_by: null, superseded_by: null };
    return { content, state: 'proposed', proposed_at: event.at, decision, ...empty, ...nothing };
  }
  const before = state as ActionState;
  switch (event.type) {
    case 'approval-recorded':
      return { ...before, approvals: (data as ApprovedData).approvals };
    case 'action-approved': {
      const { approvals, authorization, launch_by } = data as ApprovedData;
      return { ...before, state: 'approved', approvals, authorization, launch_by };
    }
    case 'action-cancelled': {
      const { how, by, words, superseded_by = null } = data as Cancelled;
      return { ...before, state: 'cancelled', closed: { how, by, words }, superseded_by };
    }
    case 'action-launched':
      return {
        ...before,
        state: 'launched',
        attempts: [...before.attempts, (data as { attempt: Attempt }).attempt],
        ...retried(before),
      };
    case 'action-confirmed':
    case 'action-failed':
    case 'action-outcome-unknown': {
      const settled = data as SettledData;
      const attempts = settledAttempts(before.attempts, settled, event.at);
      // A person who established the outcome looked at all that ran, also since a restore.
      const interrupted = before.interrupted && settled.settled_by !== 'human';
      return { ...before, state: OUTCOME_STATES[event.type], attempts, interrupted, retry: null };
    }
    case 'attempt-settled':
      return { ...before, attempts: settledAttempts(before.attempts, data as SettledData, event.at), retry: null };
    case 'late-result-recorded': {
      const { attempt, outcome, code } = data as NonNullable<ActionState['late_result']>;
      const late = { attempt, outcome, code };
      if (before.late_result !== null) return { ...before, late_more: [...before.late_more, late] };
      return { ...before, late_result: late };
    }
    case 'late-result-settled': {
      const settled = data as SettledData;
      const attempts = settledAttempts(before.attempts, settled, event.at);
      // What is cancelled stays so: the attempt tells what it did before.
      const state = before.state === 'cancelled' ? 'cancelled' : settled.outcome;
      const [late_result = null, ...late_more] = before.late_more;
      return { ...before, state, attempts, late_result, late_more, interrupted: false, retry: null };
    }
    case 'retry-approved':
      return { ...before, retry: data as Retry };
    case 'action-replaced':
      return { ...before, replaced_by: (data as { replaced_by: string }).replaced_by, retry: null };
    case 'action-interrupted':
      return { ...before, state: 'unknown', interrupted: true };
    default:
      return before;
  }
}

const OUTCOME_STATES = {
  'action-confirmed': 'confirmed',
  'action-failed': 'failed',
  'action-outcome-unknown': 'unknown',
} as const;

/** The attempt that an event names; where people established it, with every one whose outcome was unknown. */
function settledAttempts(attempts: readonly Attempt[], settled: SettledData, at: number): readonly Attempt[] {
  const { attempt, outcome, code, external_ref, evidence_ref, settled_by } = settled;
  const speaksOf = ({ no, outcome: known }: Attempt) =>
    no === attempt || (settled_by === 'human' && (known === 'unknown' || known === null));
  return attempts.map((one) => {
    if (!speaksOf(one)) return one;
    const ref = one.no === attempt ? external_ref : one.external_ref;
    return { ...one, finished_at: at, outcome, code, external_ref: ref, evidence_ref, settled_by };
  });
}

/** The attempt that had the effect of a confirmed action; the last one of any other. */
export function tellingAttempt({ attempts }: ActionState): Attempt | undefined {
  return attempts.findLast(({ outcome }) => outcome === 'confirmed') ?? attempts.at(-1);
}
