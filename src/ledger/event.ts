/**
 * The bytes under an event's hash, and the running hash over the whole log. Pure.
 *
 * event hash = digest(`countersign-event/1`, {actor, at, data, ledger_id, payloads, prev, record, revision, type});
 * the members stand here in their canonical order, so that the stored text of `data` enters as it is: another byte,
 * another hash.
 * Source: spec ledger.
 */
import { canonicalize, digestBytes, sha256Hex } from '../core/index.js';
import { type RecordRef, recordName } from './kind.js';

/** An event with its data as canonical text, as a store holds it. */
export interface EventText {
  readonly record: RecordRef;
  readonly revision: number;
  readonly type: string;
  readonly at: number;
  readonly actor: string;
  readonly dataText: string;
  readonly payloads: readonly string[];
  readonly prev: string | null;
}

/** Strings in here are ids, names and digests; `JSON.stringify` of a well-formed string is its canonical form. */
export function eventHash(ledgerId: string, event: EventText): string {
  const payloads = event.payloads.length === 0 ? '[]' : canonicalize([...event.payloads]);
  const prev = event.prev === null ? 'null' : `"${event.prev}"`;
  return digestBytes(
    'countersign-event/1',
    `{"actor":${JSON.stringify(event.actor)},"at":${event.at},"data":${event.dataText},"ledger_id":"${ledgerId}",` +
      `"payloads":${payloads},"prev":${prev},"record":${JSON.stringify(recordName(event.record))},` +
      `"revision":${event.revision},"type":${JSON.stringify(event.type)}}`,
  );
}

/** The log hash before the first entry. */
export const EMPTY_LOG_HASH = `sha256:${'0'.repeat(64)}`;

export function nextLogHash(before: string, hash: string): string {
  return `sha256:${sha256Hex(`${before}\n${hash}`)}`;
}
