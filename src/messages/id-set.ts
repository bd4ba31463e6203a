/**
 * A set of ids that keeps 128 bits of each one's SHA-256 and not the id: 21 to 43 bytes for an id, outside the heap
 * of the engine, where strings in a `Set` would take some hundred. An id that is in it is never missed.
 */
import { sha256Hex } from '../core/index.js';

const WORDS = 4;
const SLOTS_FIRST = 1_024;
/** The table doubles when it is fuller than this. */
const FULL = 0.75;

export class IdSet {
  /** Open addressing by the first word; a slot of zeros is empty. */
  #table = new Uint32Array(SLOTS_FIRST * WORDS);
  #size = 0;

  /** Adds an id; false when it was in the set. */
  add(id: string): boolean {
    if (this.#size >= (this.#table.length / WORDS) * FULL) this.#grow();
    const hex = sha256Hex(id);
    const words = [0, 8, 16, 24].map((at) => Number.parseInt(hex.slice(at, at + 8), 16));
    const isNew = insert(this.#table, words);
    if (isNew) this.#size += 1;
    return isNew;
  }

  #grow(): void {
    const table = new Uint32Array(this.#table.length * 2);
    for (let at = 0; at < this.#table.length; at += WORDS) {
      const words = this.#table.subarray(at, at + WORDS);
      if (!isEmpty(words, 0)) insert(table, words);
    }
    this.#table = table;
  }
}

function insert(table: Uint32Array, words: ArrayLike<number>): boolean {
  const mask = table.length / WORDS - 1;
  for (let slot = (words[0] as number) & mask; ; slot = (slot + 1) & mask) {
    const at = slot * WORDS;
    if (isEmpty(table, at)) {
      table.set(words, at);
      return true;
    }
    if (isSame(table, at, words)) return false;
  }
}

function isEmpty(table: Uint32Array, at: number): boolean {
  return table[at] === 0 && table[at + 1] === 0 && table[at + 2] === 0 && table[at + 3] === 0;
}

function isSame(table: Uint32Array, at: number, words: ArrayLike<number>): boolean {
  return (
    table[at] === words[0] && table[at + 1] === words[1] && table[at + 2] === words[2] && table[at + 3] === words[3]
  );
}
