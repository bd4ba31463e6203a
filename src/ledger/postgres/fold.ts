/**
 * The state of a record from its row and its events, checked: each event hashed again, each linked to the one before,
 * the document beside them equal to what they lead to. Pure.
 *
 * A state that this process knows already is carried on from: only the events behind it are needed, and the first of
 * them has to name its head.
 */
import { Fault, frozen, type Json, parseTrusted, Refusal } from '../../core/index.js';
import { documentOf } from '../admit.js';
import type { StoredState } from '../batch.js';
import { eventHash } from '../event.js';
import { type AnyKind, type Kinds, type LedgerEvent, type RecordRef, recordName } from '../kind.js';
import { eventDefect } from '../local-reader.js';
import { type EventRow, eventOf } from '../store.js';
import type { Known } from './remembered.js';
import type { RecordHead } from './rows.js';
import { FOLD_MAX, FOLD_WHOLE_MAX } from './statements.js';

export interface FoldContext {
  readonly ledgerId: string;
  readonly kinds: Kinds;
}

export function kindOf({ kinds }: FoldContext, ref: RecordRef): AnyKind {
  const kind = kinds.get(ref.kind);
  if (kind === undefined) throw new Fault('internal', `kind ${ref.kind} is not registered`);
  return kind;
}

/**
 * Whether a record is believed by its last event and its document.
 * INVARIANT: one whose kind keeps none never is (postgres.remembered).
 */
function isLong(kind: AnyKind, row: RecordHead): boolean {
  const isKept = kind.keepsDocument === true && row.document !== undefined;
  return isKept && row.revision >= wholeUpTo(kind) && row.version === kind.version;
}

/** The revision up to which all events of a record are followed. */
export function wholeUpTo({ ofLast }: AnyKind): number {
  return ofLast === undefined ? FOLD_WHOLE_MAX : FOLD_MAX;
}

/**
 * The state of a row, from the events that `STATEMENTS.load` found behind what is known. Refuses `invalid` for
 * a record of a newer program; faults `corrupt`.
 */
export function stateOf(
  context: FoldContext,
  row: RecordHead,
  events: readonly EventRow[],
  known: Known | undefined,
): StoredState {
  const kind = kindOf(context, row.ref);
  if (row.version > kind.version) {
    throw new Refusal('invalid', 'the record was written by a newer version of countersign');
  }
  if (known?.stored.head === row.head && known.document === row.document) return known.stored;
  const isCarriedOn = known !== undefined && known.stored.revision + 1 === (events[0]?.revision ?? row.revision + 1);
  if (isLong(kind, row) && !isCarriedOn) return lastOnly(context, kind, row, events.at(-1));
  const fold = new Fold(context, row.ref, isCarriedOn ? known.stored : undefined);
  for (const event of events) fold.add(event);
  return fold.finish(row);
}

/** Follows the events of one record. */
export class Fold {
  readonly #context: FoldContext;
  readonly #ref: RecordRef;
  #state: Json | undefined;
  #before: LedgerEvent | undefined;

  constructor(context: FoldContext, ref: RecordRef, from: StoredState | undefined) {
    this.#context = context;
    this.#ref = ref;
    if (from === undefined) return;
    const { revision, head, headAt, state } = from;
    this.#state = state;
    this.#before = { record: ref, revision, hash: head, at: headAt } as LedgerEvent;
  }

  add(row: EventRow): void {
    const defect = eventDefect(this.#context.ledgerId, row, this.#before);
    if (defect !== undefined) throw corrupt(this.#ref, row.revision, defect);
    const event = eventOf(row);
    try {
      this.#state = kindOf(this.#context, this.#ref).evolve(this.#state, event) as Json;
    } catch (error) {
      const path = `${recordName(this.#ref)}#${row.revision}`;
      throw new Fault('corrupt', 'the event leads to no state', error, { path });
    }
    this.#before = event;
  }

  finish(row: RecordHead): StoredState {
    const before = this.#before;
    if (before === undefined || this.#state === undefined) throw corrupt(row.ref, 0, 'the record has no events');
    if (before.hash !== row.head || before.revision !== row.revision || before.at !== row.headAt) {
      throw corrupt(row.ref, row.revision, 'the record does not stand at its last event');
    }
    const kind = kindOf(this.#context, row.ref);
    if (row.version === kind.version && documentOf(kind, this.#state) !== row.document) {
      throw corrupt(row.ref, row.revision, 'the state is not the one that the events lead to');
    }
    return storedOf(row, frozen(this.#state));
  }
}

function lastOnly({ ledgerId }: FoldContext, kind: AnyKind, row: RecordHead, last: EventRow | undefined): StoredState {
  if (last === undefined || last.hash !== row.head || eventHash(ledgerId, last) !== last.hash) {
    throw corrupt(row.ref, row.revision, 'the record does not stand at its last event');
  }
  if (kind.ofLast !== undefined && documentOf(kind, kind.ofLast(eventOf(last)) as Json) !== row.document) {
    throw corrupt(row.ref, row.revision, 'the state is not the one that the events lead to');
  }
  return storedOf(row, frozen(parseTrusted(row.document as string)));
}

function storedOf(row: RecordHead, state: Json): StoredState {
  const { ref, revision, head, headAt } = row;
  return { ref, id: ref.id, revision, head, headAt, state };
}

export function corrupt(ref: RecordRef, revision: number, what: string): Fault {
  return new Fault('corrupt', what, undefined, { path: `${recordName(ref)}#${revision}` });
}
