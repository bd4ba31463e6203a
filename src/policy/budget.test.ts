/** The machine of bounds, alone: whatever launches and outcomes come in which order, no launch passes a bound. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import type { NewEvent, View } from '../ledger/index.js';
import { type BudgetState, budgetKind, budgetRecords, type Reservation, settleReserved, takeRoom } from './budget.js';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 30, 22, 59, 59, 999);

class Records {
  readonly states = new Map<string, BudgetState>();

  view(now: number): View {
    const get = (_kind: unknown, id: string) => {
      const state = this.states.get(id);
      return state === undefined ? undefined : { id, revision: 0, head: '', headAt: 0, state };
    };
    return { now, get: get as never, behindMs: 0, lookup: () => [] };
  }

  apply(events: readonly NewEvent[]): void {
    for (const { record, type, data } of events) {
      const event = { record, type, data, at: 0, actor: '', payloads: [], prev: null, hash: '', revision: 0 };
      this.states.set(record.id, budgetKind.evolve(this.states.get(record.id), event));
    }
  }
}

const BOUNDS: readonly Omit<Reservation, 'amount'>[] = [
  { rule: 'r', id: 'limit', per: 'hour', max: 5, currency: null, over: 'ask' },
  { rule: 'r', id: 'budget', per: 'day', max: 300, currency: 'EUR', over: 'deny' },
];

const step = fc.oneof(
  fc.record({ do: fc.constant('launch' as const), amount: fc.integer({ min: 0, max: 320 }) }),
  fc.record({
    do: fc.constant('settle' as const),
    which: fc.nat(20),
    as: fc.constantFrom('confirmed' as const, 'failed' as const, 'unknown' as const),
  }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 3 * HOUR }) }),
);

test('reserved and spent stay within every bound, and are what the open and the spent launches took', () => {
  verifies('policy.budget.exact');
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const records = new Records();
      const open: { reserved: readonly { budget: string; amount: number }[]; no: number }[] = [];
      const spent = new Map<string, number>();
      let now = START;
      for (const one of steps) {
        if (one.do === 'wait') now += one.ms;
        if (one.do === 'launch') {
          const wanted = BOUNDS.map((bound) => ({ ...bound, amount: bound.currency === null ? 1 : one.amount }));
          const room = takeRoom(records.view(now), wanted, now, { actionId: 'act', attempt: 1 });
          if (room.is === 'taken') {
            records.apply(room.events);
            open.push({ reserved: room.reserved, no: open.length });
          }
          for (const [at, { id }] of budgetRecords(wanted, now).entries()) {
            const { reserved = 0, spent: paid = 0 } = records.states.get(id) ?? {};
            assert.ok(reserved + paid <= (BOUNDS[at]?.max ?? 0));
          }
        }
        if (one.do === 'settle' && open.length > 0) {
          const [launch] = one.as === 'unknown' ? [] : open.splice(one.which % open.length, 1);
          if (launch === undefined) continue;
          records.apply(settleReserved(launch.reserved, one.as, { actionId: 'act', attempt: 1 }));
          for (const { budget, amount } of one.as === 'confirmed' ? launch.reserved : []) {
            spent.set(budget, (spent.get(budget) ?? 0) + amount);
          }
        }
      }
      for (const [id, state] of records.states) {
        const held = open.flatMap(({ reserved }) => reserved).filter(({ budget }) => budget === id);
        const reserved = held.reduce((sum, { amount }) => sum + amount, 0);
        assert.deepEqual([state.reserved, state.spent], [reserved, spent.get(id) ?? 0]);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('a bound that is full at n refuses n + 1, a period ends at its border, and odd amounts have no room', () => {
  verifies('policy.budget.exact');
  const records = new Records();
  const launch = { actionId: 'act', attempt: 1 };
  const of = (amount: number) => [{ ...(BOUNDS[1] as Omit<Reservation, 'amount'>), amount }];
  const full = takeRoom(records.view(START), of(300), START, launch);
  assert.equal(full.is, 'taken');
  if (full.is === 'taken') records.apply(full.events);
  assert.equal(takeRoom(records.view(START), of(1), START, launch).is, 'over');
  assert.equal(takeRoom(records.view(START), of(0), START, launch).is, 'taken');
  const midnight = START + 1 + HOUR;
  assert.equal(takeRoom(records.view(midnight - 1), of(1), midnight - 1, launch).is, 'over');
  assert.equal(takeRoom(records.view(midnight), of(300), midnight, launch).is, 'taken');
  assert.equal(takeRoom(records.view(midnight), of(1), START, launch).is, 'stale', 'named in another period');
  for (const amount of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    assert.equal(takeRoom(records.view(midnight), of(amount), midnight, launch).is, 'over', String(amount));
  }
});
