/** The digests of an action, against vectors and against an independent computation. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import oracle from 'canonicalize';
import fc from 'fast-check';
import { CONTENT } from '../../test/support/action-states.js';
import { verifies } from '../../test/support/verifies.js';
import { ownVector } from '../../vectors/read.js';
import { canonicalize, type Json } from '../core/index.js';
import { actionBinding, actionDigest, effectDigest } from './content.js';
import type { ActionContent } from './schema.js';

type Fields = Parameters<typeof actionDigest>[0] & { readonly args: Json };
interface Vector<T> {
  readonly cases: readonly { readonly about: string; readonly fields: T; readonly digest: string }[];
}

/** SHA-256 by the source document, with a canonicalizer of somebody else. */
function independent(domain: string, value: unknown): string {
  return `sha256:${createHash('sha256')
    .update(`${domain}\0${oracle(value)}`)
    .digest('hex')}`;
}

test('the digests of actions are those of the published vectors', () => {
  verifies('actions.digest.vectors');
  for (const { about, fields, digest } of ownVector<Vector<Fields>>('actions/digest.json').cases) {
    assert.equal(actionDigest(fields, canonicalize(fields.args)), digest, about);
  }
  for (const { fields, digest } of ownVector<Vector<Fields>>('actions/effect.json').cases) {
    assert.equal(effectDigest(fields, canonicalize(fields.args)), digest);
  }
  for (const { fields, digest } of ownVector<Vector<ActionContent>>('actions/binding.json').cases) {
    assert.equal(actionBinding(fields), digest);
  }
});

const word = fc.string({ unit: 'grapheme', maxLength: 12 });
const args = fc.dictionary(word, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }).filter((value) => isPlain(value));
const fields = fc.record({
  action_id: word,
  project: word,
  connector: word,
  operation: word,
  target: word,
  amount: fc.option(fc.nat()),
  currency: fc.option(word),
  policy_version: word,
  args,
});

function isPlain(value: unknown): boolean {
  try {
    return oracle(value) === canonicalize(value as Json);
  } catch {
    return false;
  }
}

test('the digest covers exactly the nine fields of the source document', () => {
  verifies('actions.digest.nine-fields');
  fc.assert(
    fc.property(fields, (given) => {
      const { args: value, ...rest } = given;
      const text = canonicalize(value as Json);
      assert.equal(actionDigest(rest, text), independent('ameesh-action/1', given));
      const more = { ...rest, class: 'costly', work_item: 'x' } as typeof rest;
      assert.equal(actionDigest(more, text), actionDigest(rest, text));
      const { action_id: _id, policy_version: _version, ...effect } = given;
      assert.equal(effectDigest(rest, text), independent('countersign-effect/1', effect));
    }),
    { numRuns: 2_000 },
  );
});

test('every field of the digest changes it; the effect ignores the id and the policy version', () => {
  verifies('actions.digest.nine-fields');
  verifies('actions.effect.fields');
  const text = '{"a":1}';
  const changes: Partial<ActionContent>[] = [
    { action_id: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3X' },
    { policy_version: 'sha256:other' },
    { project: 'other' },
    { connector: 'other' },
    { operation: 'other' },
    { target: 'other' },
    { amount: 1 },
    { currency: 'USD' },
  ];
  const digests = new Set([actionDigest(CONTENT, text), actionDigest(CONTENT, '{"a":2}')]);
  const effects = new Set([effectDigest(CONTENT, text), effectDigest(CONTENT, '{"a":2}')]);
  for (const change of changes) {
    digests.add(actionDigest({ ...CONTENT, ...change }, text));
    effects.add(effectDigest({ ...CONTENT, ...change }, text));
  }
  assert.equal(digests.size, changes.length + 2);
  assert.equal(effects.size, changes.length);
});

/** One change for each field that the binding covers. */
const BOUND: Readonly<Record<string, Partial<ActionContent>>> = {
  digest: { digest: 'sha256:other' },
  class: { class: 'costly' },
  work_item: { work_item: null },
  proposed_by: { proposed_by: 'agent:other' },
  on_behalf_of: { on_behalf_of: [] },
  approvers: { approvers: ['human:alice'] },
  quorum: { quorum: 2 },
  approve_by: { approve_by: CONTENT.approve_by + 1 },
  launch_within_ms: { launch_within_ms: CONTENT.launch_within_ms + 1 },
  operation_digest: { operation_digest: 'sha256:other' },
  preconditions: { preconditions: { head: 'two' } },
  provenance: { provenance: { thread_id: 'acme' } },
  flags: { flags: [] },
  ledger_id: { ledger_id: 'ffffffffffffffffffffffffffffffff' },
};

test('the binding changes with each of its fields, and with nothing else', () => {
  verifies('actions.binding.fields');
  const before = actionBinding(CONTENT);
  const expected = independent('countersign-binding/1', {
    ...Object.fromEntries(Object.keys(BOUND).map((name) => [name, CONTENT[name as keyof ActionContent]])),
    edited_by: null,
    pipeline_digest: null,
  });
  assert.equal(before, expected);
  const seen = new Set([before]);
  for (const [name, change] of Object.entries(BOUND)) {
    const changed = actionBinding({ ...CONTENT, ...change });
    assert.ok(!seen.has(changed), name);
    seen.add(changed);
  }
  for (const change of [{ epoch: 7 }, { rule: 'other' }, { effect: 'other' }, { args_ref: 'other' }]) {
    assert.equal(actionBinding({ ...CONTENT, ...change }), before);
  }
});
