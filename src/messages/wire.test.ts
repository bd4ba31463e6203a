/** Messages from and to the wire: what is read, what is refused, and that nothing changes on the way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import { ownVector, ownVectors } from '../../vectors/read.js';
import { Refusal, utf8Encode } from '../core/index.js';
import { canonicalMessage, messageHash } from './canonical.js';
import { type Message, UNKNOWN_FIELDS } from './schema.js';
import { decodeMessage, encodeMessage } from './wire.js';

interface Undecodable {
  readonly about: string;
  readonly cases: readonly { readonly text: string; readonly path: string }[];
}

interface Decodable {
  readonly cases: readonly { readonly text: string; readonly canonical: string; readonly hash: string }[];
}

interface Messages {
  readonly cases: readonly { readonly message: Message }[];
}

const VALID = ownVector<Messages>('messages/valid.json').cases.map(({ message }) => message);
const [base, full] = ownVector<Messages>('messages/canonical/fields.json').cases.map(({ message }) => message) as [
  Message,
  Message,
];

for (const { name, content } of ownVectors<Undecodable>('messages/undecodable')) {
  test(`decoding refuses ${name.replace('.json', '')}: ${content.about}`, () => {
    verifies('messages.decode.strict');
    for (const { text, path } of content.cases) {
      for (const input of [text, utf8Encode(text) as Uint8Array]) {
        assert.throws(
          () => decodeMessage(input),
          (error) => error instanceof Refusal && error.code === 'invalid' && error.path === path,
          text,
        );
      }
    }
  });
}

test('unknown fields are ignored and null counts as absent', () => {
  verifies('messages.decode.lenient');
  for (const { text, canonical, hash } of ownVector<Decodable>('messages/decodable.json').cases) {
    for (const message of [decodeMessage(text), decodeMessage(utf8Encode(text) as Uint8Array)]) {
      assert.equal(canonicalMessage(message), canonical);
      assert.equal(messageHash(message), hash);
    }
  }
  assert.equal(({} as { payload?: string }).payload, undefined);
});

test('what was unknown is remembered beside the fields, and is neither bytes nor JSON', () => {
  verifies('messages.decode.lenient');
  const known = decodeMessage(JSON.stringify(base));
  const unknown = decodeMessage(JSON.stringify({ ...base, future: 1 }));
  assert.equal(known[UNKNOWN_FIELDS], undefined);
  assert.equal(unknown[UNKNOWN_FIELDS], true);
  assert.deepEqual(JSON.parse(JSON.stringify(unknown)), base);
  assert.equal(encodeMessage(unknown), encodeMessage(known));
});

test('messages that are read share nothing that one of them could change', () => {
  verifies('messages.decode.lenient');
  const text = JSON.stringify({ ...base, provenance: null });
  const first = decodeMessage(text) as { provenance: { source: string } };
  first.provenance.source = 'changed';
  assert.equal(decodeMessage(text).provenance.source, '');
});

test('invalid bytes, a long text and a deep one are refused', () => {
  verifies('messages.decode.strict');
  const isInvalid = (error: unknown) => error instanceof Refusal && error.code === 'invalid';
  const long = (size: number) => {
    const empty = JSON.stringify({ ...base, payload: '' }).length;
    return JSON.stringify({ ...base, payload: 'x'.repeat(size - empty) });
  };
  const twoMiB = 2 * 1024 * 1024;
  assert.equal(decodeMessage(long(twoMiB)).id, base.id);
  assert.throws(() => decodeMessage(long(twoMiB + 1)), isInvalid);
  assert.throws(() => decodeMessage(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])), isInvalid);
  const nested = (levels: number) =>
    `${JSON.stringify(base).slice(0, -1)},"x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  assert.equal(decodeMessage(nested(63)).id, base.id);
  assert.throws(() => decodeMessage(nested(64)), isInvalid);
});

test('looking for a count that is no integer costs linear time', () => {
  verifies('messages.decode.strict');
  const parts = ['\\\\', '\\u0041', '\\"', 'x', '[],'];
  const startedAt = performance.now();
  for (const part of parts) {
    const filler = part.repeat(Math.floor(1_000_000 / part.length));
    const value = part === '[],' ? `[${filler}1]` : `"${filler}"`;
    assert.equal(decodeMessage(`${JSON.stringify({ ...base, max_hops: 2 }).slice(0, -1)},"x":${value}}`).max_hops, 2);
  }
  assert.ok(performance.now() - startedAt < 4_000);
});

test('a valid message comes back as it was, and its text is the canonical one', () => {
  verifies('messages.decode.round-trip');
  for (const message of [...VALID, full]) {
    const text = encodeMessage(message);
    assert.equal(text, canonicalMessage(message));
    assert.deepEqual(JSON.parse(encodeMessage(decodeMessage(text))), JSON.parse(text));
    assert.equal(encodeMessage(decodeMessage(text)), text);
  }
});

test('a random valid message comes back as it was', () => {
  verifies('messages.decode.round-trip');
  const text = fc.string({ unit: 'binary', minLength: 1 });
  const valid: fc.Arbitrary<Message> = fc
    .record(
      {
        version: fc.constant('v1'),
        id: text,
        room: text,
        thread_id: text,
        intent: fc.constantFrom('assert', 'query', 'request', 'escalate'),
        epistemic: fc.constantFrom('inferred', 'assumed', 'untrusted-input'),
        confidence: fc.double({ min: 0, max: 1, noNaN: true }),
        provenance: fc.record({ source: text, chain: fc.array(text, { minLength: 1 }) }, { requiredKeys: ['source'] }),
        cost_budget: fc.integer({ min: 1 }),
        ack_required: fc.constant(true),
        payload: text.map((words) => `${words}!`),
      },
      { requiredKeys: ['version', 'id', 'thread_id', 'intent', 'epistemic', 'confidence', 'provenance', 'payload'] },
    )
    .map((message) => message as Message);
  fc.assert(
    fc.property(valid, (message) => {
      const decoded = decodeMessage(encodeMessage(message));
      assert.deepEqual({ ...decoded }, { ...message, provenance: { ...message.provenance } });
      assert.equal(messageHash(decoded), messageHash(message));
      assert.equal(messageHash(decodeMessage(JSON.stringify(message))), messageHash(message));
    }),
  );
});

test('an invalid message is not encoded', () => {
  verifies('messages.decode.round-trip');
  assert.throws(
    () => encodeMessage({ ...base, payload: ' ' }),
    (error) => error instanceof Refusal && error.path === 'payload',
  );
});
