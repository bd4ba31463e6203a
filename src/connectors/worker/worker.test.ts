/** The connector at a desk: what it makes of a worker's word on what became of a call. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verifies } from '../../../test/support/verifies.js';
import { ALL, callOf, deskAt, OFFER } from '../../../test/support/worker-desk.js';
import { LIMITS } from '../../core/index.js';
import type { Outcome } from '../connector.js';
import { workerConfig, workerConnector } from './index.js';

const QUESTION = { ...OFFER, what: 'reconcile' } as const;

async function asking() {
  const { desk, pass, now } = deskAt();
  const config = workerConfig.parse({ operations: { charge: { version: '1', class: 'costly', reconcile: true } } });
  const operation = await workerConnector({ config, desk, now }).operation('charge');
  const { signal } = new AbortController();
  desk.seats.sit('c', 'w', 1, ALL);
  const found = Promise.resolve(operation?.reconcile?.(callOf(signal)));
  assert.deepEqual(await desk.next('w', ALL, 0, signal), QUESTION);
  return { desk, pass, found };
}

describe('the question what became of a call', () => {
  it('is not answered by what only a worker says that never asked its function', async () => {
    verifies('connectors.worker.asked');
    const words: readonly (readonly [Outcome, 'taken' | 'left'])[] = [
      [{ result: 'failed', code: 'never_called' }, 'left'],
      [{ result: 'failed', code: 'invalid' }, 'left'],
      [{ result: 'failed', code: 'not_claimed' }, 'left'],
      [{ result: 'failed', code: 'too_late' }, 'left'],
      [{ result: 'unknown' }, 'left'],
      [{ result: 'failed' }, 'taken'],
      [{ result: 'failed', code: 'declined' }, 'taken'],
      [{ result: 'confirmed' }, 'taken'],
    ];
    for (const [word, what] of words) {
      const { desk, found } = await asking();
      desk.claim('w', ALL, QUESTION);
      assert.ok(desk.answer('w', QUESTION, word));
      assert.deepEqual(await found, what === 'taken' ? word : undefined, JSON.stringify(word));
    }
  });

  it('is claimed in time or not at all, and then nothing is known', async () => {
    verifies('connectors.worker.asked');
    const { desk, pass, found } = await asking();
    await pass(LIMITS.launchToCallMsMax + 1);
    assert.throws(() => desk.claim('w', ALL, QUESTION), { code: 'state' });
    assert.equal(desk.answer('w', QUESTION, { result: 'failed' }), false);
    assert.equal(await found, undefined);
  });
});
