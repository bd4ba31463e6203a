/**
 * The n-th call loop: for n = 1, 2, 3 … the n-th call to the store fails, in every way, until a run meets no fault. After
 * each run the store is read as a process would that starts anew.
 *
 * Whatever fails: what was answered stands, what was refused does not, what ended in a Fault happened whole or not at all and
 * its claim tells which, and the store verifies.
 * Source: spec reliability (harness C, E, F).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contentRef, isOurs, type Json } from '../../../src/core/index.js';
import { LocalLedger, type LocalStore, MemoryStore, SqliteStore, type Work } from '../../../src/ledger/index.js';
import { type FaultPlan, FaultyStore } from '../../support/faulty-store.js';
import {
  added,
  addWork,
  anyRandom,
  claimOf,
  diaryProjection,
  HandClock,
  LEDGER_ID,
  room,
  roomKind,
  TEST_KINDS,
} from '../../support/ledger-world.js';
import { freshFile } from '../../support/sqlite-file.js';
import { verifies } from '../../support/verifies.js';

interface Backend {
  readonly store: LocalStore;
  remove(): void;
}

const BACKENDS: Readonly<Record<string, () => Backend>> = {
  memory: () => ({ store: new MemoryStore(LEDGER_ID), remove: () => undefined }),
  SQLite: () => {
    const { path, remove } = freshFile();
    const store = new SqliteStore(path, LEDGER_ID);
    return { store, remove: () => [store.close(), remove()] };
  },
};

const PLANS: readonly Omit<FaultPlan, 'call'>[] = [
  { lasts: 'once', when: 'before', code: 'SQLITE_IOERR_FSYNC' },
  { lasts: 'once', when: 'after', code: 'EIO' },
  { lasts: 'for ever', when: 'before', code: 'SQLITE_FULL' },
];

function openOn(store: LocalStore): LocalLedger {
  const options = { kinds: TEST_KINDS, clock: new HandClock(), random: anyRandom, projections: [diaryProjection] };
  return new LocalLedger({ ...options, store });
}

/** Every unit has a claim, so that whoever got a Fault can ask again. */
function work(step: number): Work<Json> {
  const id = step % 2 === 0 ? 'noted' : 'plain';
  return addWork(id, {
    claim: claimOf(`step ${step}`),
    once: [{ scope: 'nonce', key: `step ${step}` }],
    lookups: [{ kind: 'room', key: 'open' }],
    reads: [room('noted')],
    decide: (view) => {
      view.lookup('room', 'open');
      return { events: [added(id, { by: 1, open: 'open', step }, ['a body'])], outcome: step };
    },
  });
}

async function scenario(store: FaultyStore): Promise<ReadonlyMap<number, unknown>> {
  const ledger = openOn(store);
  const outcomes = new Map<number, unknown>();
  const attempt = async (step: number) => {
    try {
      outcomes.set(step, (await ledger.commit(work(step))).outcome);
    } catch (error) {
      assert.ok(isOurs(error), `a native error left the ledger: ${String(error)}`);
      outcomes.set(step, error);
    }
  };
  await attempt(0);
  await Promise.all([attempt(1), attempt(2), attempt(3)]);
  const reads = [
    () => ledger.readVerified(roomKind, 'noted'),
    () => ledger.payload(room('noted'), 0, contentRef('a body')),
    () => ledger.log(0),
  ];
  for (const read of reads) await read().catch((error: unknown) => assert.ok(isOurs(error), String(error)));
  await attempt(4);
  return outcomes;
}

