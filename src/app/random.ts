/**
 * Chance, from the operating system. Besides `core/crypto`, `node:crypto` is used here alone.
 */
import { randomFillSync } from 'node:crypto';
import { assert, type Random } from '../core/index.js';

const POOL_BYTES = 4_096;
const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

/** Small wants are cut from a pool, since asking costs more than the bytes; what was handed out is wiped there. */
export const systemRandom: Random = {
  bytes: (count) => {
    assert(Number.isSafeInteger(count) && count >= 0, 'a whole number of bytes');
    if (count > POOL_BYTES / 8) return randomFillSync(new Uint8Array(count));
    if (used + count > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const bytes = pool.slice(used, used + count);
    pool.fill(0, used, used + count);
    used += count;
    return bytes;
  },
};
