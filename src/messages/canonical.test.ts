/** The bytes of a message: our vectors, the escapes one by one, and laws over random messages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import { ownVector, ownVectors } from '../../vectors/read.js';
import { Refusal, sha256Hex, utf8Encode } from '../core/index.js';
import { canonicalMessage, messageHash } from './canonical.js';
import type { Message } from './schema.js';

interface Canonical {
  readonly about: string;
  readonly cases: readonly { readonly message: Message; readonly canonical: string; readonly hash: string }[];
}

const REQUIREMENT_OF: Record<string, string> = {
  'empty.json': 'messages.canonical.fields',
  'escapes.json': 'messages.canonical.escapes',
  'fields.json': 'messages.canonical.fields',
  'numbers.json': 'messages.canonical.numbers',
};

for (const { name, content } of ownVectors<Canonical>('messages/canonical')) {
  test(`canonical bytes, ${name.replace('.json', '')}: ${content.about}`, () => {
    verifies(REQUIREMENT_OF[name] as string);
    verifies('messages.canonical.hash');
    for (const { message, canonical, hash } of content.cases) {
      assert.equal(canonicalMessage(message), canonical);
      assert.equal(messageHash(message), hash);
      assert.equal(hash, `sha256:${sha256Hex(utf8Encode(canonical) as Uint8Array)}`);
    }
  });
}

const [{ message: base }] = ownVector<Canonical>('messages/canonical/fields.json').cases as [Canonical['cases'][0]];

/** What stands for a character between quotes, by the table of the source's writer. */
function goEscape(unit: number): string {
  const short = { 8: '\\b', 9: '\\t', 10: '\\n', 12: '\\f', 13: '\\r', 34: '\\"', 92: '\\\\' }[unit];
  if (short !== undefined) return short;
  const isEscaped = unit < 0x20 || [0x26, 0x3c, 0x3e, 0x2028, 0x2029].includes(unit);
  return isEscaped ? `\\u${unit.toString(16).padStart(4, '0')}` : String.fromCharCode(unit);
}

test('every character of the first plane is escaped as in the table, in short texts and in long ones', () => {
  verifies('messages.canonical.escapes');
  const long = 'a'.repeat(100);
  for (let unit = 0; unit <= 0xffff; unit += 1) {
    if (unit >= 0xd800 && unit <= 0xdfff) continue;
    for (const around of ['', long]) {
      const payload = `${around}${String.fromCharCode(unit)}${around}`;
      const expected = `"payload":"${around}${goEscape(unit)}${around}"}`;
      assert.ok(canonicalMessage({ ...base, payload }).endsWith(expected), unit.toString(16));
    }
  }
});

test('half of a surrogate pair has no bytes in any text, and a number that is not finite has none', () => {
  verifies('messages.canonical.refusals');
  const isInvalid = (error: unknown) => error instanceof Refusal && error.code === 'invalid';
  for (const half of ['\ud800', '\udc00', 'a\udfff', '\udc00\ud800', `${'a'.repeat(200)}\ud800`]) {
    const refs = [half];
    const messages: Message[] = [
      { ...base, payload: half },
      { ...base, id: half },
      { ...base, room: half },
      { ...base, thread_id: half },
      { ...base, to: refs },
      { ...base, in_reply_to: half },
      { ...base, provenance: { source: half } },
      { ...base, provenance: { source: '', chain: refs } },
    ];
    for (const message of messages) assert.throws(() => canonicalMessage(message), isInvalid);
  }
  for (const confidence of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    assert.throws(() => canonicalMessage({ ...base, confidence }), isInvalid);
  }
  assert.ok(canonicalMessage({ ...base, payload: '\ud83d\ude00' }).endsWith('"\ud83d\ude00"}'));
});

const text = fc.string({ unit: 'binary' });
const texts = fc.array(text, { maxLength: 3 });
const anyMessage: fc.Arbitrary<Message> = fc.record(
  {
    version: text,
    id: text,
    room: text,
    thread_id: text,
    to: texts,
    in_reply_to: text,
    intent: fc.constantFrom('assert', 'query'),
    epistemic: fc.constantFrom('inferred', 'assumed'),
    confidence: fc.double({ noNaN: true, noDefaultInfinity: true }),
    context_refs: texts,
    prev_hash: text,
    provenance: fc.record({ source: text, chain: texts, evidence: texts }, { requiredKeys: ['source'] }),
    max_hops: fc.integer(),
    cost_budget: fc.maxSafeInteger(),
    ack_required: fc.boolean(),
    payload: text,
    signer: text,
    signature: text,
  },
  { requiredKeys: ['version', 'id', 'thread_id', 'intent', 'epistemic', 'confidence', 'provenance', 'payload'] },
);

const ORDER =
  'version id room thread_id to in_reply_to intent epistemic confidence context_refs prev_hash provenance max_hops ' +
  'cost_budget ack_required payload signer signature';
const KEPT = new Set('version id thread_id intent epistemic confidence provenance payload source'.split(' '));

/** The same by way of the platform's writer, whose escapes are a part of Go's. */
function expectedText(message: Message): string {
  const pick = (value: object, names: string) =>
    Object.fromEntries(
      names.split(' ').flatMap((name) => {
        const item: unknown = value[name as keyof typeof value];
        const isEmpty = Array.isArray(item) ? item.length === 0 : !item;
        return item === undefined || (isEmpty && !KEPT.has(name)) ? [] : [[name, item]];
      }),
    );
  const ordered = pick({ ...message, provenance: pick(message.provenance, 'source chain evidence') }, ORDER);
  const json = JSON.stringify(ordered).replace(/[<>&\u2028\u2029]/g, (found) => goEscape(found.charCodeAt(0)));
  return Object.is(message.confidence, -0) ? json.replace(',"confidence":0', ',"confidence":-0') : json;
}

test('the bytes of random messages are those of the platform with the additional escapes', () => {
  verifies('messages.canonical.fields');
  verifies('messages.canonical.escapes');
  fc.assert(
    fc.property(anyMessage, (message) => assert.equal(canonicalMessage(message), expectedText(message))),
    { numRuns: 2_000 },
  );
});

test('two messages have the same bytes exactly when they say the same', () => {
  verifies('messages.canonical.fields');
  fc.assert(
    fc.property(anyMessage, anyMessage, fc.constantFrom(...ORDER.split(' ')), (message, other, name) => {
      const changed = { ...message, [name]: other[name as keyof Message] } as Message;
      if (changed[name as keyof Message] === undefined) delete (changed as Record<string, unknown>)[name];
      const isSame = expectedText(changed) === expectedText(message);
      assert.equal(messageHash(changed) === messageHash(message), isSame);
    }),
  );
});
