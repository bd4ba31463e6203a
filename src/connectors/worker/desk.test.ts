/** Workers at a desk whose time is the test's: how many there may be, and how long silence is none. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verifies } from '../../../test/support/verifies.js';
import { ALL, ASKED, callOf, deskAt, OFFER } from '../../../test/support/worker-desk.js';
import { LIMITS } from '../../core/index.js';

describe('a desk', () => {
  it('counts a claim in the very moment at which its time ends', async () => {
    verifies('connectors.worker.fenced');
    const { desk, pass } = deskAt();
    const { signal } = new AbortController();
    desk.seats.sit('c', 'w', 1, () => true);
    const asked = desk.ask({ what: 'run', call: callOf(signal), asked: ASKED, sendBy: 2_000, signal });
    assert.deepEqual(await desk.next('w', ALL, 0, signal), OFFER);
    const passing = pass(2_000);
    desk.claim('w', ALL, OFFER);
    await passing;
    desk.answer('w', OFFER, { result: 'confirmed' });
    assert.deepEqual(await asked, { result: 'confirmed' });
  });

  it('tells of a call, and gives it, only to whoever may have it by itself', async () => {
    verifies('server.worker.scoped');
    const { desk, pass } = deskAt();
    const { signal } = new AbortController();
    const narrow = ({ project }: { readonly project: string }) => project === 'elsewhere';
    // Its name was let in for everything since: by another token of the same agent.
    desk.seats.sit('c', 'w', 1, ALL);
    void desk.ask({ what: 'run', call: callOf(signal), asked: ASKED, sendBy: 2_000, signal });
    const waits = desk.next('w', narrow, 0, signal);
    await pass(0);
    assert.equal(await waits, undefined);
    assert.throws(() => desk.claim('w', narrow, OFFER), { code: 'state' });
    assert.deepEqual(await desk.next('w', ALL, 0, signal), OFFER);
    assert.equal(desk.claim('w', ALL, OFFER).actionId, OFFER.action_id);
  });

  it('knows so many workers, in all and of one caller', () => {
    verifies('connectors.worker.present');
    const { desk } = deskAt();
    const sit = (caller: number, worker: number) => desk.seats.sit(`c${caller}`, `${caller}/${worker}`, 1, () => true);
    for (let at = 0; at < LIMITS.workersPerCallerMax; at += 1) sit(0, at);
    assert.throws(() => sit(0, LIMITS.workersPerCallerMax), { code: 'busy' });
    for (let at = LIMITS.workersPerCallerMax; at < LIMITS.workersMax; at += 1) sit(1 + Math.floor(at / 32), at);
    assert.throws(() => sit(99, 0), { code: 'busy' });
    // Whoever sits already may say it again.
    sit(0, 0);
    assert.equal(desk.seats.present(ASKED).length, LIMITS.workersMax);
  });

  it('forgets who did not come again in time', async () => {
    verifies('connectors.worker.present');
    const { desk, pass } = deskAt();
    desk.seats.sit('c', 'w', 1, () => true);
    await pass(LIMITS.workerGapMsMax - 1);
    assert.equal(desk.lacks(ASKED), undefined);
    await pass(1);
    assert.ok(desk.lacks(ASKED));
    assert.throws(() => desk.reserve(OFFER.action_id, ASKED), { code: 'no_worker' });
  });

  it('keeps a place for a launch that is written, and not for ever', async () => {
    verifies('connectors.worker.present');
    const { desk, pass } = deskAt();
    const come = () => desk.seats.sit('c', 'w', 1, () => true);
    come();
    desk.reserve(OFFER.action_id, ASKED);
    assert.throws(() => desk.reserve('act_other', ASKED), { code: 'busy' });
    await pass(LIMITS.workerPlaceMs - 1);
    come();
    assert.throws(() => desk.reserve('act_other', ASKED), { code: 'busy' });
    await pass(1);
    come();
    desk.reserve('act_other', ASKED);
  });

  it('takes a worker for dead after silence alone, and has no second one asked', async () => {
    verifies('connectors.worker.silent');
    const { desk, pass } = deskAt();
    const { signal } = new AbortController();
    desk.seats.sit('c', 'w', 1, () => true);
    const asked = desk.ask({ what: 'run', call: callOf(signal), asked: ASKED, sendBy: 2_000, signal });
    assert.deepEqual(await desk.next('w', ALL, 0, signal), OFFER);
    desk.claim('w', ALL, OFFER);
    let outcome: unknown;
    void asked.then((one) => (outcome = one));
    // It is heard as long as it waits, however long that is.
    const gone = new AbortController();
    const waits = desk.next('w', ALL, LIMITS.workerWaitMsMax, gone.signal);
    await pass(LIMITS.workerGapMsMax);
    await pass(LIMITS.workerGapMsMax);
    await pass(LIMITS.workerGapMsMax);
    assert.equal(outcome, undefined);
    gone.abort();
    await waits;
    for (let passed = 0; passed < LIMITS.workerSilentMsMax; passed += LIMITS.workerGapMsMax) {
      assert.equal(outcome, undefined);
      await pass(LIMITS.workerGapMsMax);
    }
    assert.deepEqual(outcome, { result: 'unknown', code: 'worker_silent' });
    desk.seats.sit('c', 'other', 1, () => true);
    const none = desk.next('other', ALL, 0, new AbortController().signal);
    await pass(0);
    assert.equal(await none, undefined);
    assert.throws(() => desk.claim('other', ALL, OFFER), { code: 'state' });
    assert.equal(desk.answer('w', OFFER, { result: 'confirmed' }), false);
  });
});
