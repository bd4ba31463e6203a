/**
 * Text becomes an envelope, or is refused as `INVALID_ENVELOPE` with every defect in the order of the checks. Pure.
 *
 * Exactly one JSON object: the whole text is read strictly; only where it is no JSON at all, what stands from the
 * first `{` to the last `}`, so that a model may talk around it. Prose is never read for intent. A tool call, a body
 * and a file come through here alike.
 * Source: seeds action-envelope (parsing rules); spec packages (parse).
 */
import {
  canonicalize,
  type Json,
  type JsonObject,
  type JsonProblem,
  jsonPath,
  LIMITS,
  Refusal,
  readJson,
  utf8Decode,
} from '../core/index.js';
import { ruleOf } from './fields.js';
import { type ActionName, BODY_FIELDS, type Envelope, envelopeSchema, FIELDS, HEAD_FIELDS, Intent } from './schema.js';

/** A field of an envelope's schema. */
type Field = (typeof HEAD_FIELDS)['action_id'];
type Fields = Readonly<Record<string, Field>>;

interface Defect {
  readonly path: string;
  readonly what: string;
}

const SCHEMAS = new Map(Object.keys(FIELDS).map((action) => [action, envelopeSchema(action as ActionName)]));

/** Reasons for which a text is no JSON, and not merely a JSON that is refused. */
const SYNTAX: ReadonlySet<string> = new Set([
  'unexpected_character',
  'unexpected_end',
  'trailing_data',
  'number_syntax',
  'invalid_escape',
  'control_character',
  'byte_order_mark',
]);

/**
 * An envelope as text, as bytes of UTF-8, or as an object that a tool call carries. Throws the `Refusal`
 * `INVALID_ENVELOPE`, whose `details.defects` lists what is wrong without a word of the input.
 */
export function parseEnvelope(input: unknown): Envelope {
  const object = readObject(textOf(input));
  const defects = defectsOf(object);
  const [first] = defects;
  if (first === undefined) return object as unknown as Envelope;
  const details = { defects: defects.slice(0, LIMITS.envelopeDefectsMax).map(({ path, what }) => `${path} ${what}`) };
  throw new Refusal('INVALID_ENVELOPE', `\`${first.path}\` ${first.what}`, { path: first.path, details });
}

/** The id and the intent of a new package. Refuses `INVALID_ENVELOPE`. */
export function parseIntent(input: unknown): Intent {
  const parsed = Intent.safeParse(input);
  if (parsed.success) return parsed.data;
  const name = parsed.error.issues[0]?.path[0];
  const field = name === 'package_id' || name === 'intent' ? Intent.shape[name] : undefined;
  const what =
    field === undefined
      ? 'a package is created from a package_id and an intent'
      : `\`${name as string}\` must be ${ruleOf(field)}`;
  throw new Refusal('INVALID_ENVELOPE', what, field === undefined ? {} : { path: `$.${name as string}` });
}

function textOf(input: unknown): string {
  if (typeof input === 'string') return input;
  if (input instanceof Uint8Array) {
    if (input.length > LIMITS.jsonBytesMax) throw notJson({ reason: 'too_long', line: 1, column: 1, path: '$' });
    const text = utf8Decode(input);
    if (text !== undefined) return text;
    throw new Refusal('INVALID_ENVELOPE', 'the bytes are not valid UTF-8', {
      path: '$',
      details: { defects: ['$ is not valid UTF-8'] },
    });
  }
  try {
    return canonicalize(input as Json);
  } catch {
    // Whatever a foreign object throws while it is looked at, it is no envelope.
    throw new Refusal('INVALID_ENVELOPE', 'an envelope is a JSON object', {
      path: '$',
      details: { defects: ['$ must be a JSON object'] },
    });
  }
}

/** The one object of a text. */
function readObject(text: string): JsonObject {
  const whole = readJson(text, { numbers: 'integer' });
  if (whole.ok) return demandObject(whole.value);
  if (!isNoJson(text, whole.problem)) throw notJson(whole.problem);
  const [from, to] = [text.indexOf('{'), text.lastIndexOf('}')];
  if (from < 0 || to < from) throw noObject('holds no JSON object');
  const inner = readJson(text.slice(from, to + 1), { numbers: 'integer' });
  if (inner.ok) return demandObject(inner.value);
  throw notJson(placedBehind(inner.problem, text.slice(0, from)));
}

