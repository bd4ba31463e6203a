/** Places of callers at the server: so many for each, so many streams in all, and one that is left is free again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS, Refusal } from '../../src/core/index.js';
import { Places } from '../../src/server/places.js';
import { verifies } from '../support/verifies.js';

const isBusy = (error: unknown) => error instanceof Refusal && error.code === 'busy';

test('a caller has as many calls and streams as the limits say, and no more', () => {
  verifies('server.bounded');
  for (const [sort, max] of [
    ['calls', LIMITS.callsPerCallerMax],
    ['streams', LIMITS.streamsPerCallerMax],
  ] as const) {
    const places = new Places();
    const leaving = Array.from({ length: max }, () => places.take('a', sort));
    assert.throws(() => places.take('a', sort), isBusy);
    places.take('b', sort)();
    places.take('a', sort === 'calls' ? 'streams' : 'calls')();
    // Left twice it is one place.
    leaving[0]?.();
    leaving[0]?.();
    places.take('a', sort);
    assert.throws(() => places.take('a', sort), isBusy);
  }
});

test('the streams of everybody have a limit, which calls do not count toward', () => {
  verifies('server.bounded');
  const places = new Places();
  for (let at = 0; at < LIMITS.streamsRunningMax - 1; at += 1) places.take(`caller ${at}`, 'streams');
  const leave = places.take('last', 'streams');
  assert.equal(places.streams, LIMITS.streamsRunningMax);
  assert.throws(() => places.take('one more', 'streams'), isBusy);
  places.take('one more', 'calls');
  leave();
  places.take('one more', 'streams');
});
