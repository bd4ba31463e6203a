/**
 * Events that get their places in the transaction that writes them, and those that do not, because another gate was there
 * in between.
 * Source: spec ledger (the log, after the commit); docs/decisions/0006.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rejectsWith } from '../../../test/contracts/ledger.js';
import {
  addWork,
  DIARY,
  diaryProjection,
  LEDGER_ID,
  TEST_KINDS,
  wallClock,
} from '../../../test/support/ledger-world.js';
import { testDatabase } from '../../../test/support/postgres.js';
import { onDatabase } from '../../../test/support/postgres-server.js';
import { verifies } from '../../../test/support/verifies.js';
import type { LogEntry } from '../ledger.js';
import { RecordMap } from '../record-map.js';
import { Connection, type Row } from './connection.js';
import { migratePostgres } from './migrate.js';
import { EMPTY_HEAD, Order, orderedBehind } from './order.js';
import { PostgresLedger } from './postgres-ledger.js';
import { wholeOf } from './sequencer.js';
import { STATEMENTS } from './statements.js';
import { States } from './states.js';

type Gates = readonly [PostgresLedger, PostgresLedger];

/** Two gates of one database, and a connection of somebody else. */
async function inGates(check: (gates: Gates, other: Connection, url: string) => Promise<void>): Promise<void> {
  const { url, drop } = await testDatabase();
  await migratePostgres(url, LEDGER_ID);
  const open = () => PostgresLedger.open({ url, kinds: TEST_KINDS, clock: wallClock, projections: [diaryProjection] });
  const gates: Gates = [await open(), await open()];
  const other = await Connection.open(url);
  try {
    await check(gates, other, url);
    const [gate] = gates;
    assert.deepEqual((await gate.verify(await gate.head())).defects, []);
  } finally {
    await other.end();
    await Promise.all(gates.map((gate) => gate.close()));
    await drop();
  }
}

/** How many events ever waited for their place. */
async function everQueued(url: string): Promise<number> {
  const [row] = await onDatabase(
    url,
    'SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM countersign.unsequenced_place_seq',
  );
  return Number(Object.values(row as object)[0]);
}

/** The whole log. */
async function logOf(gate: PostgresLedger): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  for (let more = await gate.log(0); more.length > 0; more = await gate.log(entries.length)) entries.push(...more);
  return entries;
}

/** Demands that every event which is noted stands in the diary, once, in the order of the log. */
async function assertNotedOnce(gate: PostgresLedger): Promise<void> {
  const entries = await logOf(gate);
  const of = (kind: string) => entries.filter(({ event }) => event.record.kind === kind).map(({ event }) => event);
  assert.deepEqual(
    of('thread').map(({ data }) => data.of),
    of('room').map(({ hash }) => hash),
  );
}

describe('the order of a gate that is alone', () => {
  it('needs no queue and no pass: what is answered has its place', () =>
    inGates(async ([gate], _, url) => {
      verifies('postgres.in-order');
      // The diary is not known before its first entry.
      await gate.commit(addWork('noted'));
      await gate.head();
      const before = await everQueued(url);
      for (let i = 0; i < 5; i += 1) {
        const { events } = await gate.commit(addWork('noted'));
        const [row] = await onDatabase(
          url,
          `SELECT count(*) FROM countersign.log WHERE kind = 'room' AND revision = ${events[0]?.revision}`,
        );
        assert.equal(Number(Object.values(row as object)[0]), 1);
      }
      await Promise.all(Array.from({ length: 90 }, (_, i) => gate.commit(addWork(i % 2 === 0 ? 'noted' : `r${i}`))));
      assert.equal(await everQueued(url), before);
      const entries = await logOf(gate);
      assert.deepEqual(
        entries.map(({ sequence }) => sequence),
        entries.map((_, i) => i + 1),
      );
      assert.equal(
        (await gate.events(DIARY)).length,
        entries.filter(({ event }) => event.record.id === 'noted').length,
      );
    }));
});

