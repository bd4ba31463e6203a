/**
 * Strict JSON in: the one reader that stands before every trust decision.
 *
 * `JSON.parse` alone is not enough there: it merges duplicate keys, rounds big integers and lets lone surrogates in, so
 * that one value stands for two different texts. `readJson` answers with a value or with the place and the reason of
 * the first defect, and never repeats what it refused. Its cost is linear in the text.
 * Source: spec core (strict JSON in).
 */
import { type Code, Fault, Refusal } from '../errors.js';
import { LIMITS } from '../limits.js';
import { isWellFormed, utf8Decode, utf8Length, utf8ValidPrefix } from '../utf8.js';
import { jsonPath } from './path.js';
import { Reader } from './reader.js';
import { JSON_REASONS, type Json, type JsonLimits, type JsonProblem, type JsonReason } from './types.js';

export { jsonPath } from './path.js';
export { sameJson } from './same.js';
export {
  isJsonObject,
  JSON_REASONS,
  type Json,
  type JsonLimits,
  type JsonObject,
  type JsonProblem,
  type JsonReason,
} from './types.js';

export type JsonResult =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: JsonProblem };

/** Reads one JSON text, given as a string or as UTF-8 bytes. It never throws. */
export function readJson(input: string | Uint8Array, limits: JsonLimits = {}): JsonResult {
  const bytesMax = limits.bytesMax ?? LIMITS.jsonBytesMax;
  if (isLonger(input, bytesMax)) return refuse('too_long', '', 0, '$');
  const text = typeof input === 'string' ? input : utf8Decode(input);
  if (text === undefined) {
    const bytes = input as Uint8Array;
    return readBroken(utf8Decode(bytes.subarray(0, utf8ValidPrefix(bytes))) ?? '', 'invalid_utf8', limits);
  }
  if (text.charCodeAt(0) === 0xfeff) return refuse('byte_order_mark', text, 0, '$');
  if (!isWellFormed(text)) return readBroken(text.slice(0, wellFormedPrefix(text)), 'lone_surrogate', limits);
  const reader = readerOf(text, limits);
  const value = reader.document();
  return value === undefined ? refuseAt(reader, text) : { ok: true, value };
}

/**
 * Reads one JSON text or throws a `Refusal` with `code` (`invalid` unless given), whose message says what is wrong at
 * which line and column and whose `path` says where.
 */
export function parseJson(input: string | Uint8Array, limits: JsonLimits & { readonly code?: Code } = {}): Json {
  const result = readJson(input, limits);
  if (result.ok) return result.value;
  const { reason, line, column, path } = result.problem;
  const message = `${JSON_REASONS[reason]}, at line ${line}, column ${column}`;
  throw new Refusal(limits.code ?? 'invalid', message, { path, details: { reason, line, column } });
}

/**
 * Reads a text that was strictly read and canonicalized by us before and whose hash has been verified since: the one
 * place where `JSON.parse` is used. Never for anything that came from outside. Throws the `Fault` `corrupt` when the
 * text is no JSON.
 */
export function parseTrusted(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Fault('corrupt', 'verified text is not JSON', error);
  }
}

function readerOf(text: string, limits: JsonLimits): Reader {
  const depthMax = Math.min(limits.depthMax ?? LIMITS.depthMax, LIMITS.depthMax);
  return new Reader(text, depthMax, limits.numbers === 'integer');
}

/** A string has at most three bytes for each code unit, so that most strings need no counting. */
function isLonger(input: string | Uint8Array, bytesMax: number): boolean {
  if (typeof input !== 'string') return input.length > bytesMax;
  if (input.length > bytesMax) return true;
  return input.length * 3 > bytesMax && utf8Length(input) > bytesMax;
}

/** Offset of the first lone surrogate. */
function wellFormedPrefix(text: string): number {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if ((unit & 0xf800) !== 0xd800) continue;
    if (unit >= 0xdc00 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) return at;
    at += 1;
  }
  return text.length;
}

/** Refuses a text that can be read only up to a broken character: for an earlier defect, else for that character. */
function readBroken(prefix: string, reason: JsonReason, limits: JsonLimits): JsonResult {
  if (prefix.charCodeAt(0) === 0xfeff) return refuse('byte_order_mark', prefix, 0, '$');
  const reader = readerOf(prefix, limits);
  const value = reader.document();
  if (value === undefined && reader.reason !== 'unexpected_end') return refuseAt(reader, prefix);
  return refuse(reason, prefix, prefix.length, value === undefined ? pathOf(reader) : '$');
}

function refuseAt(reader: Reader, text: string): JsonResult {
  return refuse(reader.reason ?? 'unexpected_character', text, reader.offset, pathOf(reader));
}

function pathOf(reader: Reader): string {
  return jsonPath(reader.path.slice(0, reader.depth));
}

function refuse(reason: JsonReason, text: string, offset: number, path: string): JsonResult {
  let line = 1;
  let lineStart = 0;
  for (let end = text.indexOf('\n'); end >= 0 && end < offset; end = text.indexOf('\n', end + 1)) {
    line += 1;
    lineStart = end + 1;
  }
  return { ok: false, problem: { reason, line, column: offset - lineStart + 1, path } };
}
