/**
 * The part of the ledger's contract about units of work: all or nothing, isolation, the chain, time, group commit.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { digest, Fault, type Json, LIMITS, Refusal } from '../../src/core/index.js';
import type { LedgerEvent, View, Work } from '../../src/ledger/index.js';
import { added, addWork, budgetKind, LEDGER_ID, room, roomKind, START } from '../support/ledger-world.js';
import { verifies } from '../support/verifies.js';
import { logOf, rejectsWith, type WithLedger } from './ledger.js';

export function commitContract(withLedger: WithLedger): void {
  describe('units of work', () => unitContract(withLedger));
  describe('the chain and time', () => chainContract(withLedger));
}

/** The hash of an event, computed from what the ledger hands out and nothing else. */
export function hashOf(event: LedgerEvent): string {
  const { record, hash: _, ...rest } = event;
  const whole = { ...rest, record: `${record.kind}/${record.id}`, ledger_id: LEDGER_ID };
  return digest('countersign-event/1', whole as unknown as Json);
}

function unitContract(withLedger: WithLedger): void {
  it('appends to several records in one commit, or to none', () =>
    withLedger({}, async ({ ledger }) => {
      verifies('ledger.commit.all-or-nothing');
      const both = (last: string): Work<Json> => ({
        actor: 'agent:bot',
        writes: [room('a'), room('b')],
        decide: () => ({ events: [added('a'), added('b'), added(last)], outcome: null }),
      });
      const { events } = await ledger.commit(both('a'));
      assert.deepEqual(
        events.map(({ record, revision }) => [record.id, revision]),
        [
          ['a', 0],
          ['b', 0],
          ['a', 1],
        ],
      );
      await rejectsWith('internal', ledger.commit(both('unnamed')));
      assert.equal((await logOf(ledger, 3)).length, 3);
      assert.equal((await ledger.read(roomKind, 'a'))?.revision, 1);
    }));

  it('leaves nothing of a refused unit, and what the units before it did stands', () =>
    withLedger({}, async ({ ledger }) => {
      verifies('ledger.commit.refused-leaves-nothing');
      const refusal = new Refusal('quorum', 'approvals are missing');
      const before = ledger.commit(addWork('a'));
      const refused = ledger.commit(addWork('a', { decide: () => refusal }));
      const after = ledger.commit(addWork('a'));
      await assert.rejects(refused, (error) => error === refusal);
      assert.deepEqual([(await before).outcome, (await after).outcome], [{ total: 1 }, { total: 2 }]);
      assert.equal((await logOf(ledger, 2)).length, 2);
    }));

  const failing: Readonly<Record<string, Partial<Work<Json>>>> = {
    throws: {
      decide: () => {
        throw new TypeError('secret');
      },
    },
    'answers nothing': { decide: (() => undefined) as unknown as Work<Json>['decide'] },
    'answers a promise': { decide: (async () => ({ events: [], outcome: null })) as unknown as Work<Json>['decide'] },
    'makes an event that evolve can not follow': {
      decide: () => ({ events: [added('x'), added('x', { bad: true })], outcome: null }),
    },
    'looks at a record that it did not name': {
      decide: (view: View) => ({ events: [], outcome: view.get(roomKind, 'b')?.id ?? null }),
    },
    'makes a lookup that it did not name': {
      decide: (view: View) => ({ events: [], outcome: view.lookup('room', 'k').length }),
    },
    'writes to a record that it only reads': {
      reads: [room('b')],
      decide: () => ({ events: [added('b')], outcome: null }),
    },
    'writes a kind that nobody registered': {
      writes: [{ kind: 'grant', id: 'g' }],
      decide: () => ({ events: [{ record: { kind: 'grant', id: 'g' }, type: 'made', data: {} }], outcome: null }),
    },
    'makes a due time that is no number of milliseconds': {
      decide: () => ({ events: [added('x', { due: 1.5 })], outcome: null }),
    },
    'makes a lookup key that is no text': {
      decide: () => ({ events: [added('x', { open: '\ud800' })], outcome: null }),
    },
    'makes data that the ledger keeps for itself': {
      decide: () => ({ events: [added('x', { claims: {} })], outcome: null }),
    },
    'names an event by no word': { decide: () => ({ events: [{ ...added('x'), type: 'Room Added' }], outcome: null }) },
    'puts a payload under a foreign digest': {
      decide: () => ({
        events: [{ ...added('x'), payloads: [{ ref: `sha256:${'0'.repeat(64)}`, bytes: 'other' }] }],
        outcome: null,
      }),
    },
    'writes to what can be no record': { writes: [room('two words')] },
    'has an actor that is no principal': { actor: 'two words' },
    'names too many records': { reads: Array.from({ length: LIMITS.unitRecordsMax + 1 }, (_, i) => room(`r${i}`)) },
  };
  for (const [name, work] of Object.entries(failing)) {
    it(`fails a unit that ${name}, and no other unit of its batch`, () =>
      withLedger({}, async ({ ledger }) => {
        verifies('ledger.commit.failing-unit');
        const before = ledger.commit(addWork('a'));
        const bad = ledger.commit(addWork('x', work));
        const after = ledger.commit(addWork('a'));
        await assert.rejects(bad, (error: unknown) => {
          assert.ok(error instanceof Fault || error instanceof Refusal, String(error));
          assert.ok(['internal', 'invalid'].includes(error.code), error.code);
          return !error.message.includes('secret');
        });
        assert.deepEqual([(await before).outcome, (await after).outcome], [{ total: 1 }, { total: 2 }]);
        assert.equal(await ledger.read(roomKind, 'x'), undefined);
        assert.deepEqual((await ledger.verify()).defects, []);
      }));
  }

  it('lets decide see the records as the units before it in the batch left them', () =>
    withLedger({}, async ({ ledger }) => {
      verifies('ledger.commit.isolation');
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => ledger.commit(addWork('a'))));
      assert.deepEqual(
        outcomes.map(({ outcome }) => outcome),
        Array.from({ length: 20 }, (_, i) => ({ total: i + 1 })),
      );
    }));

  it('never spends more than a limit that decide checks, from two connections at once', () =>
    withLedger({}, async ({ ledger, another }) => {
      verifies('ledger.commit.isolation');
      const spend: Work<Json> = {
        actor: 'agent:bot',
        writes: [{ kind: 'budget', id: 'b' }],
        decide: (view) => {
          if ((view.get(budgetKind, 'b')?.state.spent ?? 0) >= 300) return new Refusal('state', 'spent');
          return {
            events: [{ record: { kind: 'budget', id: 'b' }, type: 'reserved', data: { spend: 1 } }],
            outcome: null,
          };
        },
      };
      const ledgers = [ledger, await another()];
      await Promise.allSettled(Array.from({ length: 500 }, (_, i) => (ledgers[i % 2] ?? ledger).commit(spend)));
      assert.equal((await ledger.read(budgetKind, 'b'))?.state.spent, 300);
    }));

  it('shares few transactions among 256 commits at once', async () => {
    let transactions = 0;
    const failpoint = (name: string) => {
      if (name === 'ledger.before-commit') transactions += 1;
    };
    await withLedger({ failpoint }, async ({ ledger }) => {
      verifies('ledger.commit.group');
      await Promise.all(Array.from({ length: 256 }, (_, i) => ledger.commit(addWork(`r${i}`))));
      assert.ok(transactions <= 8, `${transactions} transactions`);
      assert.equal((await logOf(ledger, 256)).length, 256);
    });
  });

  it('takes an effect as a lock that has no events', () =>
    withLedger({}, async ({ ledger }) => {
      verifies('ledger.commit.lock-only');
      const lock = { kind: 'effect', id: `sha256:${'a'.repeat(64)}` } as const;
      await ledger.commit(addWork('a', { writes: [lock, room('a')] }));
      assert.equal((await ledger.events(lock)).length, 0);
    }));

  it('hands out states and events that nobody can change', () =>
    withLedger({}, async ({ ledger }) => {
      verifies('ledger.commit.frozen');
      const data = { by: 1, nested: { deep: 1 } };
      const { events } = await ledger.commit(addWork('a', {}, data));
      assert.throws(() => {
        data.nested.deep = 2;
      }, TypeError);
      const read = await ledger.read(roomKind, 'a');
      assert.deepEqual(read?.state.last, { by: 1, nested: { deep: 1 } });
      for (const held of [read?.state.last, events[0]?.data] as ({ nested: object } | undefined)[]) {
        assert.throws(() => Object.assign(held?.nested as object, { deep: 3 }), TypeError);
      }
      const mutating: Work<Json>['decide'] = (view) => {
        Object.assign(view.get(roomKind, 'a')?.state as object, { total: 99 });
        return { events: [], outcome: null };
      };
      await rejectsWith('internal', ledger.commit(addWork('a', { decide: mutating })));
      assert.equal((await ledger.readVerified(roomKind, 'a'))?.state.total, 1);
    }));

  it('finishes the work that waits before it closes, and takes no more', () =>
    withLedger({}, async ({ ledger, another }) => {
      verifies('ledger.close.drains');
      const second = await another();
      const waiting = second.commit(addWork('a'));
      const closing = second.close();
      await rejectsWith('store', second.commit(addWork('a')));
      await Promise.all([waiting, closing, second.close()]);
      await rejectsWith('store', second.head());
      assert.equal((await ledger.read(roomKind, 'a'))?.state.total, 1);
    }));
}

