/** Workers at a desk whose time is the test's: how many there may be, and how long silence is none. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verifies } from '../../../test/support/verifies.js';
import { LIMITS } from '../../core/index.js';
import type { Call } from '../connector.js';
import { WorkerDesk } from './desk.js';

const ASKED = { project: 'acme', operation: 'charge', digest: 'sha256:x' };
const OFFER = { action_id: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W', attempt: 1, what: 'run' } as const;

function deskAt() {
  let now = 0;
  const ringing: { at: number; ring(): void }[] = [];
  const desk = new WorkerDesk({
    now: () => now,
    monotonic: () => now,
    timer: (ms) => ({
      rings: new Promise<void>((ring) => ringing.push({ at: now + ms, ring })),
      stop: () => undefined,
    }),
  });
  const pass = async (ms: number) => {
    now += ms;
    for (const { at, ring } of ringing) if (at <= now) ring();
    for (let turns = 20; turns > 0; turns -= 1) await Promise.resolve();
  };
  return { desk, pass };
}

const callOf = (signal: AbortSignal) =>
  ({ actionId: OFFER.action_id, attempt: 1, deadline: 3_600_000, signal }) as unknown as Call;

describe('a desk', () => {
  it('counts a claim in the very moment at which its time ends', async () => {
    verifies('connectors.worker.fenced');
    const { desk, pass } = deskAt();
    const { signal } = new AbortController();
    desk.seats.sit('c', 'w', 1, () => true);
    const asked = desk.ask({ what: 'run', call: callOf(signal), asked: ASKED, sendBy: 2_000, signal });
    assert.deepEqual(await desk.next('w', 0, signal), OFFER);
    const passing = pass(2_000);
    desk.claim('w', OFFER);
    await passing;
    desk.answer('w', OFFER, { result: 'confirmed' });
    assert.deepEqual(await asked, { result: 'confirmed' });
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
    assert.deepEqual(await desk.next('w', 0, signal), OFFER);
    desk.claim('w', OFFER);
    let outcome: unknown;
    void asked.then((one) => (outcome = one));
    // It is heard as long as it waits, however long that is.
    const gone = new AbortController();
    const waits = desk.next('w', LIMITS.workerWaitMsMax, gone.signal);
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
    const none = desk.next('other', 0, new AbortController().signal);
    await pass(0);
    assert.equal(await none, undefined);
    assert.throws(() => desk.claim('other', OFFER), { code: 'state' });
    assert.equal(desk.answer('w', OFFER, { result: 'confirmed' }), false);
  });
});
