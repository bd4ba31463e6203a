/**
 * A message from and to the wire. What comes out of `decodeMessage` is valid; what `encodeMessage` writes is canonical.
 *
 * Unknown fields are ignored, as the source does, and remembered, because a signature that covers them can not be checked
 * here. Where silence would let two readers see two messages it is stricter than the source: it refuses duplicate keys,
 * keys that differ only in case from a known one, lone surrogates, fractions and integers beyond 2^53 - 1 for counts, and
 * `null` in a list. `null` in a field counts as absent.
 * Source: spec messages (validation).
 */
import { type Json, type JsonObject, jsonPath, parseJson, Refusal, utf8Decode } from '../core/index.js';
import { canonicalMessage } from './canonical.js';
import { type Message, UNKNOWN_FIELDS } from './schema.js';
import { validateMessage } from './validate.js';

type FieldType = 'text' | 'texts' | 'number' | 'count' | 'flag' | 'provenance';

const PROVENANCE_FIELDS: ReadonlyMap<string, FieldType> = new Map([
  ['source', 'text'],
  ['chain', 'texts'],
  ['evidence', 'texts'],
]);

const FIELDS: ReadonlyMap<string, FieldType> = new Map([
  ['version', 'text'],
  ['id', 'text'],
  ['room', 'text'],
  ['thread_id', 'text'],
  ['to', 'texts'],
  ['in_reply_to', 'text'],
  ['intent', 'text'],
  ['epistemic', 'text'],
  ['confidence', 'number'],
  ['context_refs', 'texts'],
  ['prev_hash', 'text'],
  ['provenance', 'provenance'],
  ['max_hops', 'count'],
  ['cost_budget', 'count'],
  ['ack_required', 'flag'],
  ['payload', 'text'],
  ['signer', 'text'],
  ['signature', 'text'],
]);

/** What a required field holds when the text leaves it out. */
const ABSENT = { version: '', id: '', thread_id: '', intent: '', epistemic: '', confidence: 0, payload: '' };

/** Reads one message of at most 2 MiB of JSON. Refuses `invalid` with the path and reason of the first defect. */
export function decodeMessage(input: string | Uint8Array): Message {
  const value = parseJson(input);
  const found = { unknown: false };
  const fields = readFields(value, FIELDS, [], found);
  if (fields.max_hops !== undefined || fields.cost_budget !== undefined) refuseFractions(input);
  const provenance = { source: '', ...(fields.provenance as object | undefined) };
  const message = { ...ABSENT, ...fields, provenance } as unknown as Message;
  const refusal = validateMessage(message);
  if (refusal !== undefined) throw refusal;
  return found.unknown ? { ...message, [UNKNOWN_FIELDS]: true } : message;
}

/** The canonical text of a valid message. Refuses `invalid`, as `validateMessage` does. */
export function encodeMessage(message: Message): string {
  const refusal = validateMessage(message);
  if (refusal !== undefined) throw refusal;
  return canonicalMessage(message);
}

type Path = readonly (string | number)[];

function readFields(
  value: Json,
  known: ReadonlyMap<string, FieldType>,
  path: Path,
  found: { unknown: boolean },
): Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw refuse(path, 'this is not an object');
  const fields: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value as JsonObject)) {
    const type = known.get(key);
    if (type === undefined) {
      if (known.has(foldKey(key))) throw refuse([...path, key], 'this key differs from a known one in case alone');
      found.unknown = true;
    } else if (item !== null) {
      fields[key] = readField(item, type, [...path, key], found);
    }
  }
  return fields;
}

function readField(value: Json, type: FieldType, path: Path, found: { unknown: boolean }): unknown {
  switch (type) {
    case 'provenance':
      return readFields(value, PROVENANCE_FIELDS, path, found);
    case 'texts': {
      if (!Array.isArray(value)) throw refuse(path, 'this is not a list of texts');
      const at = value.findIndex((item) => typeof item !== 'string');
      if (at >= 0) throw refuse([...path, at], 'this is not a text');
      return value;
    }
    case 'text':
      if (typeof value !== 'string') throw refuse(path, 'this is not a text');
      return value;
    case 'flag':
      if (typeof value !== 'boolean') throw refuse(path, 'this is not true or false');
      return value;
    case 'number':
      if (typeof value !== 'number') throw refuse(path, 'this is not a number');
      return value;
    case 'count':
      if (!Number.isSafeInteger(value)) throw refuse(path, 'this is not a whole number');
      return value;
  }
}

/** As the source's reader compares keys: it takes U+017F for `s` and U+212A for `k`. */
function foldKey(key: string): string {
  return key.replaceAll('\u017f', 's').toLowerCase();
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g;

/** The source takes `1.0` and `1e2` for no integers, and the value alone no longer tells. The text is JSON already. */
function refuseFractions(input: string | Uint8Array): void {
  const tokens = (typeof input === 'string' ? input : (utf8Decode(input) ?? '')).match(TOKENS) ?? [];
  let depth = 0;
  for (const [at, token] of tokens.entries()) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth !== 1 || token !== ':' || !/[.eE]/.test(tokens[at + 1] ?? '')) continue;
    const key = parseJson(tokens[at - 1] ?? '') as string;
    if (FIELDS.get(key) === 'count') throw refuse([key], 'this is not written as a whole number');
  }
}

function refuse(path: Path, message: string): Refusal {
  return new Refusal('invalid', message, { path: jsonPath(path).replace(/^\$\.?/, '') || '$' });
}
