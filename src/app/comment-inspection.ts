/**
 * A comment as an audit of the log sees it: said about an action that there is, with its one text, in the voice of
 * whoever wrote the event.
 * Source: spec ledger (verify).
 */
import type { LedgerEvent } from '../ledger/index.js';
import type { AuditSource } from './action-inspection.js';

/** INVARIANT: a comment stands with an action, and speaks for nobody else (audit.comment). */
export async function commentDefect(source: AuditSource, event: LedgerEvent): Promise<string | undefined> {
  const { record, type, data, payloads, actor, at } = event;
  const proposed = await source.eventAt({ kind: 'action', id: record.id }, 0);
  if (proposed === undefined || proposed.at > at) return 'this was said about no action';
  const isComment = type === 'comment-added' && payloads.length === 1 && data['text_ref'] === payloads[0];
  const isOwn = (data['via'] === 'session') === actor.startsWith('human:');
  return isComment && isOwn ? undefined : 'this is no comment that the gate wrote';
}
