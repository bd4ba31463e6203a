/** What a page hashes is what the gate expects to be signed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import { batchChallenge, challengeDigest, type RequestDocument } from '../approvals/schema.js';
import { Refusal } from '../core/index.js';
import { batchText, challengeText } from './challenge.js';

const KINDS = ['action', 'registry', 'agent', 'config', 'restore', 'freeze', 'standing', 'finding', 'assume_duplicate'];

test('the text of a challenge hashes to the challenge of the gate, whatever the request holds', () => {
  verifies('console.challenge');
  fc.assert(
    fc.property(
      fc.constantFrom(...KINDS),
      fc.dictionary(fc.string(), fc.string({ unit: 'grapheme' })),
      (kind, more) => {
        const request = { ...more, kind };
        const hash = createHash('sha256').update(challengeText(request), 'utf8').digest('hex');
        assert.equal(`sha256:${hash}`, challengeDigest(request as unknown as RequestDocument));
      },
    ),
  );
});

test('the text of a batch hashes to what one gesture signs for it', () => {
  verifies('console.challenge');
  const challenges = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`);
  const hash = createHash('sha256').update(batchText(challenges), 'utf8').digest();
  assert.deepEqual(new Uint8Array(hash), new Uint8Array(batchChallenge(challenges)));
});

test('what is no request of a gate has no challenge', () => {
  verifies('console.challenge');
  for (const kind of [undefined, 1, '', 'a/1\u0000', 'Action']) {
    assert.throws(() => challengeText({ kind } as never), Refusal);
  }
});
