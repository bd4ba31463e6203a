/**
 * What a program hands over, copied once to plain data: null, truth values, numbers, texts, bytes, arrays without holes
 * and objects without a class. JSON as a text can't lie, an object in memory can: a getter answers otherwise the second
 * time, a proxy throws, an array has holes or no end.
 *
 * Each part is read once. What is over the limits is refused before it is walked, and what is no plain data with the
 * path of the first such part, in fixed words: nothing that the value holds or throws leaves.
 * Source: spec core (errors), doors (embedding).
 */
import { Refusal } from './errors.js';
import { jsonPath } from './json/index.js';
import { LIMITS } from './limits.js';
import { isWellFormed } from './utf8.js';

export interface PlainLimits {
  /** Bytes that the value has as JSON at least; 2 MiB unless given. Bytes in it are counted apart. */
  readonly bytesMax?: number;
}

/** What is handed over wraps JSON in some levels of its own. */
const DEPTH_MAX = LIMITS.depthMax + 8;

/**
 * A copy of `value` that nobody else holds. A member that is undefined stays one. Throws the `Refusal` `invalid`.
 */
export function plainCopy<Value>(value: Value, limits: PlainLimits = {}): Value {
  const copier = new Copier(limits.bytesMax ?? LIMITS.jsonBytesMax);
  try {
    return copier.copy(value) as Value;
  } catch (error) {
    // What the value throws by itself is never looked at, not even for its class.
    throw error === copier.refusal ? error : copier.refused('what was handed over can not be read');
  }
}

/** Made by a literal, by the reader or with no prototype: an object of a class carries more than its own keys say. */
export function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

class Copier {
  refusal: Refusal | undefined;
  /** Bytes of JSON, and contents, that may still come. */
  #left: number;
  #contentsLeft = LIMITS.contentsMax;
  readonly #path: (string | number)[] = [];

  constructor(bytesMax: number) {
    this.#left = bytesMax;
  }

  copy(value: unknown): unknown {
    switch (typeof value) {
      case 'undefined':
      case 'boolean':
      case 'number':
        this.#take(1);
        return value;
      case 'string':
        return this.#text(value);
      case 'object':
        return value === null ? this.#nothing() : this.#object(value);
      default:
        throw this.refused(`a ${typeof value} is no plain data`);
    }
  }

  refused(message: string): Refusal {
    this.refusal = new Refusal('invalid', message, { path: jsonPath(this.#path) });
    return this.refusal;
  }

  #take(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw this.refused('what was handed over is longer than the limit');
  }

  #nothing(): null {
    this.#take(1);
    return null;
  }

  #text(text: string): string {
    this.#take(text.length + 2);
    if (!isWellFormed(text)) throw this.refused('string holds half of a surrogate pair');
    return text;
  }

  #object(value: object): unknown {
    if (this.#path.length >= DEPTH_MAX) throw this.refused('nesting is deeper than the limit, or a cycle');
    this.#take(1);
    if (ArrayBuffer.isView(value)) return this.#bytes(value);
    if (Array.isArray(value)) return this.#array(value);
    if (!isPlain(value)) throw this.refused('object is not plain data');
    return this.#members(value as Readonly<Record<string, unknown>>);
  }

  #bytes(view: ArrayBufferView): Uint8Array {
    if (!(view instanceof Uint8Array)) throw this.refused('object is not plain data');
    this.#contentsLeft -= 1;
    if (this.#contentsLeft < 0 || view.byteLength > LIMITS.contentBytesMax) this.#take(Number.POSITIVE_INFINITY);
    return new Uint8Array(view);
  }

  #array(array: readonly unknown[]): unknown[] {
    const { length } = array;
    // Every item has a byte at least, and a comma: a length without end is refused before anything is walked.
    if (!Number.isSafeInteger(length) || 2 * length > this.#left + 1) this.#take(Number.POSITIVE_INFINITY);
    const copies: unknown[] = [];
    for (let at = 0; at < length; at += 1) {
      this.#path.push(at);
      this.#take(1);
      const item = array[at];
      if (item === undefined) throw this.refused('an array has no item at this place');
      copies.push(this.copy(item));
      this.#path.pop();
    }
    return copies;
  }

  #members(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const copies: Record<string, unknown> = {};
    for (const key of Object.keys(object)) {
      this.#path.push(key);
      this.#take(key.length + 4);
      if (!isWellFormed(key)) throw this.refused('key holds half of a surrogate pair');
      const copy = this.copy(object[key]);
      // Set by itself, `__proto__` would be the prototype.
      if (key === '__proto__') Object.defineProperty(copies, key, { value: copy, enumerable: true });
      else copies[key] = copy;
      this.#path.pop();
    }
    return copies;
  }
}
