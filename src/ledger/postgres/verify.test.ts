/**
 * What somebody with all rights on the database changes behind the ledger's back is found: each field of each table, rows
 * that are gone or too many, triggers that are off.
 * Source: spec ledger (verify).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  added,
  addWork,
  claimOf,
  diaryProjection,
  LEDGER_ID,
  TEST_KINDS,
  wallClock,
} from '../../../test/support/ledger-world.js';
import { testDatabase } from '../../../test/support/postgres.js';
import { onDatabase } from '../../../test/support/postgres-server.js';
import { verifies } from '../../../test/support/verifies.js';
import { migratePostgres } from './migrate.js';
import { PostgresLedger } from './postgres-ledger.js';

describe('verifying a store on a server', () => {
  let ledger: PostgresLedger;
  let database: Awaited<ReturnType<typeof testDatabase>>;

  before(async () => {
    database = await testDatabase();
    await migratePostgres(database.url, LEDGER_ID);
    const projections = [diaryProjection];
    ledger = await PostgresLedger.open({ url: database.url, kinds: TEST_KINDS, clock: wallClock, projections });
    for (let i = 0; i < 6; i += 1) {
      const columns = { due: 1_790_000_100_000 + i, open: 'key', project: 'acme', label: `ü ${i}` };
      const decide = () => ({ events: [added(`noted${i % 2}`, { by: i, ...columns }, [`body ${i}`])], outcome: i });
      const claims = { claim: claimOf(`k${i}`), once: [{ scope: 'nonce', key: `n${i}` }] };
      await ledger.commit(addWork(`noted${i % 2}`, { ...claims, decide }));
    }
    assert.deepEqual((await ledger.verify(await ledger.head())).defects, []);
  });

  after(async () => {
    await ledger.close();
    await database.drop();
  });

  /** Runs statements without triggers, demands that verify finds something, and takes them back. */
  async function isFound(what: string, statements: string, tables: readonly string[]): Promise<void> {
    for (const table of tables) {
      await onDatabase(database.url, `CREATE TABLE public.kept_${table} AS SELECT * FROM countersign.${table}`);
    }
    try {
      for (const statement of statements.split(';')) await onForged(statement);
      const { defects } = await ledger.verify();
      assert.notDeepEqual(defects, [], what);
    } finally {
      for (const table of tables) {
        await onForged(`DELETE FROM countersign.${table}`);
        await onForged(`INSERT INTO countersign.${table} SELECT * FROM public.kept_${table}`);
        await onDatabase(database.url, `DROP TABLE public.kept_${table}`);
      }
    }
  }

  async function onForged(statement: string): Promise<void> {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c session_replication_role=replica');
    await onDatabase(url.href, statement);
  }

  for (const table of ['events', 'records', 'claims', 'payloads', 'log']) {
    it(`finds each changed field and a missing row of ${table}`, async () => {
      verifies('postgres.damage');
      const columns = await onDatabase<[string, string]>(
        database.url,
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'countersign' AND table_name = $1",
        [table],
      );
      assert.ok(columns.length >= 5);
      for (const [column, type] of columns) {
        const flip =
          type === 'text'
            ? `coalesce(${column}, '') || 'x'`
            : type === 'bytea'
              ? `${column} || 'x'`
              : `${column} + 1000`;
        const one = `ctid = (SELECT min(ctid) FROM countersign.${table})`;
        await isFound(`${table}.${column}`, `UPDATE countersign.${table} SET ${column} = ${flip} WHERE ${one}`, [
          table,
        ]);
      }
      const erased = table === 'payloads';
      if (!erased) {
        const one = `ctid = (SELECT max(ctid) FROM countersign.${table})`;
        await isFound(`a row of ${table}`, `DELETE FROM countersign.${table} WHERE ${one}`, [table]);
      }
    });
  }

  it('finds a trigger that is off or gone', async () => {
    verifies('postgres.damage');
    const { url } = database;
    await onDatabase(url, 'ALTER TABLE countersign.events DISABLE TRIGGER events_stay');
    assert.deepEqual(
      (await ledger.verify()).defects.map(({ where }) => where),
      ['store'],
    );
    await onDatabase(url, 'ALTER TABLE countersign.events ENABLE TRIGGER events_stay');
    assert.deepEqual((await ledger.verify()).defects, []);
  });

  it('finds an event that stands in no order, or in two', async () => {
    verifies('postgres.damage');
    const queued = 'INSERT INTO countersign.unsequenced (kind, id, revision) VALUES';
    await ledger.head();
    await isFound('in the log and the queue', `${queued} ('room', 'noted0', 0)`, []);
    await onDatabase(database.url, 'DELETE FROM countersign.unsequenced');
  });
});
