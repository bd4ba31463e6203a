/** What became of an action so far, in order: asked, allowed or signed, ran, and how it ended. */
import type { ReactNode } from 'react';
import type { ActionDocument } from '../documents.js';
import { CLOSINGS, nameOf, STATES, shown, timeOf, wordOf } from '../words.js';

interface Step {
  readonly what: ReactNode;
  readonly at?: number | null;
  readonly isOpen?: boolean;
}

/** Approved by people, allowed by policy, or covered: never one in the words of another. */
export function authorityOf({ authorization, approvals, content, decision }: ActionDocument): string | undefined {
  switch (authorization?.kind) {
    case 'policy':
      return `allowed by policy: ${shown(decision.reason)}`;
    case 'grant':
      return `covered by the standing approval ${authorization.grant_id}`;
    case 'receipts':
      return `approved by ${approvals.map(({ approver }) => nameOf(approver)).join(', ')}`;
    default:
      return approvals.length === 0 ? undefined : `${approvals.length} of ${content.quorum} approvals`;
  }
}

export function stateWords(action: ActionDocument): string {
  if (action.state === 'cancelled') return wordOf(CLOSINGS, action.closed?.how ?? 'withdrawn');
  const isAllowed = action.state === 'approved' && action.authorization?.kind === 'policy';
  return isAllowed ? 'allowed by policy, not run yet' : wordOf(STATES, action.state);
}

function stepsOf(action: ActionDocument): readonly Step[] {
  const { content, attempts, closed, late_result: late, state } = action;
  const steps: Step[] = [{ what: `asked by ${shown(content.proposed_by)}`, at: action.proposed_at }];
  const authority = authorityOf(action);
  if (authority !== undefined) steps.push({ what: authority });
  if (state === 'proposed') {
    const missing = content.quorum - action.approvals.length;
    steps.push({ what: `waits for ${missing} ${missing === 1 ? 'approval' : 'approvals'}`, isOpen: true });
  }
  for (const attempt of attempts) {
    const again = attempt.no > 1 ? ` (attempt ${attempt.no})` : '';
    steps.push({ what: `ran${again}, started by ${shown(attempt.launched_by)}`, at: attempt.launched_at });
    if (attempt.outcome === null) steps.push({ what: 'running', isOpen: true });
    else {
      const more = [attempt.code, attempt.external_ref].filter((one) => one !== null).map(shown);
      const said = more.length === 0 ? '' : `: ${more.join(', ')}`;
      steps.push({ what: `${wordOf(STATES, attempt.outcome)}${said}`, at: attempt.finished_at });
    }
  }
  if (state === 'approved') steps.push({ what: 'waits for its agent to run it', isOpen: true });
  if (late !== null) steps.push({ what: `a later result contradicts this: ${wordOf(STATES, late.outcome)}` });
  if (closed !== null) steps.push({ what: `${wordOf(CLOSINGS, closed.how)} by ${shown(closed.by)}` });
  return steps;
}

const DOT = 'absolute top-1.5 -left-[23px] size-3 rounded-full border-2 border-accent';

export function Timeline({ action }: { readonly action: ActionDocument }) {
  return (
    <ol className="space-y-3 border-l-2 border-line pl-4">
      {stepsOf(action).map(({ what, at, isOpen = false }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps are in order, and never move
        <li key={place} className="relative">
          <span aria-hidden="true" className={`${DOT} ${isOpen ? 'bg-card' : 'bg-accent'}`} />
          <bdi>{what}</bdi>
          {at === undefined || at === null ? null : <p className="text-sm text-soft">{timeOf(at)}</p>}
        </li>
      ))}
    </ol>
  );
}
