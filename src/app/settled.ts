/**
 * Events of the log that say how an action ended: what a program that asked for it waits for.
 * Source: spec doors (embedding: `action.settled`).
 */
import { actionKind } from '../actions/index.js';
import type { Ledger, LedgerEvent } from '../ledger/index.js';
import { type Notice, noticeOfSettled, type SettledFacts } from '../notifications/index.js';

const STATES: Readonly<Record<string, SettledFacts['state']>> = {
  'action-confirmed': 'confirmed',
  'action-failed': 'failed',
  'action-outcome-unknown': 'unknown',
  'action-cancelled': 'cancelled',
};

type Said = { readonly how?: unknown; readonly attempt?: unknown; readonly outcome?: unknown };

/** Undefined for an event that settles nothing. */
export async function settledNotice(ledger: Ledger, event: LedgerEvent, now: number): Promise<Notice | undefined> {
  if (event.record.kind !== 'action') return undefined;
  const { how, attempt, outcome } = event.data as Said;
  const isLate = event.type === 'late-result-settled' && (outcome === 'confirmed' || outcome === 'failed');
  const state = isLate ? (outcome as 'confirmed' | 'failed') : STATES[event.type];
  if (state === undefined) return undefined;
  const content = (await ledger.read(actionKind, event.record.id))?.state.content;
  if (content === undefined) return undefined;
  return noticeOfSettled(
    {
      ...{ id: event.record.id, occasion: String(event.revision), at: event.at, state, digest: content.digest },
      ...{ how: typeof how === 'string' ? how : null, attempt: typeof attempt === 'number' ? attempt : null },
      ...{ class: content.class, operation: `${content.connector} ${content.operation}`, project: content.project },
    },
    now,
  );
}
