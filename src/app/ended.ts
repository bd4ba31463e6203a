/**
 * Events of the log that say how an action ended: what a program that asked for it waits for, and what people hear
 * whose time to approve it is over.
 * Source: spec doors (embedding: `action.settled`; notifications).
 */
import { actionKind } from '../actions/index.js';
import type { Ledger, LedgerEvent } from '../ledger/index.js';
import { type Notice, noticeOfSettled, noticesOfWaiting, type SettledFacts } from '../notifications/index.js';
import type { TrustConfig } from '../policy/index.js';
import { actionWaiting, knownPeople } from './waiting.js';

const STATES: Readonly<Record<string, SettledFacts['state']>> = {
  'action-confirmed': 'confirmed',
  'action-failed': 'failed',
  'action-outcome-unknown': 'unknown',
  'action-cancelled': 'cancelled',
};

type Said = { readonly how?: unknown; readonly attempt?: unknown; readonly outcome?: unknown };

export interface LogWorld {
  readonly ledger: Ledger;
  readonly config: TrustConfig;
  readonly now: number;
  /** Whether a program wants to hear how actions ended. */
  readonly isSettledWanted: boolean;
}

/** The notices of some events. */
export async function noticesOfLog(world: LogWorld, events: readonly LedgerEvent[]): Promise<readonly Notice[]> {
  const { ledger, now, isSettledWanted } = world;
  const settled = isSettledWanted ? await Promise.all(events.map((event) => settledNotice(ledger, event, now))) : [];
  const expired = events.filter((event) => event.record.kind === 'action' && isExpiry(event));
  const told = expired.length === 0 ? [] : await expiredNotices(world, expired);
  return [...settled.filter((notice): notice is Notice => notice !== undefined), ...told];
}

function isExpiry({ type, data }: LedgerEvent): boolean {
  return type === 'action-cancelled' && (data as Said).how === 'expired';
}

/** The same news as that of the inbox, where somebody ended the action before a look saw that its time was over. */
async function expiredNotices({ ledger, now, config }: LogWorld, events: readonly LedgerEvent[]) {
  const people = await knownPeople(ledger, now);
  const found = await Promise.all(
    events.map(async ({ record }) => {
      const state = (await ledger.read(actionKind, record.id))?.state;
      const waiting = state === undefined ? undefined : actionWaiting(state, { ledger, now, config, people });
      return waiting === undefined ? [] : noticesOfWaiting(waiting, people.presence, now);
    }),
  );
  return found.flat();
}

/** Undefined for an event that settles nothing. */
async function settledNotice(ledger: Ledger, event: LedgerEvent, now: number): Promise<Notice | undefined> {
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
