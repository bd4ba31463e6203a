/**
 * A map by the name of a record. Each kind has a map of its own, by id, so that no name has to be put together for a
 * look: a batch looks some thousand times.
 */
import type { KindName, RecordRef } from './kind.js';

export class RecordMap<Value> {
  readonly #kinds = new Map<KindName, Map<string, Value>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(ref: RecordRef): Value | undefined {
    return this.#kinds.get(ref.kind)?.get(ref.id);
  }

  has(ref: RecordRef): boolean {
    return this.#kinds.get(ref.kind)?.has(ref.id) === true;
  }

  set(ref: RecordRef, value: Value): void {
    let ids = this.#kinds.get(ref.kind);
    if (ids === undefined) {
      ids = new Map();
      this.#kinds.set(ref.kind, ids);
    }
    const before = ids.size;
    ids.set(ref.id, value);
    this.#size += ids.size - before;
  }

  delete(ref: RecordRef): void {
    if (this.#kinds.get(ref.kind)?.delete(ref.id) === true) this.#size -= 1;
  }

  /** Removes a record that was put in first, of the kind that has the most. */
  deleteOldest(): void {
    let most: [KindName, Map<string, Value>] | undefined;
    for (const entry of this.#kinds) if (most === undefined || entry[1].size > most[1].size) most = entry;
    const oldest = most?.[1].keys().next();
    if (most !== undefined && oldest?.done === false) this.delete({ kind: most[0], id: oldest.value });
  }

  clear(): void {
    this.#kinds.clear();
    this.#size = 0;
  }

  *values(): IterableIterator<Value> {
    for (const ids of this.#kinds.values()) yield* ids.values();
  }
}
