/** Events that are kept until they have their place. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { verifies } from '../../../test/support/verifies.js';
import { LIMITS } from '../../core/index.js';
import type { LedgerEvent } from '../kind.js';
import { OwnEvents } from './own-events.js';

it('are handed out once, and the oldest are let go beyond their bound', () => {
  verifies('postgres.unsequenced');
  const own = new OwnEvents();
  const event = (hash: number) => ({ hash: String(hash) }) as LedgerEvent;
  own.add(Array.from({ length: LIMITS.ownEventsMax }, (_, i) => event(i)));
  own.add([event(-1)]);
  assert.equal(own.take('0'), undefined);
  for (const hash of ['1', '-1', String(LIMITS.ownEventsMax - 1)]) {
    assert.equal(own.take(hash)?.hash, hash);
    assert.equal(own.take(hash), undefined);
  }
});
