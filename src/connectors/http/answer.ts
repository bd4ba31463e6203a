/**
 * What an answer means by the operator's table, and what of it is kept.
 *
 * It promises: only a whole answer of a named status is certain; no secret that the call carried stands in evidence or
 * reference, in any of the forms in which an answer repeats it.
 * Source: spec actions (http), reliability T28.
 */
import { isJsonObject, type Json, type JsonObject, MASK, readJson, utf8Decode } from '../../core/index.js';
import type { Outcome } from '../connector.js';
import { HTTP_LIMITS } from './limits.js';
import type { Answer, Answered } from './request.js';
import type { Table } from './schema.js';

export interface Reading extends Pick<Table, 'confirmed' | 'failed' | 'reference'> {
  readonly keepAnswer: boolean;
  /** Values that must not be repeated. */
  readonly secrets: readonly string[];
}

/** INVARIANT: what the table does not call certain is unknown (connectors.http.outcomes). */
export function outcomeOf(answer: Answered, reading: Reading): Outcome {
  if (answer.is === 'never_sent') return { result: 'failed', code: answer.code, ...causeOf(answer) };
  if (answer.is === 'no_answer') return { result: 'unknown', code: 'no_answer', ...causeOf(answer) };
  const { status, length, whole } = answer;
  const said = saidIn(answer, masking(reading.secrets));
  const isKept = reading.keepAnswer && said !== undefined;
  const evidence = { status, ...(isKept ? { answer: said } : { answer_bytes: length }) };
  if (!whole) return { result: 'unknown', code: 'cut_answer', evidence };
  const code = `http_${status}`;
  if (reading.failed.includes(status)) return { result: 'failed', code, evidence };
  if (!reading.confirmed.includes(status)) return { result: 'unknown', code, evidence };
  if (reading.reference === undefined) return { result: 'confirmed', code, evidence };
  const externalRef = referenceIn(said, reading.reference);
  if (externalRef === undefined) return { result: 'unknown', code: 'no_reference', evidence };
  return { result: 'confirmed', code, externalRef, evidence };
}

function causeOf({ cause }: { readonly cause?: string }): Pick<Outcome, 'evidence'> {
  return cause === undefined ? {} : { evidence: { cause } };
}

/** What the other side said: JSON as such, text as text, and nothing where it is neither. */
function saidIn({ bytes, type }: Answer, mask: (text: string) => string): Json | undefined {
  const text = bytes === undefined ? undefined : utf8Decode(bytes);
  if (text === undefined || text === '' || text.includes('\0')) return undefined;
  if (/^[^;]*[/+]json\s*(?:;|$)/i.test(type)) {
    // Evidence is one level deeper.
    const read = readJson(text, { depthMax: 60 });
    if (read.ok) return masked(read.value, mask);
  }
  return mask(text);
}

function masked(value: Json, mask: (text: string) => string): Json {
  if (typeof value === 'string') return mask(value);
  if (typeof value === 'number') return mask(String(value)) === String(value) ? value : MASK;
  if (value === null || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => masked(item, mask));
  return Object.fromEntries(Object.entries(value as JsonObject).map(([key, item]) => [mask(key), masked(item, mask)]));
}

/** Masks secrets as they are, and as JSON, addresses and Base64 write them; of a name with a password, both. */
function masking(secrets: readonly string[]): (text: string) => string {
  const all = secrets.flatMap((secret) => [secret, ...insideOf(secret)]).flatMap(formsOf);
  const forms = [...new Set(all)].sort((one, other) => other.length - one.length);
  return (text) => forms.reduce((shown, form) => shown.replaceAll(form, MASK), text);
}

/** A secret for `Basic` is a name and a password inside. */
function insideOf(secret: string): readonly string[] {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(secret)) return [];
  const pair = Buffer.from(secret, 'base64').toString('latin1');
  const [, password = ''] = /^[\x20-\x7e]*?:([\x20-\x7e]*)$/.exec(pair) ?? [];
  return password.length < 4 ? [] : [pair, password];
}

function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const inBase64 = bytes.toString('base64').replace(/=+$/, '');
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    inBase64,
    bytes.toString('base64url'),
  ];
}

/** The text or integer at a place of an answer. */
function referenceIn(said: Json | undefined, pointer: string): string | undefined {
  let at = said;
  for (const step of pointer.split('/').slice(1)) {
    const isIndex = Array.isArray(at) && /^(?:0|[1-9]\d{0,6})$/.test(step);
    if (at === undefined || !(isIndex || isJsonObject(at)) || !Object.hasOwn(at as object, step)) return undefined;
    at = (at as JsonObject)[step];
  }
  const text = typeof at === 'number' && Number.isSafeInteger(at) ? String(at) : at;
  if (typeof text !== 'string' || text.length > HTTP_LIMITS.referenceCharsMax) return undefined;
  return /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(text) ? text : undefined;
}
