/** No text at all gives anything but an envelope or a coded refusal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzEnvelopes } from '../../support/envelope-fuzz.js';
import { verifies } from '../../support/verifies.js';

test('100,000 mutated envelopes: an envelope that another reader agrees with, or a coded refusal', async () => {
  verifies('packages.parse.hostile');
  const accepted = await fuzzEnvelopes(100_000, 20_260_807);
  // So many that the accepted ones were looked at, and so few that mutations matter.
  assert.ok(accepted > 1_000 && accepted < 90_000, String(accepted));
});
