/**
 * `action show`: all that is known of an action, with what approved it, what its connector answered, and which action
 * came before or behind it.
 */
import { type Json, parseJson } from '../../core/index.js';
import { type Output, outcomeWord, paint, paintState, shown, timeText } from '../output.js';
import type { Command, OpenGate } from '../run.js';

type State = Awaited<ReturnType<OpenGate['show']>>;

export function show(actionId: string): Command {
  return async ({ gate, output }) => {
    const opened = await gate();
    const state = await opened.show(actionId);
    const args = await opened.args(actionId);
    const evidence = await opened.evidence(actionId);
    const comments = await opened.comments(actionId);
    output.value({ ...state, args: parseJson(args), ...(evidence === undefined ? {} : { evidence }), comments });
    const now = Date.now();
    writeContent(output, state, now);
    writeCourse(output, state, evidence, now);
    row(output, 'arguments', shown(args));
    row(output, 'fingerprint', state.content.digest);
    for (const { by, at, text } of comments) {
      row(output, 'comment', `${shown(by)}, ${timeText(at, now)}: ${shown(text ?? 'erased')}`);
    }
    return undefined;
  };
}

function row(output: Output, name: string, value: string): void {
  output.line(`${paint.dim(name.padEnd(12))} ${value}`);
}

/** What was asked for, and who lets it run. */
function writeContent(output: Output, { content, ...state }: State, now: number): void {
  row(output, 'action', content.action_id);
  row(output, 'state', paintState(state.state, state.authorization?.kind === 'policy'));
  row(output, 'what', `${shown(content.connector)} ${shown(content.operation)} on ${shown(content.target)}`);
  row(output, 'risk', content.class === 'costly' ? 'high impact' : content.class);
  if (content.amount !== null) row(output, 'amount', `${content.amount} minor units ${shown(content.currency)}`);
  row(output, 'project', shown(content.project));
  if (content.work_item !== null) row(output, 'work item', shown(content.work_item));
  row(output, 'proposed by', shown(content.proposed_by));
  const authority = authorityOf(state.authorization);
  if (authority !== undefined) row(output, 'authority', authority);
  if (authority === undefined || state.approvals.length > 0)
    row(output, 'approvals', countOf(state.approvals, content));
  row(output, 'policy', `${outcomeWord(state.decision.outcome)}: ${shown(state.decision.reason)}`);
  if (state.state === 'proposed') row(output, 'approve by', timeText(content.approve_by, now));
  if (state.state === 'approved' && state.launch_by !== null) row(output, 'run by', timeText(state.launch_by, now));
  if (content.flags.length > 0) row(output, 'flags', content.flags.join(', '));
  if (content.replaces !== null) row(output, 'replaces', content.replaces);
  if (content.revised_from !== null) row(output, 'copy of', content.revised_from);
}

/** What lets it run instead of signatures for this action. */
function authorityOf(authorization: State['authorization']): string | undefined {
  if (authorization?.kind === 'grant') return `standing approval ${authorization.grant_id}`;
  return authorization?.kind === 'policy' ? 'allowed by policy' : undefined;
}

function countOf(approvals: State['approvals'], { quorum, approvers }: State['content']): string {
  return `${approvals.length} of ${quorum} (${approvers.map(shown).join(', ') || 'nobody'})`;
}

/** What became of it. */
function writeCourse(output: Output, state: State, evidence: Json | undefined, now: number): void {
  for (const { no, outcome, code, external_ref, settled_by } of state.attempts) {
    const words = [outcome ?? 'running', code, external_ref, settled_by].filter((word) => word !== null);
    row(output, `attempt ${no}`, words.map(shown).join(' '));
  }
  if (evidence !== undefined)
    row(output, 'evidence', shown(typeof evidence === 'string' ? evidence : JSON.stringify(evidence)));
  if (state.retry !== null) {
    const { approvals, launch_by } = state.retry;
    const until = launch_by === null ? '' : `, run by ${timeText(launch_by, now)}`;
    row(output, 'run again', `approvals ${countOf(approvals, state.content)}${until}`);
  }
  if (state.replaced_by !== null) row(output, 'replaced by', state.replaced_by);
  if (state.superseded_by !== null) row(output, 'changed to', state.superseded_by);
  if (state.closed !== null) {
    row(output, 'closed', [state.closed.how, state.closed.by, state.closed.words].map(shown).join(' '));
  }
  if (state.late_result !== null) row(output, 'late result', shown(state.late_result.outcome));
}
