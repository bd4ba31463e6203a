/**
 * The shapes of strict JSON: a value, and the reason why a text is none.
 * Source: spec core (strict JSON in).
 */

/** A value that JSON can carry. Nothing that was parsed is ever changed. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object: own enumerable keys only, `__proto__` among them when the text has it. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Whether a value is an object, and neither null nor an array. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every reason to refuse a text, with its words. They never hold a piece of the input. */
export const JSON_REASONS = {
  too_long: 'text is longer than the limit',
  too_deep: 'nesting is deeper than the limit',
  invalid_utf8: 'bytes are not valid UTF-8',
  byte_order_mark: 'text starts with a byte order mark',
  lone_surrogate: 'string holds half of a surrogate pair',
  control_character: 'string holds a raw control character',
  invalid_escape: 'string holds an unknown escape',
  duplicate_key: 'key stands twice in one object',
  number_syntax: 'number is malformed',
  number_too_large: 'integer is beyond 2^53 - 1',
  number_overflow: 'number is beyond the range of a double',
  number_underflow: 'number is not zero and too small for a double',
  number_not_integer: 'number must be an integer without fraction, exponent or negative zero',
  unexpected_character: 'character has no place here',
  unexpected_end: 'text ends too early',
  trailing_data: 'something follows the value',
} as const;

export type JsonReason = keyof typeof JSON_REASONS;

/** Where and why a text was refused. It names keys of the path, bounded and displayable, and never a value. */
export interface JsonProblem {
  readonly reason: JsonReason;
  /** Counted from 1; a line ends at U+000A. */
  readonly line: number;
  /** Counted from 1, in UTF-16 code units. */
  readonly column: number;
  /** `$` for the whole text, then `.key`, `["odd key"]`, `[index]`. */
  readonly path: string;
}

export interface JsonLimits {
  /** Bytes of UTF-8; 2 MiB unless given. */
  readonly bytesMax?: number;
  /** Levels of nesting; 64 unless given, and never more. */
  readonly depthMax?: number;
  /** `integer` refuses fractions, exponents and `-0`; `double` unless given. */
  readonly numbers?: 'double' | 'integer';
}
