/**
 * Whether a human act could be carried out as things stand: outside of any commit, for what is shown to people.
 * Source: spec authority (human authority).
 */
import type { Refusal } from '../core/index.js';
import { decideOverReads, type Ledger } from '../ledger/index.js';
import { actRefusal, type Signed } from './act-events.js';
import type { Act } from './act-schema.js';
import { type People, peopleOf } from './signers.js';

/** Why an act could not be carried out as things stand, once this person has signed it; undefined where it could. */
export async function actBarrier(
  ledger: Ledger,
  act: Act,
  request: Signed['request'],
  now: number,
  people?: People,
): Promise<Refusal | undefined> {
  const facts = people ?? (await peopleOf(ledger));
  return decideOverReads(ledger, now, (view) => actRefusal(view, act, facts, [request]));
}
