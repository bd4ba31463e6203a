/**
 * Chance, from the operating system. Besides `core/crypto`, `node:crypto` is used here alone.
 */
import { randomFillSync } from 'node:crypto';
import type { Random } from '../core/index.js';

export const systemRandom: Random = {
  bytes: (count) => randomFillSync(new Uint8Array(count)),
};
