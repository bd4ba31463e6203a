/**
 * Plain data that nobody can change any more.
 */
import type { Json, JsonObject } from './json/index.js';

/** Freezes a value and everything below it; what is frozen already is taken for frozen to its end. */
export function frozen<Value extends Json>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value as JsonObject)) frozen(part as Json);
  return Object.freeze(value);
}
