/** 1000 random lives of a gate: see `test/support/lives.ts`. */
import { describe, it } from 'node:test';
import { liveRandomly, WORLDS } from '../support/lives.js';
import { verifies } from '../support/verifies.js';

describe('1000 random lives of a gate', () => {
  for (const [name, make] of WORLDS) {
    it(`keep every invariant ${name}`, { timeout: 1_800_000 }, async () => {
      verifies('actions.invariants');
      await liveRandomly(make, 1_000);
    });
  }
});
