/**
 * Whether two JSON values are one value: exactly when their canonical texts are equal, without making either.
 */
import { LIMITS } from '../limits.js';
import type { Json, JsonObject } from './types.js';

/**
 * True for values that are equal as RFC 8785 writes them: the order of members does not count, and 0 is -0. Deeper than
 * the limit nothing is equal.
 */
export function sameJson(a: Json, b: Json, depth = 0): boolean {
  if (a === b) return true;
  if (depth > LIMITS.depthMax) return false;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameArray(a, b, depth + 1);
  const left = a as JsonObject;
  const right = b as JsonObject;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key] as Json, right[key] as Json, depth + 1));
}

function sameArray(a: readonly Json[], b: readonly Json[], depth: number): boolean {
  return a.length === b.length && a.every((item, at) => sameJson(item, b[at] as Json, depth));
}
