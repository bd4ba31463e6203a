/**
 * A whole ledger as one stream: every event in the order of the log with its payloads, then records, then claims, each
 * in the order of its key. So a ledger moves from one kind of store to another, and so two stores are compared.
 *
 * A stream holds one item at a time, so that memory does not grow with the store. Its fingerprint covers each byte that
 * a store keeps; two stores hold the same ledger exactly when their fingerprints are equal.
 * Source: spec ledger (backends).
 */
import { assert, contentRef, Fault, LIMITS, Refusal } from '../core/index.js';
import type { TakenClaim } from './batch.js';
import { EMPTY_LOG_HASH, nextLogHash } from './event.js';
import { recordName } from './kind.js';
import { type EventRow, eventOf, type LocalStore, type RecordRow } from './store.js';

export type Item =
  | { readonly is: 'event'; readonly row: EventRow; readonly payloads: readonly ItemPayload[] }
  | { readonly is: 'record'; readonly row: RecordRow }
  | { readonly is: 'claim'; readonly claim: TakenClaim };

/** A payload that stands beside its event. One that was erased is in no stream. */
export interface ItemPayload {
  readonly address: string;
  readonly bytes: Uint8Array;
}

export type Items = Iterable<Item> | AsyncIterable<Item>;

/** Reads a store inside this process. Nobody may write to it meanwhile. */
export function* itemsOf(store: LocalStore): Generator<Item> {
  for (let after = 0, isMore = true; isMore; ) {
    const rows = store.log(after, LIMITS.pageRowsMax);
    for (const row of rows) {
      const payloads = [...row.payloads].sort().flatMap((address) => {
        const bytes = store.payload(row.record, row.revision, address);
        return bytes === undefined ? [] : [{ address, bytes }];
      });
      yield { is: 'event', row, payloads };
    }
    after = rows.at(-1)?.sequence ?? after;
    isMore = rows.length === LIMITS.pageRowsMax;
  }
  for (const row of store.scanRecords()) yield { is: 'record', row };
  for (const claim of store.scanClaims()) yield { is: 'claim', claim };
}

/** Writes a stream to an empty store inside this process, in one transaction. */
export async function writeItems(store: LocalStore, items: Items): Promise<void> {
  if (!store.begin()) throw new Refusal('busy', 'another process keeps the store locked');
  try {
    for await (const item of items) writeItem(store, item);
    store.commit();
  } catch (error) {
    store.rollback();
    throw error;
  }
}

function writeItem(store: LocalStore, item: Item): void {
  if (item.is === 'record') store.writeRecord(item.row, true);
  else if (item.is === 'claim') store.writeClaim(item.claim);
  else {
    const { row, payloads } = item;
    const { sequence, logHash, dataText, record, revision } = row;
    store.writeEvent(sequence, logHash, { ...eventOf(row), dataText });
    for (const { address, bytes } of payloads) store.writePayload(sequence, { ref: address, bytes, record, revision });
  }
}

/** One value for everything that passed through, in its order. */
export class Fingerprint {
  #value = EMPTY_LOG_HASH;
  #items = 0;

  get value(): string {
    return `${this.#items} ${this.#value}`;
  }

  /** Hands a stream on, and takes each item in. */
  async *through(items: Items): AsyncGenerator<Item> {
    for await (const item of items) {
      this.#add(item);
      yield item;
    }
  }

  /** The fingerprint of a stream. */
  static async of(items: Items): Promise<string> {
    const fingerprint = new Fingerprint();
    for await (const item of items) fingerprint.#add(item);
    return fingerprint.value;
  }

  #add(item: Item): void {
    this.#items += 1;
    this.#value = nextLogHash(this.#value, contentRef(JSON.stringify(textsOf(item))));
  }
}

/** All fields of an item, in one spelling. */
function textsOf(item: Item): readonly unknown[] {
  if (item.is === 'claim') {
    const { scope, principal, key, command, record, revision } = item.claim;
    return ['claim', scope, principal, key, command, recordName(record), revision];
  }
  if (item.is === 'record') {
    const { ref, revision, head, headAt, version, document = null, columns } = item.row;
    const { project = null, status = null, principal = null, due = null, lookup = null } = columns;
    const place = [project, status, principal, due, lookup];
    return ['record', recordName(ref), revision, head, headAt, version, document, ...place];
  }
  const { sequence, logHash, record, revision, type, at, actor, dataText, payloads, prev, hash } = item.row;
  for (const { address, bytes } of item.payloads) {
    if (contentRef(bytes) === address) continue;
    const path = `${recordName(record)}#${revision}`;
    throw new Fault('corrupt', 'a payload is not the one that was written', undefined, { path });
  }
  const standing = item.payloads.map(({ address }) => address);
  const names = [recordName(record), revision, type, at, actor, dataText, payloads, prev, hash];
  return ['event', sequence, logHash, ...names, standing];
}

/** Faults `corrupt` unless two fingerprints are the same. */
export function demandSame(copied: string, stands: string): void {
  assert(copied.length > 0, 'a fingerprint is no empty text');
  if (copied !== stands) throw new Fault('corrupt', 'the copy is not the ledger that was copied');
}
