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
import { isPlain } from './plain.js';
import { isWellFormed } from './utf8.js';

/** Thrown inside this file alone: the value has a defect, which is then looked for. */
const DEFECT = Symbol('defect');

/** Longer strings are looked through by a regular expression, shorter ones faster by hand. */
const SHORT_CHARS = 64;
/** The layout of so few keys is worth keeping. */
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
  if (count > FEW_KEYS) return appendMany(text, object, keys, depth);
  const { order, heads } = layoutOf(keys);
  // Taking all values at once is several times faster than looking each up by its key.
  const values = Object.values(object);
  let longer = text;
  for (let at = 0; at < count; at += 1) {
    const value = values[order[at] as number] as Json;
    const head = heads[at] as string;
    // Small pieces are joined to each other first, so that the growing string grows by fewer.
    if (typeof value === 'string') longer += isClean(value) ? `${head}"${value}"` : `${head}${escaped(value)}`;
    else longer = append(longer + head, value, depth);
  }
  return `${longer}}`;
}

function appendMany(text: string, object: JsonObject, keys: string[], depth: number): string {
  if (!isSorted(keys)) keys.sort();
  let longer = text;
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] as string;
    longer = append(`${longer}${headOf(key, at)}`, object[key] as Json, depth);
  }
  return `${longer}}`;
}

/** How objects with the same keys, in the same order, are written. */
interface Layout {
  readonly keys: readonly string[];
  /** The place among `keys` of each key, in canonical order. */
  readonly order: readonly number[];
  /** What stands in front of each value: brace or comma, key and colon. */
  readonly heads: readonly string[];
}

/** Most objects have the keys of one before them: their layouts are kept, a bounded number of short ones. */
const LAYOUTS: (Layout | undefined)[] = new Array(256).fill(undefined);

function layoutOf(keys: readonly string[]): Layout {
  const count = keys.length;
  const first = keys[0] as string;
  const last = keys[count - 1] as string;
  const slot = (count * 31 + first.length * 7 + last.length * 13 + first.charCodeAt(0) + last.charCodeAt(0)) & 255;
  const known = LAYOUTS[slot];
  if (known !== undefined && isSame(known.keys, keys)) return known;
  const order = keys.map((_, place) => place).sort((a, b) => ((keys[a] as string) < (keys[b] as string) ? -1 : 1));
  const layout = { keys, order, heads: order.map((place, at) => headOf(keys[place] as string, at)) };
  if (keys.every((key) => key.length < SHORT_CHARS)) LAYOUTS[slot] = layout;
  return layout;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}

function headOf(key: string, at: number): string {
  return `${at === 0 ? '{' : ','}${isClean(key) ? `"${key}"` : escaped(key)}:`;
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

function isSorted(keys: readonly string[]): boolean {
  for (let at = 1; at < keys.length; at += 1) {
    if ((keys[at - 1] as string) > (keys[at] as string)) return false;
  }
  return true;
}

/** Finite, and when it is an integer, a safe one. */
function isCanonicalNumber(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
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
