/**
 * What this process knows of a record: its state, and the events that it read and hashed or wrote itself. A verified
 * read compares the rows of now with those: where every byte is the same, every hash is, and the state need not be
 * made again. Pure.
 */
import { LIMITS } from '../../core/index.js';
import type { StoredState } from '../batch.js';
import type { EventRow } from '../store.js';
import type { RecordHead } from './rows.js';

/** What the table of events holds of one. */
export type EventColumns = Omit<EventRow, 'sequence' | 'logHash'>;

/** A state that this process folded, read or wrote, with the document that stood beside it. */
export interface Known {
  readonly stored: StoredState;
  readonly document: string | undefined;
  /** All events of the record; undefined where they are not known, or too long to be kept. */
  readonly events?: readonly EventColumns[];
}

/** Whether the payloads of a record have to be compared, and are few. */
export function hasFewPayloads({ events = [] }: Known): boolean {
  const count = events.reduce((sum, { payloads }) => sum + payloads.length, 0);
  return count > 0 && count <= LIMITS.comparedPayloadsMax;
}

/** The events of a record behind those that were known of it; undefined where they leave a gap, or grow too long. */
export function eventsBehind(
  known: readonly EventColumns[] | undefined,
  more: readonly EventColumns[],
): readonly EventColumns[] | undefined {
  if (known === undefined || more[0]?.revision !== known.length) return undefined;
  const all = [...known, ...more];
  const chars = all.reduce((sum, { dataText }) => sum + dataText.length, 0);
  return chars <= LIMITS.rememberedCharsMax ? all : undefined;
}

/**
 * Whether a record and all that stands under it is what this process knows, byte for byte. `hasPayload`: whether the
 * payload with the address stands at the event, unchanged.
 * INVARIANT: what is remembered lets no changed row through (postgres.remembered).
 */
export function isAsKnown(
  { stored, document, events: own }: Known,
  row: RecordHead,
  events: readonly EventColumns[],
  hasPayload: (revision: number, address: string) => boolean,
): boolean {
  if (own === undefined || own.length !== events.length) return false;
  if (row.head !== stored.head || row.headAt !== stored.headAt || row.revision !== stored.revision) return false;
  if (row.document !== document) return false;
  return events.every((event, at) => {
    const known = own[at] as EventColumns;
    return isSame(known, event) && event.payloads.every((address) => hasPayload(event.revision, address));
  });
}

function isSame(one: EventColumns, other: EventColumns): boolean {
  return (
    one.revision === other.revision &&
    one.hash === other.hash &&
    one.prev === other.prev &&
    one.type === other.type &&
    one.at === other.at &&
    one.actor === other.actor &&
    one.dataText === other.dataText &&
    one.payloads.length === other.payloads.length &&
    one.payloads.every((address, at) => address === other.payloads[at])
  );
}
