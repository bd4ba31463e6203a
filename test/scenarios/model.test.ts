/** 200 random lives of a gate: see `test/support/lives.ts`. */
import { describe, it } from 'node:test';
import { liveRandomly, WORLDS } from '../support/lives.js';
import { verifies } from '../support/verifies.js';

describe('200 random lives of a gate', () => {
  for (const [name, make] of WORLDS) {
    it(`keep every invariant ${name}`, { timeout: 240_000 }, async () => {
      verifies('actions.invariants');
      await liveRandomly(make, 200);
    });
  }
});
