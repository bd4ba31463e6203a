/**
 * What the database itself has to be and refuses, by the roles that log in; and how batches travel.
 * Source: spec ledger (backends).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rejectsWith } from '../../../test/contracts/ledger.js';
import { cuttingProxy } from '../../../test/support/cutting-proxy.js';
import {
  addWork,
  claimOf,
  HandClock,
  LEDGER_ID,
  room,
  roomKind,
  TEST_KINDS,
  wallClock,
} from '../../../test/support/ledger-world.js';
import { testDatabase } from '../../../test/support/postgres.js';
import { onDatabase } from '../../../test/support/postgres-server.js';
import { verifies } from '../../../test/support/verifies.js';
import { serverDefect } from './connection.js';
import { Floor } from './floor.js';
import { migratePostgres } from './migrate.js';
import { PostgresLedger } from './postgres-ledger.js';
import { MIGRATIONS } from './schema.js';

async function inDatabase(check: (url: string) => Promise<void>): Promise<void> {
  const { url, drop } = await testDatabase();
  try {
    await check(url);
  } finally {
    await drop();
  }
}

const openOn = (url: string) => PostgresLedger.open({ url, kinds: TEST_KINDS, clock: wallClock });

async function inLedger(check: (ledger: PostgresLedger, url: string) => Promise<void>): Promise<void> {
  await inDatabase(async (url) => {
    await migratePostgres(url, LEDGER_ID);
    const ledger = await openOn(url);
    try {
      await check(ledger, url);
    } finally {
      await ledger.close();
    }
  });
}

describe('the server of a ledger', () => {
  it('is refused when it is too old, or would lose commits', () =>
    inDatabase(async (url) => {
      verifies('postgres.refuses-server');
      assert.equal(serverDefect(150_000, 'on', 'on'), undefined);
      assert.equal(serverDefect(180_004, 'on', 'remote_apply'), undefined);
      for (const [version, fsync, synchronous] of [
        [140_011, 'on', 'on'],
        [150_000, 'off', 'on'],
        [150_000, 'on', 'off'],
        [Number.NaN, 'on', 'on'],
      ] as const) {
        assert.ok(serverDefect(version, fsync, synchronous), `${version} ${fsync} ${synchronous}`);
      }
      await migratePostgres(url, LEDGER_ID);
      const name = new URL(url).pathname.slice(1);
      await onDatabase(url, `ALTER DATABASE ${name} SET synchronous_commit = off`);
      await rejectsWith('store', openOn(url));
    }));

  it('holds a ledger only where one was asked for', () =>
    inDatabase(async (url) => {
      verifies('postgres.creation');
      await rejectsWith('not_initialized', openOn(url));
      await rejectsWith('not_initialized', migratePostgres(url));
      await rejectsWith('internal', migratePostgres(url, 'no ledger id'));
      assert.equal(await migratePostgres(url, LEDGER_ID), LEDGER_ID);
      assert.equal(await migratePostgres(url), LEDGER_ID);
      const ledger = await openOn(url);
      await rejectsWith('already_initialized', migratePostgres(url, 'f'.repeat(32)));
      await ledger.commit(addWork('a'));
      await ledger.close();
      await rejectsWith('already_initialized', migratePostgres(url, 'f'.repeat(32)));
      const put = (value: string, name: string) =>
        onDatabase(url, 'UPDATE countersign.meta SET value = $1 WHERE name = $2', [value, name]);
      await put('99', 'schema_version');
      await rejectsWith('invalid', openOn(url));
      await rejectsWith('invalid', migratePostgres(url));
      for (const damaged of ['abc', '', '-1', '0']) {
        await put(damaged, 'schema_version');
        await rejectsWith('corrupt', openOn(url));
        await rejectsWith('corrupt', migratePostgres(url));
      }
      await put(String(MIGRATIONS.length), 'schema_version');
      await put('nobody', 'ledger_id');
      await rejectsWith('corrupt', openOn(url));
      await rejectsWith('store', openOn('postgres://nobody@localhost/none?host=/no/such/folder'));
    }));

  it('that somebody began to make and left is made anew, and no other', () =>
    inDatabase(async (url) => {
      verifies('app.init.interrupted');
      const [first, second, third] = ['a', 'b', 'c'].map((digit) => digit.repeat(32)) as [string, string, string];
      await migratePostgres(url, first);
      await rejectsWith('already_initialized', migratePostgres(url, second));
      assert.equal(await migratePostgres(url, second, { ledgerIds: [third, first], eventsMax: 0 }), second);
      const ledger = await openOn(url);
      await Promise.all(['a', 'b'].map((id) => ledger.commit(addWork(id))));
      const left = { ledgerIds: [first, second], eventsMax: 2 };
      await rejectsWith('busy', migratePostgres(url, third, left));
      await ledger.close();
      for (const other of [undefined, { ...left, ledgerIds: [first] }, { ...left, eventsMax: 1 }]) {
        await rejectsWith('already_initialized', migratePostgres(url, third, other));
      }
      assert.equal(await migratePostgres(url, third, left), third);
      const again = await openOn(url);
      assert.deepEqual(await again.events(room('a')), []);
      await again.close();
    }));

  it('is brought forward from the schema before this one by its owner alone, and keeps what is in it', () =>
    inDatabase(async (url) => {
      verifies('ledger.outbox.migrated');
      await migratePostgres(url, LEDGER_ID);
      const run = (text: string) => onDatabase(url, text, []);
      for (const table of ['outbox', 'cursors']) await run(`DROP TABLE countersign.${table}`);
      await run('DROP INDEX countersign.records_lookup');
      await run('CREATE INDEX records_lookup ON countersign.records (kind, lookup, id) WHERE lookup IS NOT NULL');
      await run("UPDATE countersign.meta SET value = '1' WHERE name = 'schema_version'");
      await rejectsWith('invalid', openOn(url));
      assert.equal(await migratePostgres(url), LEDGER_ID);
      const [index] = await run("SELECT indexdef FROM pg_indexes WHERE indexname = 'records_lookup'");
      assert.match(String(Object.values(index as object)[0]), /\(lookup, kind, id\) WHERE \(lookup IS NOT NULL\)/);
      const ledger = await openOn(url);
      assert.deepEqual([await ledger.outbox.cursor(), await ledger.outbox.due('chat', 1, 1)], [undefined, []]);
      await ledger.close();
    }));

  it('that fails at one read answers the next', () =>
    inLedger(async (ledger, url) => {
      verifies('postgres.together');
      await ledger.commit(addWork('a'));
      await onDatabase(url, 'ALTER TABLE countersign.records RENAME TO away');
      await rejectsWith('store', ledger.read(roomKind, 'a'));
      await onDatabase(url, 'ALTER TABLE countersign.away RENAME TO records');
      assert.equal((await ledger.read(roomKind, 'a'))?.revision, 0);
    }));

  it('never changes an event or an entry of the log, whoever asks', () =>
    inLedger(async (ledger, url) => {
      verifies('postgres.append-only');
      await ledger.commit(addWork('a'));
      await ledger.head();
      for (const table of ['events', 'log']) {
        for (const statement of [
          `UPDATE countersign.${table} SET id = 'b'`,
          `DELETE FROM countersign.${table}`,
          `TRUNCATE countersign.${table}`,
        ]) {
          await assert.rejects(onDatabase(url, statement), /never change/, statement);
        }
      }
    }));

  it('lets a gate do what it needs, an auditor read, and neither anything else', () =>
    inLedger(async (_, url) => {
      verifies('postgres.roles');
      const suffix = new URL(url).pathname.slice(-8);
      const login = async (group: string) => {
        const user = `${group}_${suffix}`;
        await onDatabase(url, `CREATE ROLE ${user} LOGIN IN ROLE ${group}`);
        const own = new URL(url);
        own.username = user;
        return { own: own.href, user };
      };
      const gate = await login('countersign_gate');
      const reader = await login('countersign_reader');
      const ledger = await openOn(gate.own);
      await ledger.commit(addWork('a', { once: [{ scope: 'nonce', key: 'n' }] }));
      assert.equal((await ledger.read(roomKind, 'a'))?.revision, 0);
      assert.deepEqual((await ledger.verify(await ledger.head())).defects, []);
      await ledger.close();
      await rejectsWith('forbidden', migratePostgres(gate.own));
      const forbidden: readonly [string, string][] = [
        [gate.own, 'UPDATE countersign.events SET id = id'],
        [gate.own, 'UPDATE countersign.claims SET key = key'],
        [gate.own, 'UPDATE countersign.payloads SET bytes = bytes'],
        [gate.own, 'UPDATE countersign.meta SET value = value'],
        [gate.own, 'DELETE FROM countersign.log'],
        [gate.own, 'DELETE FROM countersign.claims'],
        [gate.own, 'DELETE FROM countersign.records'],
        [gate.own, 'TRUNCATE countersign.unsequenced'],
        [gate.own, 'ALTER TABLE countersign.events DISABLE TRIGGER ALL'],
        [gate.own, 'CREATE TABLE countersign.mine (a int)'],
        [reader.own, "INSERT INTO countersign.meta VALUES ('a', 'b')"],
        [reader.own, 'DELETE FROM countersign.unsequenced'],
        [reader.own, 'UPDATE countersign.records SET id = id'],
      ];
      for (const [own, statement] of forbidden) {
        await assert.rejects(onDatabase(own, statement), /permission denied|must be owner/, statement);
      }
      assert.equal((await onDatabase(reader.own, 'SELECT * FROM countersign.events')).length, 1);
      for (const { user } of [gate, reader]) await onDatabase(url, `DROP ROLE ${user}`);
    }));

  it('gives the time of a commit', () =>
    inDatabase(async (url) => {
      verifies('postgres.server-time');
      await migratePostgres(url, LEDGER_ID);
      const ledger = await PostgresLedger.open({ url, kinds: TEST_KINDS, clock: new HandClock() });
      const now = async () =>
        (await onDatabase<[number]>(url, 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000'))[0]?.[0] ?? 0;
      const earliest = await now();
      const { events } = await ledger.commit(addWork('a'));
      const at = events[0]?.at ?? 0;
      assert.ok(at >= Math.floor(earliest) && at <= (await now()), `${at}`);
      await ledger.close();
    }));
});

describe('batches on a server', () => {
  it('go on beside one that holds its locks, and wait for it where they share a record', () =>
    inLedger(async (ledger, url) => {
      verifies('postgres.disjoint');
      const second = await openOn(url);
      const held = onDatabase(url, "SELECT pg_advisory_xact_lock(hashtextextended('room/a', 7)), pg_sleep(0.5)");
      await new Promise((resolve) => setTimeout(resolve, 100));
      const order: string[] = [];
      const commit = (by: PostgresLedger, id: string) => by.commit(addWork(id)).then(() => order.push(id));
      await Promise.all([commit(ledger, 'a'), commit(second, 'b'), held.then(() => order.push('held'))]);
      assert.deepEqual([order[0], order.includes('a')], ['b', true]);
      assert.ok(order.indexOf('a') >= 1);
      const again = onDatabase(url, "SELECT pg_advisory_xact_lock(hashtextextended('room/a', 7)), pg_sleep(0.3)");
      await new Promise((resolve) => setTimeout(resolve, 60));
      const waiting = ledger.commit(addWork('a')).then(() => 'waited');
      await new Promise((resolve) => setTimeout(resolve, 30));
      const beside = ledger.commit(addWork('c')).then(() => 'beside');
      assert.equal(await Promise.race([waiting, beside]), 'beside');
      await Promise.all([waiting, beside, again]);
      await second.close();
    }));

  it('take two round trips, whatever their size', () =>
    inDatabase(async (url) => {
      verifies('postgres.round-trips');
      await migratePostgres(url, LEDGER_ID);
      const proxy = await cuttingProxy(url);
      const ledger = await openOn(proxy.url);
      for (const size of [1, 1, 40, 300]) {
        const before = proxy.roundTrips('writeEvents');
        const claims = (i: number) => ({
          claim: claimOf(`${size} ${before} ${i}`),
          lookups: [{ kind: 'room', key: 'k' }] as const,
        });
        await Promise.all(Array.from({ length: size }, (_, i) => ledger.commit(addWork(`r${i % 50}`, claims(i)))));
        // The first one also connects: it sets the session up, and checks the server.
        if (before > 0) assert.equal(proxy.roundTrips('writeEvents') - before, 2, `${size} units`);
      }
      await ledger.close();
      await proxy.close();
    }));

  it('leave nothing of a key with a character that the server can not hold', () =>
    inLedger(async (ledger) => {
      verifies('postgres.creation');
      await rejectsWith('invalid', ledger.commit(addWork('a', { once: [{ scope: 'nonce', key: 'a\0b' }] })));
      assert.deepEqual(await ledger.events(room('a')), []);
    }));
});

describe('the floor of the queue', () => {
  it('rises only over places at which nothing can appear any more', () => {
    verifies('postgres.floor');
    const floor = new Floor();
    const pass = (xmin: number, xmax: number, last: number | undefined, isAll = true) => {
      floor.saw([xmin, xmax], last, isAll)();
      return floor.place;
    };
    // Transaction 5 has place 3 and is not over; 4 and 6 had places 2 and 7.
    assert.equal(pass(5, 7, 7), 0);
    assert.equal(pass(5, 8, undefined), 0);
    assert.equal(pass(5, 9, undefined), 0);
    assert.equal(pass(7, 12, 9), 0, 'transactions below 8 still run');
    assert.equal(pass(8, 12, 1, false), 0, 'there is more below the mark');
    assert.equal(pass(8, 12, 9), 7);
  });
});
