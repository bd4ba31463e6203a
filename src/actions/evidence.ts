/**
 * What stands with an action by its address: the evidence of an attempt, whichever of its events it came with.
 */
import { type Json, parseTrusted, utf8Decode } from '../core/index.js';
import type { Ledger } from '../ledger/index.js';
import type { Attempt } from './schema.js';

type Reading = Pick<Ledger, 'events' | 'payload'>;

/** What a connector answered; undefined where there is none, or it was erased. */
export async function evidenceOf(ledger: Reading, actionId: string, ref: string | null): Promise<Json | undefined> {
  const text = await evidenceText(ledger, actionId, ref);
  return text === undefined ? undefined : parseTrusted(text);
}

/** The same of any attempt: what a person found out are words. */
export async function evidenceOfAttempt(
  ledger: Reading,
  actionId: string,
  { settled_by, evidence_ref }: Attempt,
): Promise<Json | undefined> {
  const read = settled_by === 'human' ? evidenceText : evidenceOf;
  return read(ledger, actionId, evidence_ref);
}

async function evidenceText(ledger: Reading, actionId: string, ref: string | null): Promise<string | undefined> {
  const record = { kind: 'action', id: actionId } as const;
  for (let from = 0; ref !== null; ) {
    const events = await ledger.events(record, from);
    const at = events.find(({ payloads }) => payloads.includes(ref));
    if (at === undefined && events.length > 0) {
      from += events.length;
      continue;
    }
    const bytes = at && (await ledger.payload(record, at.revision, ref));
    return bytes === undefined ? undefined : utf8Decode(bytes);
  }
  return undefined;
}
