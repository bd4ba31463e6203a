/** How long units of work wait for others. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { verifies } from '../../../test/support/verifies.js';
import { Patience } from './patience.js';

it('a lone caller begins at once, whatever was before it two transactions ago', () => {
  verifies('postgres.patience');
  const patience = new Patience();
  for (const now of [0, 1, 100]) {
    patience.came(now);
    assert.equal(patience.waitMs(now, 1, 0, false), 0);
    assert.equal(patience.waitMs(now, 1, 0, true), 0);
    patience.began(now, 1, 0);
  }
  for (const size of [64, 3, 3]) patience.began(200, size, 0);
  patience.came(300);
  assert.equal(patience.waitMs(300, 1, 0, true), 0);
});

it('a wave is waited for while it comes or reads, and never longer than its bound', () => {
  verifies('postgres.patience');
  const patience = new Patience();
  patience.began(0, 4, 0);
  patience.came(10);
  assert.equal(patience.waitMs(10, 1, 0, false), 2);
  patience.came(11);
  assert.equal(patience.waitMs(12, 2, 0, false), 1);
  assert.equal(patience.waitMs(13, 2, 0, false), 0);
  assert.equal(patience.waitMs(13, 2, 0, true), 1);
  for (let now = 12; now < 22; now += 1) {
    patience.came(now);
    assert.ok(patience.waitMs(now, 2, 0, true) > 0, `${now}`);
  }
  assert.equal(patience.waitMs(22, 2, 0, true), 0);
  assert.equal(patience.waitMs(10, 128, 0, true), 0);
});

it('beside a transaction that runs, few units wait for its end, unless it takes long', () => {
  verifies('postgres.patience');
  const patience = new Patience();
  patience.began(0, 1, 0);
  patience.came(1);
  assert.equal(patience.waitMs(5, 1, 1, false), 10);
  assert.equal(patience.waitMs(15, 1, 1, false), 0);
  assert.equal(patience.waitMs(5, 128, 1, false), 0);
});