/** Whether a text is no JSON by its syntax: a number that is merely refused is looked at as JSON has it. */
function isNoJson(text: string, { reason, path }: JsonProblem): boolean {
  if (SYNTAX.has(reason)) return true;
  // A number that the text begins with is all of it, or the beginning of prose.
  if (path === '$' && reason.startsWith('number_')) return !/^[\s\d.eE+-]*$/.test(text);
  if (reason !== 'number_not_integer') return false;
  const asDoubles = readJson(text);
  return !asDoubles.ok && SYNTAX.has(asDoubles.problem.reason);
}

/** The place of a problem in the whole text. */
function placedBehind(problem: JsonProblem, before: string): JsonProblem {
  const breaks = before.split('\n');
  const shift = problem.line === 1 ? (breaks.at(-1)?.length ?? 0) : 0;
  return { ...problem, line: problem.line + breaks.length - 1, column: problem.column + shift };
}

function notJson({ reason, line, column, path }: JsonProblem): Refusal {
  const what = `is not one JSON object: ${reason.replaceAll('_', ' ')}, at line ${line}, column ${column}`;
  return new Refusal('INVALID_ENVELOPE', `the text ${what}`, {
    path,
    details: { reason, line, column, defects: [`${path} ${what}`] },
  });
}

function noObject(what: string): Refusal {
  return new Refusal('INVALID_ENVELOPE', `the text ${what}`, { path: '$', details: { defects: [`$ ${what}`] } });
}

function demandObject(value: Json): JsonObject {
  if (isObject(value)) return value;
  throw noObject('is JSON and no object');
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every defect, in the order of the checks; none for an envelope. */
function defectsOf(object: JsonObject): readonly Defect[] {
  const { action, basis, payload } = object;
  const row = typeof action === 'string' && Object.hasOwn(FIELDS, action) ? FIELDS[action as ActionName] : undefined;
  const isPlain = row !== undefined && isObject(basis) && isObject(payload);
  const names = new Set([...Object.keys(HEAD_FIELDS), ...BODY_FIELDS]);
  if (isPlain && hasOnly(object, names) && hasOnly(basis, row.basis) && hasOnly(payload, row.payload)) {
    if (SCHEMAS.get(action as string)?.safeParse(object).success === true) return [];
  }
  return [
    ...unknownIn(object, names, []),
    ...missingIn(object, [...names], []),
    ...wrongIn(object, HEAD_FIELDS as unknown as Fields, []),
    ...BODY_FIELDS.flatMap((name) =>
      partDefects(object[name], row?.[name] as Fields | undefined, name, Object.hasOwn(object, name)),
    ),
  ];
}

function hasOnly(object: JsonObject, names: ReadonlySet<string> | object): boolean {
  const isName = (key: string) => (names instanceof Set ? names.has(key) : Object.hasOwn(names, key));
  return Object.keys(object).every(isName);
}

function partDefects(
  part: Json | undefined,
  fields: Fields | undefined,
  name: string,
  isThere: boolean,
): readonly Defect[] {
  if (!isThere) return [];
  if (!isObject(part)) return [{ path: `$.${name}`, what: 'must be an object' }];
  if (fields === undefined) return [];
  const needed = Object.keys(fields).filter((key) => !isOptional(fields[key]));
  return [
    ...unknownIn(part, new Set(Object.keys(fields)), [name]),
    ...missingIn(part, needed, [name]),
    ...wrongIn(part, fields, [name]),
  ];
}

function isOptional(field: Field | undefined): boolean {
  return field?.safeParse(undefined).success === true;
}

function unknownIn(object: JsonObject, names: ReadonlySet<string>, at: readonly string[]): readonly Defect[] {
  return Object.keys(object)
    .filter((key) => !names.has(key))
    .slice(0, LIMITS.envelopeDefectsMax)
    .map((key) => ({ path: jsonPath([...at, key]), what: 'is no field of this envelope' }));
}

function missingIn(object: JsonObject, names: readonly string[], at: readonly string[]): readonly Defect[] {
  return names
    .filter((name) => !Object.hasOwn(object, name))
    .map((name) => ({ path: jsonPath([...at, name]), what: 'is missing' }));
}

function wrongIn(object: JsonObject, fields: Fields, at: readonly string[]): readonly Defect[] {
  return Object.entries(fields)
    .filter(([name, field]) => Object.hasOwn(object, name) && !field.safeParse(object[name]).success)
    .map(([name, field]) => ({ path: jsonPath([...at, name]), what: `must be ${ruleOf(field)}` }));
}
