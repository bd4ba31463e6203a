/**
 * What stands with an action by its address: the evidence of an attempt, whichever of its events it came with.
 */
import { type Json, parseTrusted, utf8Decode } from '../core/index.js';
import type { Ledger } from '../ledger/index.js';

/** The evidence as it was given; undefined where there is none, or it was erased. */
export async function evidenceOf(
  ledger: Pick<Ledger, 'events' | 'payload'>,
  actionId: string,
  ref: string | null,
): Promise<Json | undefined> {
  const record = { kind: 'action', id: actionId } as const;
  for (let from = 0; ref !== null; ) {
    const events = await ledger.events(record, from);
    const at = events.find(({ payloads }) => payloads.includes(ref));
    if (at === undefined && events.length > 0) {
      from += events.length;
      continue;
    }
    const bytes = at && (await ledger.payload(record, at.revision, ref));
    const text = bytes === undefined ? undefined : utf8Decode(bytes);
    return text === undefined ? undefined : parseTrusted(text);
  }
  return undefined;
}
