/** The same by the million, from other seeds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzEnvelopes } from '../../support/envelope-fuzz.js';

test('a million mutated envelopes', async () => {
  let accepted = 0;
  for (let seed = 1; seed <= 10; seed += 1) accepted += await fuzzEnvelopes(100_000, seed);
  assert.ok(accepted > 10_000);
});
