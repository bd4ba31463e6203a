/**
 * Whether a message is valid, by the rules of the source in its order: the first broken rule is the answer.
 *
 * It promises that a valid message has canonical bytes and that no field holds another type than its own, also where a
 * caller without types made it. Pure. It never repeats what it refused.
 * Source: spec messages (validation).
 */
import { isWellFormed, PATTERNS, Refusal } from '../core/index.js';
import { EPISTEMICS, INTENTS, MESSAGE_VERSION, type Message } from './schema.js';

const INTENT_SET: ReadonlySet<unknown> = new Set(INTENTS);
const EPISTEMIC_SET: ReadonlySet<unknown> = new Set(EPISTEMICS);
/** A character that Go's `strings.TrimSpace` leaves: U+0085 is space to it, U+FEFF is not. */
const NOT_SPACE = /[^\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
const SIGNER = /^[0-9a-f]{64}$(?!\n)/;
const SIGNATURE = /^[0-9a-f]{128}$(?!\n)/;

/**
 * The first rule that `message` breaks, as the `Refusal` `invalid` with the field as path; undefined when it is
 * valid.
 */
export function validateMessage(message: Message): Refusal | undefined {
  if (typeof message !== 'object' || message === null) return refuse('$', 'a message is an object');
  return checkNames(message) ?? checkClaims(message) ?? checkLimits(message) ?? checkText(message);
}

/** Whether a text is nothing but space to Go's `strings.TrimSpace`. */
export function isBlank(text: string): boolean {
  return !NOT_SPACE.test(text);
}

function checkNames(message: Message): Refusal | undefined {
  const { to = [], in_reply_to = '', intent } = message;
  if (message.version !== MESSAGE_VERSION) return refuse('version', 'the version is not `v1`');
  if (!isText(message.id) || message.id === '') return refuse('id', 'the message has no id');
  if (!isText(message.thread_id) || message.thread_id === '') return refuse('thread_id', 'the message has no thread');
  if (!isTexts(to) || to.some(isBlank)) return refuse('to', 'a recipient is blank');
  if (to.length > 1 && new Set(to).size !== to.length) return refuse('to', 'a recipient stands twice');
  if (in_reply_to === message.id) return refuse('in_reply_to', 'the message answers itself');
  if (!INTENT_SET.has(intent)) return refuse('intent', `the intent is none of ${INTENTS.join(', ')}`);
  if ((intent === 'challenge' || intent === 'retract') && in_reply_to === '') {
    return refuse('in_reply_to', `${intent} has to name the message that it is about`);
  }
  return undefined;
}

function checkClaims(message: Message): Refusal | undefined {
  const { epistemic, confidence, context_refs = [], prev_hash = '', provenance } = message;
  if (!EPISTEMIC_SET.has(epistemic)) return refuse('epistemic', `epistemic is none of ${EPISTEMICS.join(', ')}`);
  if (typeof provenance !== 'object' || provenance === null) return refuse('provenance', 'provenance is not an object');
  const { source, evidence = [] } = provenance;
  if (!isTexts(evidence)) return refuse('provenance.evidence', NO_REF);
  if (epistemic === 'verified') {
    if (source === '') return refuse('provenance.source', 'verified has to name its source');
    if (evidence.length === 0) return refuse('provenance.evidence', 'verified has to name its evidence');
  }
  if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1)) {
    return refuse('confidence', 'the confidence is not between 0 and 1');
  }
  if (!isTexts(context_refs) || !context_refs.every(isRef)) return refuse('context_refs', NO_REF);
  if (!evidence.every(isRef)) return refuse('provenance.evidence', NO_REF);
  if (prev_hash !== '' && !isRef(prev_hash)) return refuse('prev_hash', NO_REF);
  return undefined;
}

const NO_REF = 'this is not `sha256:` and 64 lower-case hex digits';

function checkLimits(message: Message): Refusal | undefined {
  const { max_hops = 0, cost_budget = 0, provenance, signer = '', signature = '' } = message;
  const { chain = [] } = provenance;
  if (!isCount(max_hops)) return refuse('max_hops', 'the limit of hops is not a count');
  if (!isTexts(chain)) return refuse('provenance.chain', 'the chain is not a list of texts');
  if (max_hops > 0 && chain.length > max_hops) return refuse('provenance.chain', 'the chain is longer than `max_hops`');
  if (!isCount(cost_budget)) return refuse('cost_budget', 'the budget is not a count');
  if (!isText(message.payload) || isBlank(message.payload)) return refuse('payload', 'the payload is blank');
  if (signer !== '' && !(isText(signer) && SIGNER.test(signer))) {
    return refuse('signer', 'the signer is not 64 lower-case hex digits');
  }
  if (signature !== '' && !(isText(signature) && SIGNATURE.test(signature))) {
    return refuse('signature', 'the signature is not 128 lower-case hex digits');
  }
  if (signer === '' && signature !== '') return refuse('signer', 'a signature has to name its signer');
  if (signer !== '' && signature === '') return refuse('signature', 'the message names a signer and is not signed');
  return undefined;
}

/** Ours, behind the rules of the source: what its types already say, and that every text has bytes. */
function checkText(message: Message): Refusal | undefined {
  const { id, room = '', thread_id, to = [], in_reply_to = '', provenance, ack_required = false, payload } = message;
  if (typeof ack_required !== 'boolean') return refuse('ack_required', 'this is not true or false');
  const texts = { id, room, thread_id, in_reply_to, 'provenance.source': provenance.source, payload };
  for (const path in texts) {
    if (!isSound(texts[path as keyof typeof texts])) return refuse(path, NO_TEXT);
  }
  if (!to.every(isSound)) return refuse('to', NO_TEXT);
  if (provenance.chain !== undefined && !provenance.chain.every(isSound)) return refuse('provenance.chain', NO_TEXT);
  return undefined;
}

const NO_TEXT = 'this is no text, or holds half of a surrogate pair';

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isSound(value: unknown): boolean {
  return typeof value === 'string' && isWellFormed(value);
}

function isRef(value: unknown): boolean {
  return typeof value === 'string' && PATTERNS.sha256.test(value);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function refuse(path: string, message: string): Refusal {
  return new Refusal('invalid', message, { path });
}