describe('the order of several gates', () => {
  it('is tried again after others were there, and less often the more often in vain', () => {
    verifies('postgres.in-order');
    const order = new Order(new States({ ledgerId: LEDGER_ID, kinds: TEST_KINDS }), [], () => undefined);
    const nothing = orderedBehind(
      EMPTY_HEAD,
      [],
      { events: [], payloads: [], claims: [], records: new RecordMap() },
      [],
    );
    const leftOut = async () => {
      for (let count = 0; ; count += 1) {
        const done = await order.tryTurn([]);
        done?.();
        if (done !== undefined) return count;
      }
    };
    return (async () => {
      const counts: number[] = [];
      for (let i = 0; i < 7; i += 1) {
        counts.push(await leftOut());
        order.tried(nothing, false);
        // A pass of the sequencer behind it is no try.
        order.wrote(nothing);
      }
      assert.deepEqual(counts, [0, 2, 4, 8, 16, 32, 32]);
      assert.equal(await leftOut(), 32);
      order.tried(nothing, true);
      assert.equal(await leftOut(), 0);
    })();
  });

  it('is found for every event that several gates write at the same time', () =>
    inGates(async (gates) => {
      verifies('postgres.in-order');
      for (let i = 0; i < 30; i += 1) {
        await (gates[i % 2] as PostgresLedger).commit(addWork('noted'));
        if (i % 5 === 0) await Promise.all(gates.map((gate) => gate.commit(addWork(`noted${i}`))));
      }
      await Promise.all(
        gates.flatMap((gate) => Array.from({ length: 60 }, (_, i) => gate.commit(addWork(`noted${i % 7}`)))),
      );
      await Promise.all(gates.map((gate) => gate.head()));
      for (const gate of gates) await assertNotedOnce(gate);
    }));

  it('that is held elsewhere keeps nobody from an answer', () =>
    inGates(async ([gate], other, url) => {
      verifies('postgres.in-order');
      await gate.commit(addWork('noted'));
      await gate.head();
      await other.script('BEGIN');
      await other.ask(STATEMENTS.takeOrder);
      const before = await everQueued(url);
      for (let i = 0; i < 8; i += 1) assert.equal((await gate.commit(addWork('noted'))).events.length, 1);
      await Promise.all(Array.from({ length: 40 }, (_, i) => gate.commit(addWork(`noted${i % 4}`))));
      assert.equal(await everQueued(url), before + 48);
      await other.script('ROLLBACK');
      await gate.head();
      await assertNotedOnce(gate);
    }));

  it('is not taken where a record that is appended to is another than is known', () =>
    inGates(async ([gate], _, url) => {
      verifies('postgres.in-order');
      await gate.commit(addWork('noted'));
      await gate.commit(addWork('noted'));
      const before = await everQueued(url);
      const setHead = (head: string) =>
        onDatabase(url, `UPDATE countersign.records SET head = '${head}' WHERE id = 'diary'`);
      const known = (await gate.events(DIARY)).at(-1)?.hash as string;
      await setHead(`sha256:${'0'.repeat(64)}`);
      await gate.commit(addWork('noted'));
      assert.equal(await everQueued(url), before + 1);
      // The log stands still before what can't be trusted, and no commit goes on behind it.
      await gate.head();
      await rejectsWith('corrupt', gate.commit(addWork('noted')));
      await setHead(known);
      while ((await gate.commit(addWork('noted')).catch(() => undefined)) === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await gate.head();
      await assertNotedOnce(gate);
    }));
});

describe('events that wait for their place', () => {
  it('stay with those of their transaction, though others wait between them', async () => {
    verifies('postgres.together-in-log');
    const { url, drop } = await testDatabase();
    await migratePostgres(url, LEDGER_ID);
    await onDatabase(
      url,
      `INSERT INTO countersign.events SELECT 'room', 'r' || n, 0, 't', 0, 'a', '{}', '[]', NULL, 'h' || n
        FROM generate_series(1, 7) AS n`,
    );
    const [one, two] = [await Connection.open(url), await Connection.open(url)];
    const put = (n: number) => `INSERT INTO countersign.unsequenced (kind, id, revision) SELECT 'room', 'r' || ${n}, 0`;
    for (const connection of [one, two]) await connection.script('BEGIN');
    for (const [connection, n] of [
      [one, 1],
      [two, 2],
      [one, 3],
      [two, 4],
      [one, 5],
    ] as const) {
      await connection.script(put(n));
    }
    for (const connection of [two, one]) await connection.script('COMMIT');
    await one.script(put(6));
    const rows = async (limit: number) => one.ask(STATEMENTS.queue, [0, limit]);
    const ids = (some: readonly Row[]) => some.map(([, id]) => id);
    const all = await rows(10);
    assert.deepEqual(ids(all), ['r1', 'r3', 'r5', 'r2', 'r4', 'r6']);
    assert.deepEqual(wholeOf(all, true), { queue: all, last: 6 });
    // A portion that cuts a transaction off leaves it to the next; nothing below where that begins is passed over.
    const cut = await rows(4);
    assert.deepEqual([ids(wholeOf(cut, false).queue), wholeOf(cut, false).last], [['r1', 'r3', 'r5'], 1]);
    const even = await rows(5);
    assert.deepEqual([ids(wholeOf(even, false).queue), wholeOf(even, false).last], [ids(even), 2]);
    // One that is longer than a portion goes in several.
    const part = await rows(2);
    assert.deepEqual([ids(wholeOf(part, false).queue), wholeOf(part, false).last], [['r1', 'r3'], 1]);
    await one.end();
    await two.end();
    await drop();
  });
});
