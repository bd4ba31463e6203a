/**
 * What people read of an action, from its state alone: the summary that they sign, and the entries of the thread. Pure.
 *
 * INVARIANT: every field of digest and binding is a line of the summary, in full (actions.summary.every-field).
 * Source: spec actions (summary, the thread).
 */
import { renderSummary, type SummaryLines, summaryDigest } from '../approvals/index.js';
import type { SummaryLine } from '../connectors/index.js';
import { isoTime } from '../core/index.js';
import type { LedgerState } from '../identity/index.js';
import type { LedgerEvent } from '../ledger/index.js';
import { tellingAttempt } from './evolve.js';
import { amountText } from './money.js';
import type { ActionState, Attempt } from './schema.js';

/** What the words of the product are for what the machine calls by the names of the source. */
export const CLASS_WORDS = {
  read: 'read',
  reversible: 'reversible',
  irreversible: 'irreversible',
  costly: 'high impact',
} as const;

function orNone(value: string | null): string {
  return value ?? 'none';
}

function attemptText(attempt: Attempt): string {
  const parts = [attempt.outcome ?? 'running', attempt.code, attempt.external_ref].filter((part) => part !== null);
  return `${isoTime(attempt.launched_at)} ${parts.join(' ')}`;
}

/** The lines that a person signs. `own` are the operation's, from its typed fields. */
export function summaryLines(
  ledger: LedgerState,
  state: ActionState,
  argsText: string,
  own: readonly SummaryLine[],
): SummaryLines {
  const { content } = state;
  const line = (name: string, value: string) => ({ name, value });
  const money = content.amount === null ? 'none' : amountText(content.amount, content.currency ?? '');
  const preconditions = Object.entries(content.preconditions ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    ...(ledger.demo ? [line('demo ledger', 'DEMO LEDGER')] : []),
    line('ledger', `${ledger.name} ${content.ledger_id}`),
    line('action', content.action_id),
    line('project', content.project),
    line('work item', orNone(content.work_item)),
    line('connector', content.connector),
    line('operation', content.operation),
    line('target', content.target),
    line('risk', `${CLASS_WORDS[content.class]} (${content.class})`),
    line('amount', money),
    ...own.map(({ name, value }) => line(`> ${name}`, value)),
    line('arguments', argsText),
    line('proposed by', content.proposed_by),
    line('on behalf of', content.on_behalf_of.join(', ') || 'none'),
    line('approvers', content.approvers.join(', ') || 'none'),
    line('approvals needed', String(content.quorum)),
    line('approve by', `${isoTime(content.approve_by)} (${content.approve_by})`),
    line('launch within', `${content.launch_within_ms} ms of the approval`),
    ...preconditions.map(([name, value]) => line(`must still hold ${name}`, value)),
    line('flags', content.flags.join(', ') || 'none'),
    ...content.duplicates.map((id) => line('may be the same as', id)),
    ...(content.launches_seen === 0 ? [] : [line('launches of the same before', String(content.launches_seen))]),
    ...(content.edited_by === null
      ? []
      : [line('edited by', content.edited_by), line('changed by the editor', content.changed_paths.join(', '))]),
    ...(content.revised_from === null ? [] : [line('edited from', content.revised_from)]),
    ...(content.replaces === null ? [] : [line('runs again', content.replaces)]),
    line('provenance', content.provenance === null ? 'none' : JSON.stringify(content.provenance)),
    line('code that will run', content.operation_digest),
    line('policy version', content.policy_version),
    ...state.attempts.map((attempt) => line(`attempt ${attempt.no}`, attemptText(attempt))),
    line('fingerprint', content.digest),
    line('conditions', content.binding),
  ];
}

export interface Summary {
  readonly rendered: readonly string[];
  readonly digest: string;
}

export function summaryOf(
  ledger: LedgerState,
  state: ActionState,
  argsText: string,
  own: readonly SummaryLine[],
): Summary {
  const rendered = renderSummary(summaryLines(ledger, state, argsText, own));
  return { rendered, digest: summaryDigest(rendered) };
}

/** One entry of the project's thread for an event of an action, as it stands after the event. */
export function threadText(event: LedgerEvent, state: ActionState): string {
  const { content } = state;
  const what = `${content.connector} ${content.operation} on ${content.target}`;
  const attempt = tellingAttempt(state);
  switch (event.type) {
    case 'action-proposed':
      return `${content.action_id} proposed by ${content.proposed_by}: ${what} (${CLASS_WORDS[content.class]})`;
    case 'approval-recorded':
      return `${content.action_id} ${state.approvals.length} of ${content.quorum} approvals`;
    case 'action-approved':
      return state.authorization?.kind === 'policy'
        ? `${content.action_id} allowed by policy: ${state.decision.reason}`
        : `${content.action_id} approved by ${state.approvals.map((a) => a.approver).join(', ')}`;
    case 'action-cancelled':
      return `${content.action_id} ${state.closed?.how} by ${state.closed?.by}`;
    case 'action-launched':
      return `${content.action_id} running: attempt ${attempt?.no}, ${what}`;
    case 'action-confirmed':
      return `${content.action_id} confirmed${attempt?.external_ref ? `: ${attempt.external_ref}` : ''}`;
    case 'action-failed':
      return `${content.action_id} failed without effect: ${orNone(attempt?.code ?? null)}`;
    case 'action-outcome-unknown':
      return `${content.action_id} outcome unknown: it may have happened`;
    case 'late-result-recorded':
      return `${content.action_id} a later result contradicts the settled one`;
    case 'attempt-settled':
      return `${content.action_id} attempt ${String(event.data['attempt'])}: ${String(event.data['outcome'])}`;
    case 'action-interrupted':
      return `${content.action_id} outcome unknown: the store was restored`;
    default:
      return `${content.action_id} ${event.type}`;
  }
}
