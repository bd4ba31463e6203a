/**
 * A message from and to the wire. What comes out of `decodeMessage` is valid; what `encodeMessage` writes is
 * canonical.
 *
 * Unknown fields are ignored, as the source does, and remembered, because a signature that covers them can not be
 * checked here. Where silence would let two readers see two messages it is stricter than the source: it refuses
 * duplicate keys, keys that differ only in case from a known one, lone surrogates, fractions and integers beyond 2^53
 * - 1 for counts, and `null` in a list. `null` in a field counts as absent.
 * Source: spec messages (validation).
 */
import { assertNever, isJsonObject, type Json, jsonPath, parseJson, Refusal, utf8Decode } from '../core/index.js';
import { canonicalMessage } from './canonical.js';
import { type Message, UNKNOWN_FIELDS } from './schema.js';
import { validateMessage } from './validate.js';

const TYPE_WORDS = {
  text: 'a text',
  texts: 'a list of texts',
  number: 'a number',
  count: 'a whole number',
  flag: 'true or false',
} as const;

type FieldType = keyof typeof TYPE_WORDS | 'provenance';

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
const ABSENT = Object.entries({
  version: '',
  id: '',
  thread_id: '',
  intent: '',
  epistemic: '',
  confidence: 0,
  payload: '',
});

/** Reads one message of at most 2 MiB of JSON. Refuses `invalid` with the path and reason of the first defect. */
export function decodeMessage(input: string | Uint8Array): Message {
  const value = parseJson(input);
  const found = { unknown: false };
  const fields = readFields(value, FIELDS, [], found);
  if (fields.max_hops !== undefined || fields.cost_budget !== undefined) refuseFractions(input);
  for (const [key, absent] of ABSENT) fields[key] ??= absent;
  fields.provenance = { source: '', ...(fields.provenance as object | undefined) };
  const message = fields as unknown as Message;
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
  if (!isJsonObject(value)) throw refuse(path, 'this is not an object');
  const object = value;
  const fields: Record<string, unknown> = {};
  for (const key of Object.keys(object)) {
    const item = object[key] as Json;
    const type = known.get(key);
    if (type === undefined) {
      if (known.has(foldKey(key))) throw refuse([...path, key], 'this key differs from a known one in case alone');
      found.unknown = true;
    } else if (item !== null) {
      if (type === 'provenance') fields[key] = readFields(item, PROVENANCE_FIELDS, [key], found);
      else if (isOfType(item, type)) fields[key] = item;
      else throw refuse([...path, key], `this is not ${TYPE_WORDS[type]}`);
    }
  }
  return fields;
}

function isOfType(value: Json, type: keyof typeof TYPE_WORDS): boolean {
  switch (type) {
    case 'text':
      return typeof value === 'string';
    case 'texts':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'number':
      return typeof value === 'number';
    case 'count':
      return Number.isSafeInteger(value);
    case 'flag':
      return typeof value === 'boolean';
    default:
      return assertNever(type);
  }
}

/** As the source's reader compares keys: it takes U+017F for `s` and U+212A for `k`. */
function foldKey(key: string): string {
  return key.replaceAll('\u017f', 's').toLowerCase();
}

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g;

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
