/** The rules of a message, one by one and in their order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import { ownVector, ownVectors } from '../../vectors/read.js';
import { Refusal } from '../core/index.js';
import type { Message } from './schema.js';
import { isBlank, validateMessage } from './validate.js';
import { decodeMessage } from './wire.js';

interface Messages {
  readonly about: string;
  readonly path: string;
  readonly cases: readonly { readonly message: Message }[];
}

const RULES = ownVectors<Messages>('messages/invalid');
const VALID = ownVector<Messages>('messages/valid.json').cases.map(({ message }) => message);
const [base] = ownVector<Messages>('messages/canonical/fields.json').cases.map(({ message }) => message) as [Message];

function pathOf(message: unknown): string | undefined {
  const refusal = validateMessage(message as Message);
  if (refusal === undefined) return undefined;
  assert.equal(refusal.code, 'invalid');
  return refusal.path;
}

for (const { content } of RULES) {
  test(content.about, () => {
    verifies('messages.validate.rules');
    for (const { message } of content.cases) {
      assert.equal(pathOf(message), content.path, JSON.stringify(message));
      assert.throws(
        () => decodeMessage(JSON.stringify(message)),
        (error) => error instanceof Refusal && error.path === content.path,
      );
    }
  });
}

test('messages at the edge of a rule are valid', () => {
  verifies('messages.validate.rules');
  for (const message of VALID) assert.equal(pathOf(message), undefined, JSON.stringify(message));
});

/** For each rule a change that breaks it and, if a later change overrides it, no other rule before it. */
const BREAKS: readonly (readonly [path: string, change: object])[] = [
  ['version', { version: 'v2' }],
  ['id', { id: '' }],
  ['thread_id', { thread_id: '' }],
  ['to', { to: [' '] }],
  ['in_reply_to', { in_reply_to: 'm-1', id: 'm-1' }],
  ['intent', { intent: 'inform' }],
  ['epistemic', { epistemic: 'sure' }],
  ['confidence', { confidence: 2 }],
  ['context_refs', { context_refs: ['x'] }],
  ['prev_hash', { prev_hash: 'x' }],
  ['max_hops', { max_hops: -1 }],
  ['cost_budget', { cost_budget: -1 }],
  ['payload', { payload: ' ' }],
  ['signer', { signer: 'x' }],
  ['signature', { signature: 'x' }],
];

test('of two broken rules the first is the answer', () => {
  verifies('messages.validate.order');
  for (const [at, [path, change]] of BREAKS.entries()) {
    assert.equal(pathOf({ ...base, ...change }), path);
    for (const [, later] of BREAKS.slice(at + 1)) {
      if ('id' in later && 'id' in change) continue;
      assert.equal(pathOf({ ...base, ...later, ...change }), path, `${path} before ${Object.keys(later)}`);
    }
  }
});

test('the rules of one field and of a pair of fields keep their order too', () => {
  verifies('messages.validate.order');
  const verified = { ...base, epistemic: 'verified', intent: 'retract' };
  assert.equal(pathOf({ ...verified, provenance: { source: '' }, confidence: 2 }), 'in_reply_to');
  assert.equal(
    pathOf({ ...verified, in_reply_to: 'm-0', provenance: { source: '' }, confidence: 2 }),
    'provenance.source',
  );
  const sourced = { ...verified, in_reply_to: 'm-0', provenance: { source: 'x' }, confidence: 2 };
  assert.equal(pathOf(sourced), 'provenance.evidence');
  const badEvidence = { ...sourced, provenance: { source: 'x', evidence: ['x'] } };
  assert.equal(pathOf(badEvidence), 'confidence');
  assert.equal(pathOf({ ...badEvidence, confidence: 1, context_refs: ['x'] }), 'context_refs');
  assert.equal(pathOf({ ...badEvidence, confidence: 1, prev_hash: 'x' }), 'provenance.evidence');
  const chained = { ...base, max_hops: 1, provenance: { source: 'x', chain: ['a', 'b'] } };
  assert.equal(pathOf({ ...chained, cost_budget: -1 }), 'provenance.chain');
  assert.equal(pathOf({ ...chained, max_hops: -1 }), 'max_hops');
  assert.equal(pathOf({ ...base, to: ['a', 'a', ''] }), 'to');
  assert.match(validateMessage({ ...base, to: ['a', 'a', ''] })?.message ?? '', /blank/);
});