/** What a process sees that starts anew: memory is gone, and what was not committed with it. */
async function inspect(store: LocalStore, outcomes: ReadonlyMap<number, unknown>): Promise<void> {
  store.rollback();
  store.reopen();
  const ledger = openOn(store);
  assert.deepEqual((await ledger.verify()).defects, []);
  const held = new Set((await ledger.log(0)).map(({ event }) => event.data.step).filter((step) => step !== undefined));
  for (const [step, outcome] of outcomes) {
    if (outcome === step) assert.ok(held.has(step), `step ${step} was answered, and is lost`);
    const { replayed, outcome: told } = await ledger.commit(work(step));
    assert.deepEqual([replayed, told], [held.has(step), step]);
  }
  assert.equal((await ledger.readVerified(roomKind, 'noted'))?.state.total, 3);
  assert.equal((await ledger.readVerified(roomKind, 'plain'))?.state.total, 2);
  assert.deepEqual((await ledger.verify()).defects, []);
}

describe('a store that fails at its n-th call', () => {
  for (const [name, open] of Object.entries(BACKENDS)) {
    for (const plan of PLANS) {
      it(`loses nothing and invents nothing: ${name}, ${plan.lasts}, ${plan.when} the call took effect`, async () => {
        verifies('ledger.faults.nth-call');
        let runs = 0;
        for (let call = 1; ; call += 1) {
          const { store, remove } = open();
          try {
            const faulty = new FaultyStore(store);
            faulty.plan({ ...plan, call });
            const outcomes = await scenario(faulty);
            const { hits } = faulty;
            faulty.healed();
            await inspect(store, outcomes);
            runs += 1;
            if (hits === 0) break;
          } finally {
            remove();
          }
        }
        assert.ok(runs > 50, `${runs} runs`);
      });
    }
  }

  it('goes on after a commit whose end is not certain: the caller asks with the same claim', async () => {
    verifies('ledger.faults.uncertain-commit');
    const { store, remove } = (BACKENDS.SQLite as () => Backend)();
    const faulty = new FaultyStore(store);
    const ledger = openOn(faulty);
    for (const when of ['before', 'after'] as const) {
      faulty.plan({ method: 'commit', call: 1, lasts: 'once', when, code: 'SQLITE_IOERR_FSYNC' });
      const step = when === 'before' ? 0 : 2;
      await assert.rejects(ledger.commit(work(step)), { name: 'Fault', code: 'store' });
      const { replayed } = await ledger.commit(work(step));
      assert.equal(replayed, when === 'after');
    }
    assert.equal((await ledger.readVerified(roomKind, 'noted'))?.state.total, 2);
    remove();
  });

  it('breaks the whole batch when the store can not be read, and no decision is blamed', async () => {
    verifies('ledger.faults.nth-call');
    const faulty = new FaultyStore(new MemoryStore(LEDGER_ID));
    const ledger = openOn(faulty);
    faulty.plan({ method: 'record', call: 2, lasts: 'once', when: 'before', code: 'SQLITE_IOERR_READ' });
    const results = await Promise.allSettled(['a', 'b', 'c'].map((id) => ledger.commit(addWork(id))));
    assert.deepEqual(
      results.map((result) => result.status === 'rejected' && result.reason.code),
      ['store', 'store', 'store'],
    );
    assert.deepEqual(await ledger.log(0), []);
    assert.equal((await ledger.commit(addWork('a'))).events.length, 1);
  });

  it('opens the store again as soon as that can be done, also for a reader', async () => {
    verifies('ledger.faults.reopen');
    const { store, remove } = (BACKENDS.SQLite as () => Backend)();
    const faulty = new FaultyStore(store);
    const ledger = openOn(faulty);
    await ledger.commit(addWork('a'));
    for (const use of [() => ledger.read(roomKind, 'a'), () => ledger.commit(addWork('a'))]) {
      faulty.plan({ call: 1, lasts: 'for ever', when: 'before', code: 'EMFILE' });
      await assert.rejects(ledger.commit(addWork('a')), { code: 'store' });
      await assert.rejects(ledger.head(), { code: 'store' });
      faulty.healed();
      await use();
    }
    assert.equal((await ledger.readVerified(roomKind, 'a'))?.state.total, 2);
    remove();
  });
});
