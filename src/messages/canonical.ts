/**
 * The one byte form of a message: what the source's `encoding/json` writes for its struct, in the struct's field
 * order. Hash and signature are made over these bytes, so a message signed by the Go package verifies here and the
 * reverse.
 *
 * It promises the same bytes for two messages that differ only in empty optional fields. It refuses what has no
 * bytes: a string with half of a surrogate pair, a number that is not finite. It does not ask whether a message is
 * valid.
 * Source: spec messages (canonical bytes).
 */
import { isWellFormed, Refusal, sha256Hex } from '../core/index.js';
import type { Message } from './schema.js';

/** Longer strings are looked through by a regular expression, shorter ones faster by hand. */
const SHORT_CHARS = 64;

// What can not stand for itself between quotes, and surrogates, which have to be checked for their other half.
const NEEDS_CARE = /["\\<>&\u0000-\u001f\u2028\u2029\ud800-\udfff]/;
const TO_ESCAPE = /["\\<>&\u0000-\u001f\u2028\u2029]/g;
/** The same for each code unit: 1 where it needs care. */
const CARE = new Uint8Array(0x10000).fill(1, 0, 0x20).fill(1, 0x2028, 0x202a).fill(1, 0xd800, 0xe000);
for (const character of '"\\<>&') CARE[character.charCodeAt(0)] = 1;

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** The canonical text, signer and signature included. Refuses `invalid`, with the reason, what has no bytes. */
export function canonicalMessage(message: Message): string {
  const { signer, signature } = message;
  let text = unsignedHead(message);
  if (signer) text += `,"signer":${quoted(signer)}`;
  if (signature) text += `,"signature":${quoted(signature)}`;
  return `${text}}`;
}

/** The text that a signature by `signer` covers: the message with that signer and without a signature. */
export function signedText(message: Message, signer: string): string {
  return `${unsignedHead(message)},"signer":"${signer}"}`;
}

/** The canonical text of the same message once `signature` stands in it. */
export function withSignature(signed: string, signature: string): string {
  return `${signed.slice(0, -1)},"signature":"${signature}"}`;
}

/** `sha256:` and the hex of SHA-256 over all canonical bytes. */
export function messageHash(message: Message): string {
  return hashText(canonicalMessage(message));
}

/** The hash of a message whose canonical text is at hand. */
export function hashText(canonical: string): string {
  return `sha256:${sha256Hex(canonical)}`;
}

/** Everything before the signer, without the closing brace. */
function unsignedHead(message: Message): string {
  const { room, to, in_reply_to, context_refs, prev_hash, provenance, max_hops, cost_budget } = message;
  let text = `{"version":${quoted(message.version)},"id":${quoted(message.id)}`;
  if (room) text += `,"room":${quoted(room)}`;
  text += `,"thread_id":${quoted(message.thread_id)}`;
  if (to?.length) text += `,"to":${list(to)}`;
  if (in_reply_to) text += `,"in_reply_to":${quoted(in_reply_to)}`;
  text += `,"intent":${quoted(message.intent)},"epistemic":${quoted(message.epistemic)}`;
  text += `,"confidence":${numeral(message.confidence)}`;
  if (context_refs?.length) text += `,"context_refs":${list(context_refs)}`;
  if (prev_hash) text += `,"prev_hash":${quoted(prev_hash)}`;
  text += `,"provenance":{"source":${quoted(provenance.source)}`;
  if (provenance.chain?.length) text += `,"chain":${list(provenance.chain)}`;
  if (provenance.evidence?.length) text += `,"evidence":${list(provenance.evidence)}`;
  text += '}';
  if (max_hops) text += `,"max_hops":${numeral(max_hops)}`;
  if (cost_budget) text += `,"cost_budget":${numeral(cost_budget)}`;
  if (message.ack_required) text += ',"ack_required":true';
  return `${text},"payload":${quoted(message.payload)}`;
}

function list(items: readonly string[]): string {
  let text = '[';
  for (let at = 0; at < items.length; at += 1) text += (at > 0 ? ',' : '') + quoted(items[at] as string);
  return `${text}]`;
}

function quoted(text: string): string {
  if (isClean(text)) return `"${text}"`;
  if (!isWellFormed(text)) throw new Refusal('invalid', 'text of a message holds half of a surrogate pair');
  return `"${text.replace(TO_ESCAPE, escapeOf)}"`;
}

function escapeOf(character: string): string {
  return SHORT_ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function isClean(text: string): boolean {
  if (text.length >= SHORT_CHARS) return !NEEDS_CARE.test(text);
  for (let at = 0; at < text.length; at += 1) {
    if (CARE[text.charCodeAt(at)] !== 0) return false;
  }
  return true;
}

/**
 * As Go prints it: the shortest digits, an exponent below 1e-6 and from 1e21 on as in ECMAScript, and a zero's sign.
 */
function numeral(value: number): string {
  if (!Number.isFinite(value)) throw new Refusal('invalid', 'number of a message is not finite');
  return Object.is(value, -0) ? '-0' : String(value);
}
