/**
 * What one agent asks of people: how many of its actions wait for them, and how often it asked within the hour. Pure.
 *
 * INVARIANT: an agent can not bury people under questions (authority.asks.capped). Its record is written in the commit
 * that makes an action wait for a person, and by agents without bounds never.
 * Source: spec authority (approval rules).
 */
import { Refusal } from '../core/index.js';
import type { Kind, LedgerEvent, NewEvent, RecordRef } from '../ledger/index.js';

const HOUR_MS = 3_600_000;

export type AgentState = {
  /** Actions that waited for a person when the agent last asked, and the one that it asked for then. */
  readonly waiting: readonly string[];
  /** When it asked, within the hour before the last of these times; bounded by the bounds themselves. */
  readonly asked: readonly number[];
};

export interface AskBounds {
  readonly pending: number | 'none';
  readonly perHour: number | 'none';
}

export const agentKind: Kind<AgentState> = {
  name: 'agent',
  version: 1,
  keepsDocument: true,
  evolve: (_state, event) => afterAsk(event),
  ofLast: (event) => afterAsk(event),
  columns: () => ({ status: 'active' }),
};

function afterAsk(event: LedgerEvent): AgentState {
  const { waiting, asked } = event.data as AgentState;
  return { waiting, asked: [...asked, event.at] };
}

export function agentRecord(principal: string): RecordRef {
  return { kind: 'agent', id: principal };
}

/** `waiting` are the actions of the state that still wait, as the commit sees them. Refuses `too_many_pending`. */
export function decideAsk(
  principal: string,
  state: AgentState | undefined,
  waiting: readonly string[],
  actionId: string,
  bounds: AskBounds,
  now: number,
): NewEvent | Refusal {
  if (bounds.pending !== 'none' && waiting.length >= bounds.pending) {
    return new Refusal('too_many_pending', `${waiting.length} actions of this agent wait for people already`);
  }
  const counts = bounds.perHour !== 'none';
  const asked = counts ? (state?.asked.filter((at) => at > now - HOUR_MS) ?? []) : [];
  if (counts && asked.length >= Number(bounds.perHour)) {
    return new Refusal('too_many_pending', `this agent asked people ${asked.length} times within the hour`, {
      next: 'wait until the first of them is an hour ago',
    });
  }
  return { record: agentRecord(principal), type: 'agent-asked', data: { waiting: [...waiting, actionId], asked } };
}
