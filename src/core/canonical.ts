/**
 * Canonical JSON out: RFC 8785 (JCS), the one text of a value, so that a digest covers a value and nothing else.
 *
 * Keys are sorted by UTF-16 code units, numbers and escapes are those of ECMAScript. It refuses what has no canonical
 * form: undefined, functions, symbols, big integers, objects of a class, holes in arrays, lone surrogates, numbers that
 * are not finite, integers beyond ±(2^53-1), cycles and nesting deeper than 64 levels.
 * Source: spec core (canonical JSON out).
 */
import { Refusal } from './errors.js';
import { type Json, type JsonObject, jsonPath } from './json/index.js';
import { LIMITS } from './limits.js';
import { isWellFormed } from './utf8.js';

/** Thrown inside this file alone: the value has a defect, which is then looked for. */
const DEFECT = Symbol('defect');

/** Longer strings are looked through by a regular expression, shorter ones faster by hand. */
const SHORT_CHARS = 64;
/** So few keys are sorted faster by insertion, which costs next to nothing when they are in order. */
const FEW_KEYS = 24;
// What can not stand for itself between quotes, and surrogates, which have to be checked for their other half.
const NEEDS_CARE = /["\\\u0000-\u001f\ud800-\udfff]/;
/** The same for each code unit: 1 where it needs care. */
const CARE = new Uint8Array(0x10000).fill(1, 0, 0x20).fill(1, 0x22, 0x23).fill(1, 0x5c, 0x5d).fill(1, 0xd800, 0xe000);
const DEPTH_MAX = LIMITS.depthMax;

/** The canonical text of `value`. Throws the `Refusal` `invalid` with the path of the first part that has none. */
export function canonicalize(value: Json): string {
  try {
    return append('', value, 0);
  } catch (error) {
    if (error !== DEFECT) throw error;
  }
  const defect = locate(value, []);
  throw new Refusal('invalid', defect?.message ?? 'value has no canonical form', {
    path: jsonPath(defect?.path ?? []),
  });
}

/** `text` followed by the canonical text of `value`: one growing string is what the engine joins fastest. */
function append(text: string, value: Json, depth: number): string {
  if (typeof value === 'string') return text + (isClean(value) ? `"${value}"` : escaped(value));
  if (typeof value === 'number') {
    if (!isCanonicalNumber(value)) throw DEFECT;
    return text + value;
  }
  if (typeof value === 'object') {
    if (value === null) return `${text}null`;
    if (depth >= DEPTH_MAX) throw DEFECT;
    if (Array.isArray(value)) return appendArray(text, value as readonly Json[], depth + 1);
    return appendObject(text, value as JsonObject, depth + 1);
  }
  if (value === true) return `${text}true`;
  if (value === false) return `${text}false`;
  throw DEFECT;
}

function appendArray(text: string, array: readonly Json[], depth: number): string {
  if (array.length === 0) return `${text}[]`;
  let longer = `${text}[`;
  for (let at = 0; at < array.length; at += 1) {
    if (at > 0) longer += ',';
    longer = append(longer, array[at] as Json, depth);
  }
  return `${longer}]`;
}

function appendObject(text: string, object: JsonObject, depth: number): string {
  if (!isPlain(object)) throw DEFECT;
  const keys = Object.keys(object);
  const count = keys.length;
  if (count === 0) return `${text}{}`;
  // Taking all values at once is several times faster than looking each up by its key.
  const values = count > FEW_KEYS ? undefined : Object.values(object);
  if (values === undefined) sortMany(keys);
  else sortFew(keys, values);
  let longer = text;
  for (let at = 0; at < count; at += 1) {
    const key = keys[at] as string;
    const value = (values === undefined ? object[key] : values[at]) as Json;
    const start = at === 0 ? '{"' : ',"';
    // Small pieces are joined to each other first, so that the growing string grows by fewer.
    if (!isClean(key)) {
      longer = append(`${longer}${at === 0 ? '{' : ','}${escaped(key)}:`, value, depth);
    } else if (typeof value === 'string') {
      longer += isClean(value) ? `${start}${key}":"${value}"` : `${start}${key}":${escaped(value)}`;
    } else {
      longer = append(`${longer}${start}${key}":`, value, depth);
    }
  }
  return `${longer}}`;
}

/** A string with its escapes between quotes. */
function escaped(text: string): string {
  if (!isWellFormed(text)) throw DEFECT;
  return JSON.stringify(text);
}

/** Whether a string stands for itself between quotes. */
function isClean(text: string): boolean {
  if (text.length >= SHORT_CHARS) return !NEEDS_CARE.test(text);
  for (let at = 0; at < text.length; at += 1) {
    if (CARE[text.charCodeAt(at)] !== 0) return false;
  }
  return true;
}

/** Sorts keys, and their values with them, in the order of RFC 8785: as strings compare, by UTF-16 code units. */
function sortFew(keys: string[], values: Json[]): void {
  for (let at = 1; at < keys.length; at += 1) {
    const key = keys[at] as string;
    if (!isAfter(keys[at - 1] as string, key)) continue;
    const value = values[at] as Json;
    let place = at;
    for (; place > 0 && isAfter(keys[place - 1] as string, key); place -= 1) {
      keys[place] = keys[place - 1] as string;
      values[place] = values[place - 1] as Json;
    }
    keys[place] = key;
    values[place] = value;
  }
}

function sortMany(keys: string[]): void {
  if (!isSorted(keys)) keys.sort();
}

/** `a > b`, decided by the first code unit where that can be; the empty string has none. */
function isAfter(a: string, b: string): boolean {
  const first = a.charCodeAt(0);
  const other = b.charCodeAt(0);
  return first === other || Number.isNaN(other) ? a > b : first > other;
}

function isSorted(keys: readonly string[]): boolean {
  for (let at = 1; at < keys.length; at += 1) {
    if (isAfter(keys[at - 1] as string, keys[at] as string)) return false;
  }
  return true;
}

/** Finite, and when it is an integer, a safe one. */
function isCanonicalNumber(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

/** Made by a literal, by the reader or with no prototype: an object of a class carries more than its own keys say. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

interface Defect {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** The first part of `value`, in the order of its keys, that has no canonical form. */
function locate(value: unknown, path: readonly (string | number)[]): Defect | undefined {
  if (value === null || typeof value === 'boolean') return undefined;
  if (typeof value === 'string')
    return isWellFormed(value) ? undefined : { message: 'string holds half of a surrogate pair', path };
  if (typeof value === 'number') {
    if (isCanonicalNumber(value)) return undefined;
    return { message: Number.isFinite(value) ? 'integer is beyond 2^53 - 1' : 'number is not finite', path };
  }
  if (typeof value !== 'object') return { message: `${typeof value} has no canonical form`, path };
  if (path.length >= DEPTH_MAX) return { message: 'nesting is deeper than the limit, or a cycle', path };
  const isArray = Array.isArray(value);
  if (!isArray && !isPlain(value)) return { message: 'object is not plain data', path };
  // A hole in an array has no key of its own, so the indexes are counted.
  const keys: readonly (string | number)[] = isArray ? Array.from(value.keys()) : Object.keys(value).sort();
  for (const key of keys) {
    if (typeof key === 'string' && !isWellFormed(key)) return { message: 'key holds half of a surrogate pair', path };
    const defect = locate((value as Record<string | number, unknown>)[key], [...path, key]);
    if (defect !== undefined) return defect;
  }
  return undefined;
}
