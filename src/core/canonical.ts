/**
 * Canonical JSON out: RFC 8785 (JCS), the one text of a value, so that a digest covers a value and nothing else.
 *
 * Keys are sorted by UTF-16 code units, numbers and escapes are those of ECMAScript. It refuses what has no canonical
 * form: undefined, functions, symbols, big integers, objects of a class, holes in arrays, lone surrogates, numbers that
 * are not finite, integers beyond ±(2^53-1), cycles and nesting deeper than 64 levels.
 * Source: spec core (canonical JSON out).
 */
import { Refusal } from './errors.js';
import { type Json, jsonPath } from './json/index.js';
import { LIMITS } from './limits.js';
import { isWellFormed } from './utf8.js';

/** Thrown inside this file alone: the value has a defect, which is then looked for. */
const DEFECT = Symbol('defect');

// A string without these characters stands for itself between quotes. Surrogates are in the list to be checked.
const NEEDS_CARE = /["\\\u0000-\u001f\ud800-\udfff]/;

/** The canonical text of `value`. Throws the `Refusal` `invalid` with the path of the first part that has none. */
export function canonicalize(value: Json): string {
  try {
    return write(value, 0);
  } catch (error) {
    if (error !== DEFECT) throw error;
  }
  const defect = locate(value, []);
  throw new Refusal('invalid', defect?.message ?? 'value has no canonical form', { path: jsonPath(defect?.path ?? []) });
}

function write(value: Json, depth: number): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') {
    if (!isCanonicalNumber(value)) throw DEFECT;
    return `${value}`;
  }
  if (typeof value === 'object') {
    if (value === null) return 'null';
    if (depth >= LIMITS.depthMax) throw DEFECT;
    if (Array.isArray(value)) return writeArray(value as readonly Json[], depth + 1);
    return writeObject(value as { readonly [key: string]: Json }, depth + 1);
  }
  if (value === true) return 'true';
  if (value === false) return 'false';
  throw DEFECT;
}

function writeArray(array: readonly Json[], depth: number): string {
  let text = '[';
  for (let at = 0; at < array.length; at += 1) {
    if (at > 0) text += ',';
    text += write(array[at] as Json, depth);
  }
  return `${text}]`;
}

function writeObject(object: { readonly [key: string]: Json }, depth: number): string {
  if (!isPlain(object)) throw DEFECT;
  const keys = Object.keys(object);
  if (!isSorted(keys)) keys.sort();
  let text = '{';
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] as string;
    if (at > 0) text += ',';
    text += `${quoted(key)}:${write(object[key] as Json, depth)}`;
  }
  return `${text}}`;
}

function quoted(text: string): string {
  if (!NEEDS_CARE.test(text)) return `"${text}"`;
  if (!isWellFormed(text)) throw DEFECT;
  return JSON.stringify(text);
}

/** Strings compare by UTF-16 code units, which is the order of RFC 8785. */
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
  if (typeof value === 'string') return isWellFormed(value) ? undefined : { message: 'string holds half of a surrogate pair', path };
  if (typeof value === 'number') {
    if (isCanonicalNumber(value)) return undefined;
    return { message: Number.isFinite(value) ? 'integer is beyond 2^53 - 1' : 'number is not finite', path };
  }
  if (typeof value !== 'object') return { message: `${typeof value} has no canonical form`, path };
  if (path.length >= LIMITS.depthMax) return { message: 'nesting is deeper than the limit, or a cycle', path };
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