// The White_Space property of Unicode, which is what Go's unicode.IsSpace tells.
const SPACES = [
  ...[0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680],
  ...Array.from({ length: 11 }, (_, at) => 0x2000 + at),
  ...[0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
];

test("blank is exactly the set of Go's TrimSpace", () => {
  verifies('messages.validate.blank');
  for (let unit = 0; unit <= 0xffff; unit += 1) {
    assert.equal(isBlank(String.fromCharCode(unit)), SPACES.includes(unit), unit.toString(16));
  }
  assert.ok(isBlank(''));
  assert.ok(isBlank(String.fromCharCode(...SPACES)));
  assert.ok(!isBlank(`${String.fromCharCode(...SPACES)}x`));
  assert.ok(!isBlank('\ufeff'));
  const startedAt = performance.now();
  assert.ok(!isBlank(`${' '.repeat(1 << 20)}x`));
  assert.ok(performance.now() - startedAt < 1_000);
});

const FIELDS = Object.keys({
  ...{ version: 0, id: 0, room: 0, thread_id: 0, to: 0, in_reply_to: 0, intent: 0, epistemic: 0, confidence: 0 },
  ...{ context_refs: 0, prev_hash: 0, provenance: 0, max_hops: 0, cost_budget: 0, ack_required: 0, payload: 0 },
  ...{ signer: 0, signature: 0 },
});

test('a field of any wrong type is refused and never an exception', () => {
  verifies('messages.validate.types');
  const wrong = [null, Number.NaN, 0.5, -1, 2 ** 53, 10n, true, 'x', [], [1], ['\ud800'], {}, Symbol('x'), () => 'x'];
  const right: Record<string, readonly unknown[]> = {
    id: ['x'],
    room: ['x'],
    thread_id: ['x'],
    in_reply_to: ['x'],
    payload: ['x'],
    confidence: [0.5],
    ack_required: [true],
  };
  for (const name of FIELDS) {
    for (const value of wrong) {
      const isRight =
        right[name]?.includes(value) || (Array.isArray(value) && value.length === 0 && /^to$|refs/.test(name));
      assert.equal(pathOf({ ...base, [name]: value }) === undefined, isRight, `${name}: ${String(value)}`);
    }
  }
  for (const value of wrong.filter((value) => value !== 'x')) {
    assert.notEqual(pathOf({ ...base, provenance: { source: value } }), undefined);
    for (const list of ['chain', 'evidence']) {
      if (Array.isArray(value) && value.length === 0) continue;
      assert.notEqual(pathOf({ ...base, provenance: { source: 'x', [list]: value } }), undefined, list);
    }
    assert.notEqual(pathOf(value), undefined);
  }
  assert.equal(pathOf(undefined), '$');
  const key = 'a'.repeat(64);
  assert.equal(pathOf({ ...base, signer: [key], signature: 'a'.repeat(128) }), 'signer');
  assert.equal(pathOf({ ...base, signer: key, signature: ['a'.repeat(128)] }), 'signature');
});

test('every text of a valid message has bytes', () => {
  verifies('messages.validate.types');
  const half = 'x\udfff';
  const texts = { id: half, room: half, thread_id: half, in_reply_to: half, payload: half };
  for (const [name, value] of Object.entries(texts)) assert.equal(pathOf({ ...base, [name]: value }), name);
  assert.equal(pathOf({ ...base, to: [half] }), 'to');
  assert.equal(pathOf({ ...base, provenance: { source: half } }), 'provenance.source');
  assert.equal(pathOf({ ...base, provenance: { source: '', chain: [half] } }), 'provenance.chain');
});

test('a refusal is one line for people and never holds what it refused', () => {
  verifies('messages.validate.types');
  fc.assert(
    fc.property(fc.constantFrom(...FIELDS), fc.uuid(), (name, secret) => {
      for (const value of [secret, [secret, secret], { [secret]: secret }]) {
        const refusal = validateMessage({ ...base, [name]: value } as Message);
        if (refusal === undefined) continue;
        assert.match(refusal.message, /^[a-z][^\n]*[^.\n]$/);
        assert.ok(!`${refusal.message} ${refusal.path} ${refusal.next}`.includes(secret));
      }
    }),
  );
});