function chainContract(withLedger: WithLedger): void {
  it('numbers a record without gaps, links each event to the one before, and hashes all of it', () =>
    withLedger({}, async ({ ledger, another }) => {
      verifies('ledger.chain.links');
      const ledgers = [ledger, await another()];
      const bodies = ['a body', 'another body'];
      const work = (i: number) => {
        const events = [added(`r${i % 3}`, { by: i, ä: [null, 1.5, 'ü"\\'] }, i % 2 ? bodies : [])];
        return addWork(`r${i % 3}`, { decide: () => ({ events, outcome: null }) });
      };
      await Promise.all(Array.from({ length: 60 }, (_, i) => (ledgers[i % 2] ?? ledger).commit(work(i))));
      for (const id of ['r0', 'r1', 'r2']) {
        const events = await ledger.events(room(id));
        assert.equal(events.length, 20);
        events.forEach((event, revision) => {
          assert.equal(event.revision, revision);
          assert.equal(event.prev, events[revision - 1]?.hash ?? null);
          assert.equal(event.hash, hashOf(event));
        });
        assert.equal((await ledger.read(roomKind, id))?.head, events.at(-1)?.hash);
        assert.deepEqual(await ledger.events(room(id), 18), events.slice(18));
      }
    }));

  it('dates a unit with the time it was decided at, never before the last event of the log', () =>
    withLedger({}, async ({ ledger, clock, ownClock }) => {
      verifies('ledger.time.never-back');
      if (ownClock === true) return;
      clock.set(START + 3_600_000);
      await ledger.commit(addWork('late'));
      clock.set(START);
      let seen = 0;
      let behindMs = 0;
      const looking: Work<Json>['decide'] = (view) => {
        seen = view.now;
        behindMs = view.behindMs;
        return { events: [added('a'), added('b')], outcome: null };
      };
      const { events } = await ledger.commit(addWork('a', { writes: [room('a'), room('b')], decide: looking }));
      assert.deepEqual([seen, ...events.map(({ at }) => at)], Array(3).fill(START + 3_600_000));
      assert.equal(behindMs, 3_600_000);
      clock.set(START + 3_600_001);
      const more = { writes: [room('a'), room('b')], decide: looking };
      const after = await ledger.commit(addWork('a', more));
      assert.deepEqual([seen, ...after.events.map(({ at }) => at)], Array(3).fill(START + 3_600_001));
      assert.equal(behindMs, 0);
      assert.deepEqual((await ledger.verify()).defects, []);
    }));

  it('reads the time behind the locks, not when the work was handed over', () =>
    withLedger({}, async ({ ledger, clock, ownClock }) => {
      verifies('ledger.time.after-locks');
      if (ownClock === true) return;
      const waiting = ledger.commit(addWork('a'));
      clock.tick(5_000);
      assert.equal((await waiting).events[0]?.at, START + 5_000);
    }));

  it('tells the monotonic time just before the time of the commit', () =>
    withLedger({}, async ({ ledger }) => {
      verifies('ledger.time.after-locks');
      const first = await ledger.commit(addWork('a'));
      const second = await ledger.commit(addWork('a'));
      assert.ok(Number.isFinite(first.monotonic) && second.monotonic > first.monotonic);
    }));
}
