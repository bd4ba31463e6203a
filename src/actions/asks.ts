/**
 * The bounds of what one agent asks of people, as a proposal's commit keeps them.
 * Source: spec authority (approval rules).
 */
import { askBoundsOf } from '../approvals/index.js';
import type { Refusal } from '../core/index.js';
import { type AskBounds, agentKind, agentRecord, decideAsk } from '../identity/index.js';
import type { NewEvent, RecordRef, View } from '../ledger/index.js';
import { actionKind } from './evolve.js';
import type { Services } from './services.js';

/** What the commit needs to know before it begins. */
export interface Asking {
  readonly principal: string;
  readonly bounds: AskBounds;
  /** Actions that waited when the agent asked last: the commit looks at each again. */
  readonly known: readonly string[];
}

/** Undefined for a proposer without bounds: nothing is written for it. */
export async function askingOf(services: Services, principal: string): Promise<Asking | undefined> {
  const bounds = askBoundsOf(services.trust().config, principal);
  if (bounds.pending === 'none' && bounds.perHour === 'none') return undefined;
  const state = (await services.ledger.read(agentKind, principal))?.state;
  return { principal, bounds, known: state?.waiting ?? [] };
}

export function askingRecords({ principal, known }: Asking): { reads: RecordRef[]; writes: RecordRef[] } {
  return { reads: known.map((id) => ({ kind: 'action', id })), writes: [agentRecord(principal)] };
}

/** The event that counts an action which waits for a person. Refuses `too_many_pending`. */
export function askEvent(view: View, { principal, bounds, known }: Asking, actionId: string): NewEvent | Refusal {
  const state = view.get(agentKind, principal)?.state;
  // What this agent asked for since is not named by the commit: it is a moment old, and waits.
  const waits = (id: string) => !known.includes(id) || view.get(actionKind, id)?.state.state === 'proposed';
  return decideAsk(principal, state, state?.waiting.filter(waits) ?? [], actionId, bounds, view.now);
}
