/** Digests: our vectors, and domains kept apart. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import { ownVector, ownVectors } from '../../vectors/read.js';
import { canonicalize } from './canonical.js';
import { contentRef, DOMAINS, type Domain, digest, digestBytes } from './digest.js';
import { Fault, Refusal } from './errors.js';
import { PATTERNS } from './ids.js';
import { parseJson } from './json/index.js';
import { hexToBytes } from './utf8.js';

interface Digests {
  readonly domain: Domain;
  readonly cases: readonly { readonly canonical: string; readonly digest: string }[];
}

test('each domain has a vector file, and each file a domain', () => {
  verifies('core.digest.domains');
  const files = ownVectors<Digests>('digest').filter((file) => file.name !== 'content-ref.json');
  assert.deepEqual(files.map((file) => file.content.domain).sort(), [...DOMAINS].sort());
  for (const { content } of files) {
    for (const { canonical, digest: expected } of content.cases) {
      assert.equal(digest(content.domain, parseJson(canonical)), expected);
      assert.equal(digestBytes(content.domain, canonical), expected);
      assert.match(expected, PATTERNS.sha256);
    }
  }
});

test('one value has another digest under each domain', () => {
  verifies('core.digest.separation');
  assert.equal(new Set(DOMAINS.map((domain) => digest(domain, { a: 1 }))).size, DOMAINS.length);
  assert.equal(DOMAINS.length, 28);
  for (const domain of DOMAINS) assert.match(domain, /^[a-z_/-]+\/1$/);
});

test('a digest covers the value and not its spelling', () => {
  verifies('core.digest.value');
  assert.equal(
    digest('ameesh-action/1', parseJson('{"b":1.0,"a":"\\u0041"}')),
    digest('ameesh-action/1', { a: 'A', b: 1 }),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.integer()), fc.string(), fc.integer(), (value, key, extra) => {
      const changed = { ...value, [key]: extra };
      const isSame = canonicalize(value) === canonicalize(changed);
      assert.equal(digest('countersign-event/1', value) === digest('countersign-event/1', changed), isSame);
    }),
  );
});

test('a digest refuses what has no canonical form, and text without bytes is our own mistake', () => {
  verifies('core.digest.value');
  assert.throws(
    () => digest('ameesh-action/1', [Number.NaN]),
    (error) => error instanceof Refusal && error.path === '$[0]',
  );
  assert.throws(
    () => digestBytes('ameesh-action/1', '"\ud800"'),
    (error) => error instanceof Fault,
  );
});

test('a content reference is the hash of the bytes', () => {
  verifies('core.digest.content-ref');
  const { cases } = ownVector<{ cases: { hex: string; ref: string }[] }>('digest/content-ref.json');
  for (const { hex, ref } of cases) assert.equal(contentRef(hexToBytes(hex) as Uint8Array), ref);
  assert.equal(contentRef('€'), contentRef(new TextEncoder().encode('€')));
  assert.throws(
    () => contentRef('\ud800'),
    (error) => error instanceof Refusal && error.code === 'invalid',
  );
});
