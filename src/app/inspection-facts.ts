/**
 * What single events say to an audit of the log. Pure.
 */
import { type ActionContent, type Attempt, needsPerson } from '../actions/index.js';
import type { JsonObject } from '../core/index.js';
import type { LedgerEvent } from '../ledger/index.js';
import type { Decision } from '../policy/index.js';

export type Authorization = Attempt['authorization'];

/** An action that is not closed. */
export interface OpenAction {
  readonly content: ActionContent;
  readonly decision: Decision;
  state: string;
  authorization: Authorization | null;
  launchBy: number;
}

/** What a person established, and not the connector. */
export function isFound({ type, data }: LedgerEvent): boolean {
  const settles = type === 'action-confirmed' || type === 'action-failed' || type === 'late-result-settled';
  return settles && data.settled_by === 'human';
}

/** Whether policy allowed a launch by this decision, at the proposal and again. */
export function isAllowed(
  { authorization, decision, content }: OpenAction,
  attempt: Attempt,
  decisionId: string,
): boolean {
  const same = authorization?.kind === 'policy' && authorization.decision_id === decisionId;
  const allows = decision.decision_id === decisionId && decision.outcome === 'ALLOW';
  return same && allows && attempt.decision.outcome === 'ALLOW' && !needsPerson(content.flags);
}

/** The nonces that an event used up. */
export function noncesOf(event: LedgerEvent): ReadonlySet<string> {
  const taken = (event.data.claims as JsonObject | undefined)?.taken as readonly (readonly string[])[] | undefined;
  return new Set((taken ?? []).filter(([scope]) => scope === 'nonce').map(([, , key]) => key as string));
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
