/**
 * Which events become entries of a project's thread, and in which words: the one place where the parts meet the thread.
 */
import { type ActionState, actionKind, type RefusedSubject, threadText } from '../actions/index.js';
import type { RequestDocument } from '../approvals/index.js';
import { isoTime } from '../core/index.js';
import type { LedgerEvent, ProjectionView } from '../ledger/index.js';
import type { ThreadEntry } from '../messages/index.js';

export function threadEntry(event: LedgerEvent, view: ProjectionView): ThreadEntry | undefined {
  switch (event.record.kind) {
    case 'action': {
      const state = view.get(actionKind, event.record.id)?.state;
      return state === undefined ? undefined : actionEntry(event, state);
    }
    case 'request':
      return event.type === 'request-opened' ? requestEntry(event, view) : undefined;
    case 'refusal':
      return event.type === 'refused' ? refusedEntry(event, view) : undefined;
    default:
      return undefined;
  }
}

/** The state stands at the end of the batch, so an entry speaks of the event alone where they could differ. */
function actionEntry(event: LedgerEvent, state: ActionState): ThreadEntry {
  return { thread: state.content.project, intent: 'assert', text: threadText(event, state) };
}

function requestEntry(event: LedgerEvent, view: ProjectionView): ThreadEntry | undefined {
  const { request } = event.data as unknown as { request: RequestDocument };
  if (request.kind !== 'action') return undefined;
  const action = view.get(actionKind, request.subject)?.state;
  if (action === undefined) return undefined;
  const text =
    `${request.subject} asks ${request.approver} to ${request.decision} until ${isoTime(request.exp)}: ` +
    `countersign approver sign ${request.request_id}`;
  return { thread: action.content.project, intent: 'escalate', text };
}

function refusedEntry(event: LedgerEvent, view: ProjectionView): ThreadEntry | undefined {
  const { code, verb, action_id } = event.data as unknown as RefusedSubject & { code: string };
  const action = action_id === undefined ? undefined : view.get(actionKind, action_id)?.state;
  if (action === undefined || (verb !== 'approve' && verb !== 'execute' && verb !== 'fetch-receipt')) return undefined;
  const text = `${action_id} ${verb} refused [${code}] for ${event.actor}`;
  return { thread: action.content.project, intent: 'assert', text };
}
