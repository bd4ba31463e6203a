/**
 * Whether a human act could be carried out as things stand: nobody is asked to sign for what is refused afterwards.
 * Source: spec authority (human authority).
 */
import { Refusal } from '../core/index.js';
import { decideOverReads, type Ledger } from '../ledger/index.js';
import { actEvents, type Signed } from './act-events.js';
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
  const signed = [{ request, credential_id: '' }];
  const decided = await decideOverReads(ledger, now, (view) => actEvents(view, act, facts, signed));
  return decided instanceof Refusal ? decided : undefined;
}
