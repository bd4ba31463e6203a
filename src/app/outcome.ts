/**
 * What became of an action, as its launch told it: for whoever asks again when it is over.
 */
import { actionKind, evidenceOf, type Settled, tellingAttempt } from '../actions/index.js';
import type { Ledger } from '../ledger/index.js';

/** Undefined while it waits or runs, and for one that was never launched. */
export async function outcomeOf(ledger: Ledger, action_id: string): Promise<Settled | undefined> {
  const state = (await ledger.read(actionKind, action_id))?.state;
  const attempt = state === undefined ? undefined : tellingAttempt(state);
  if (state === undefined || attempt === undefined) return undefined;
  if (state.state !== 'confirmed' && state.state !== 'failed' && state.state !== 'unknown') return undefined;
  const { no, code, external_ref, evidence_ref, settled_by } = attempt;
  // What a person found out are words: no connector speaks in them.
  const evidence = settled_by === 'human' ? null : ((await evidenceOf(ledger, action_id, evidence_ref)) ?? null);
  return { action_id, state: state.state, attempt: no, code, external_ref, evidence };
}
