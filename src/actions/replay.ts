/**
 * The events of an action decided once more: whether a log says what the machine would have said. Pure.
 * Source: spec ledger (verify), actions (transitions).
 */
import { type Json, type JsonObject, Refusal, sameJson } from '../core/index.js';
import type { LedgerEvent } from '../ledger/index.js';
import type { Decision } from '../policy/index.js';
import { actionBinding, actionDigest, effectDigest } from './content.js';
import { type ActionCommand, decideAction } from './machine.js';
import type { ActionContent, ActionState, Attempt, AttemptOutcome, Authorization, Closing } from './schema.js';

/**
 * Why an event is not what the machine decides over the state before it; undefined where it is.
 * INVARIANT: an action takes no other step than the machine does, and with no other words (audit.legal-steps).
 */
export function unlikeMachine(state: ActionState | undefined, event: LedgerEvent): string | undefined {
  const command = commandOf(event);
  if (command === undefined) return 'no command leads to it';
  const decided = decideAction(state, command, event.at);
  if (decided instanceof Refusal) return decided.message;
  const { claims: _, ...data } = event.data;
  const [one] = decided;
  const same = decided.length === 1 && one?.type === event.type && sameJson(one.data as Json, data as Json);
  return same ? undefined : 'the gate would have written something else';
}

/** Whether the binding of a proposed action is that of its content; its digest takes the arguments as well. */
export function isBound({ binding, ...content }: ActionContent): boolean {
  return actionBinding(content) === binding;
}

/** Whether digest and effect are those of the content with these arguments, as canonical text. */
export function isDigested(content: ActionContent, argsText: string): boolean {
  return actionDigest(content, argsText) === content.digest && effectDigest(content, argsText) === content.effect;
}

type Data = {
  readonly content: ActionContent;
  readonly decision: Decision;
  readonly approvals: ActionState['approvals'];
  readonly authorization: Authorization | null;
  readonly attempt: Attempt | number;
  readonly outcome: AttemptOutcome;
  readonly code: string | null;
  readonly external_ref: string | null;
  readonly evidence_ref: string | null;
  readonly settled_by: Attempt['settled_by'];
  readonly by: string;
  readonly how: Closing;
  readonly words: string | null;
  readonly via?: 'session';
  readonly superseded_by?: string;
  readonly request_id: string;
  readonly replaced_by: string;
};

/** The command that an event records; undefined for an event of no command. */
function commandOf({ type, data }: LedgerEvent): ActionCommand | undefined {
  const said = data as unknown as Data;
  switch (type) {
    case 'action-proposed':
      return { do: 'propose', content: said.content, decision: said.decision };
    case 'approval-recorded':
    case 'retry-approved':
      return approvedBy(said);
    case 'action-approved':
      if (said.authorization?.kind === 'policy') return { do: 'allow' };
      if (said.authorization?.kind === 'grant') return { do: 'cover', grantId: said.authorization.grant_id };
      return approvedBy(said);
    case 'action-cancelled':
      return said.how === 'expired' ? { do: 'expire' } : cancelled(said);
    case 'action-launched':
      return launched(said.attempt as Attempt);
    case 'action-confirmed':
    case 'action-failed':
    case 'action-outcome-unknown':
    case 'attempt-settled':
      return settled(said, data);
    case 'late-result-recorded':
      return settled({ ...said, external_ref: null, evidence_ref: null, settled_by: 'connector' }, data);
    case 'late-result-settled':
      return said.settled_by === 'human' ? settled(said, data) : undefined;
    case 'action-replaced':
      return { do: 'replace', by: said.replaced_by, requestId: said.request_id };
    case 'action-interrupted':
      return { do: 'interrupt' };
    default:
      return undefined;
  }
}

function approvedBy({ approvals }: Data): ActionCommand | undefined {
  const approval = approvals.at(-1);
  return approval === undefined ? undefined : { do: 'approve', approval };
}

function cancelled({ how, by, words, via, superseded_by }: Data): ActionCommand {
  return {
    do: 'cancel',
    how,
    by,
    words,
    ...(via === undefined ? {} : { via }),
    ...(superseded_by === undefined ? {} : { supersededBy: superseded_by }),
  };
}

function launched(attempt: Attempt): ActionCommand {
  const { authorization, decision, launched_by, launched_at, deadline, prepared, reserved } = attempt;
  return {
    do: 'launch',
    launch: {
      authorization,
      decision,
      launchedBy: launched_by,
      timeoutMs: deadline - launched_at,
      prepared,
      // How long the operation knew a repeated call is not in the log.
      dedupeWindowMs: Number.POSITIVE_INFINITY,
      ...(reserved === undefined ? {} : { reserved }),
    },
  };
}

function settled(said: Data, data: JsonObject): ActionCommand | undefined {
  const { outcome, code, external_ref, evidence_ref, settled_by, by, request_id } = said;
  const attempt = said.attempt as number;
  if (settled_by === 'human') {
    if (outcome === 'unknown' || evidence_ref === null) return undefined;
    return { do: 'find', finding: { outcome, by, request_id, evidence_ref } };
  }
  if (settled_by === 'recover') return 'by' in data ? { do: 'recover', by } : undefined;
  if (settled_by === null) return undefined;
  const evidence = evidence_ref === null ? null : { ref: evidence_ref, bytes: '' };
  return {
    do: 'settle',
    settlement: { attempt, outcome, code, externalRef: external_ref, evidence, settledBy: settled_by },
  };
}
