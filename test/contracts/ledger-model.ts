/**
 * The part of the ledger's contract that no list of cases covers: random units of work, several at once, beside a model that
 * fits on a page; and the log that comes of them, which is the same on every backend.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { type Json, Refusal } from '../../src/core/index.js';
import { type Kinds, LocalLedger, MemoryStore, type Work } from '../../src/ledger/index.js';
import {
  added,
  anyRandom,
  claimOf,
  diaryProjection,
  HandClock,
  LEDGER_ID,
  room,
  roomKind,
} from '../support/ledger-world.js';
import { verifies } from '../support/verifies.js';
import { logOf, type OpenedLedger, type OpenLedger } from './ledger.js';

/** One unit, as data: adds to rooms when they have less than a limit, under a key and a nonce. */
interface Unit {
  readonly rooms: readonly number[];
  readonly by: number;
  readonly limit: number;
  readonly key?: number | undefined;
  readonly nonce?: number | undefined;
  readonly throws: boolean;
}

/** Units of a step are handed over at once, then the clock moves, forwards or backwards. */
interface Step {
  readonly units: readonly Unit[];
  readonly tickMs: number;
}

const UNIT: fc.Arbitrary<Unit> = fc.record({
  rooms: fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 3 }),
  by: fc.integer({ min: 1, max: 3 }),
  limit: fc.integer({ min: 2, max: 9 }),
  key: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
  nonce: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
  throws: fc.boolean(),
});
const STEP: fc.Arbitrary<Step> = fc.record({
  units: fc.array(UNIT, { minLength: 1, maxLength: 6 }),
  tickMs: fc.integer({ min: -5_000, max: 5_000 }),
});

function nameOf(index: number): string {
  return index === 0 ? 'noted' : `r${index}`;
}

function workOf(unit: Unit): Work<Json> {
  const ids = unit.rooms.map(nameOf);
  return {
    actor: 'agent:bot',
    writes: ids.map(room),
    ...(unit.key === undefined ? {} : { claim: claimOf(`k${unit.key}`, JSON.stringify([unit.rooms, unit.by])) }),
    ...(unit.nonce === undefined ? {} : { once: [{ scope: 'nonce', key: `n${unit.nonce}` }] }),
    decide: (view) => {
      const totals = ids.map((id) => view.get(roomKind, id)?.state.total ?? 0);
      if (totals.some((total) => total >= unit.limit)) return new Refusal('state', 'full');
      if (unit.throws && (totals[0] ?? 0) % 2 === 1) throw new Error('odd');
      return { events: ids.map((id) => added(id, { by: unit.by })), outcome: totals };
    },
  };
}

/** The whole of what a ledger promises about such units. */
class Model {
  readonly totals = new Map<string, number>();
  readonly #keys = new Map<number, { readonly command: string; readonly outcome: Json }>();
  readonly #nonces = new Set<number>();
  events = 0;

  answer(unit: Unit): string {
    const ids = unit.rooms.map(nameOf);
    const command = JSON.stringify([unit.rooms, unit.by]);
    const known = unit.key === undefined ? undefined : this.#keys.get(unit.key);
    if (known !== undefined) return known.command === command ? JSON.stringify(known.outcome) : 'idempotency_reuse';
    if (unit.nonce !== undefined && this.#nonces.has(unit.nonce)) return 'replay';
    const totals = ids.map((id) => this.totals.get(id) ?? 0);
    if (totals.some((total) => total >= unit.limit)) return 'state';
    if (unit.throws && (totals[0] ?? 0) % 2 === 1) return 'internal';
    for (const id of ids) this.totals.set(id, (this.totals.get(id) ?? 0) + unit.by);
    this.events += ids.length + (ids.includes('noted') ? 1 : 0);
    if (unit.key !== undefined) this.#keys.set(unit.key, { command, outcome: totals });
    if (unit.nonce !== undefined) this.#nonces.add(unit.nonce);
    return JSON.stringify(totals);
  }
}

async function answerOf(commit: Promise<{ outcome: Json }>): Promise<string> {
  try {
    return JSON.stringify((await commit).outcome);
  } catch (error) {
    return (error as Refusal).code;
  }
}

/** Runs the steps and answers the log, without times where the store has a clock of its own. */
async function run(opened: OpenedLedger, clock: HandClock, steps: readonly Step[]): Promise<string> {
  const { ledger } = opened;
  const model = new Model();
  for (const { units, tickMs } of steps) {
    const answers = await Promise.all(units.map((unit) => answerOf(ledger.commit(workOf(unit)))));
    assert.deepEqual(
      answers,
      units.map((unit) => model.answer(unit)),
    );
    // A store may order the events of a step a moment after their commit; the head stands behind them.
    await ledger.head();
    clock.tick(tickMs);
  }
  for (const [id, total] of model.totals) assert.equal((await ledger.readVerified(roomKind, id))?.state.total, total);
  const log = await logOf(ledger, model.events);
  assert.equal(log.length, model.events);
  assert.deepEqual((await ledger.verify(await ledger.head())).defects, []);
  const bare = log.map(({ event: { record, revision, type, data } }) => ({ record, revision, type, data }));
  return JSON.stringify(opened.ownClock === true ? bare : log);
}

export function modelContract(open: OpenLedger, kinds: Kinds, runs: number): void {
  it('does with random units what the model does, and writes the log that the memory store writes', async () => {
    verifies('ledger.commit.model');
    const projections = [diaryProjection];
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 1, maxLength: 8 }), async (steps) => {
        const clock = new HandClock();
        const opened = await open({ clock, kinds, projections });
        const reference = new HandClock();
        const store = new MemoryStore(LEDGER_ID);
        const memory = new LocalLedger({ store, kinds, clock: reference, random: anyRandom, projections });
        try {
          const log = await run(opened, clock, steps);
          const same = { ...opened, ledger: memory };
          assert.equal(log, await run(same, reference, steps));
        } finally {
          await opened.close();
        }
      }),
      { numRuns: runs },
    );
  });
}
