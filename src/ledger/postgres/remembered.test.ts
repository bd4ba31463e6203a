/**
 * A verified read of a record that this process knows compares bytes instead of hashing them again: nothing that was
 * changed behind its back gets through.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  added,
  addWork,
  roomKind as documented,
  LEDGER_ID,
  room,
  wallClock,
} from '../../../test/support/ledger-world.js';
import { testDatabase } from '../../../test/support/postgres.js';
import { damageDatabase } from '../../../test/support/postgres-damage.js';
import { onDatabase } from '../../../test/support/postgres-server.js';
import { verifies } from '../../../test/support/verifies.js';
import { contentRef, Fault, LIMITS } from '../../core/index.js';
import { registerKinds } from '../kind.js';
import { migratePostgres } from './migrate.js';
import { PostgresLedger } from './postgres-ledger.js';

/** Folded from its events, as actions are. */
const roomKind = { ...documented, keepsDocument: false };
const ID = 'known';
const BODY = 'what was said';

describe('a record that is known', () => {
  let ledger: PostgresLedger;
  let database: Awaited<ReturnType<typeof testDatabase>>;
  const read = async (id = ID) => (await ledger.readVerified(roomKind, id))?.state;
  const opened = () => PostgresLedger.open({ url: database.url, kinds: registerKinds([roomKind]), clock: wallClock });

  before(async () => {
    database = await testDatabase();
    await migratePostgres(database.url, LEDGER_ID);
    ledger = await opened();
    await ledger.commit(addWork(ID, { decide: () => ({ events: [added(ID, { by: 1 }, [BODY])], outcome: 1 }) }));
    for (let by = 2; by < 5; by += 1) await ledger.commit(addWork(ID, {}, { by }));
  });

  after(async () => {
    await ledger.close();
    await database.drop();
  });

  async function onForged(statement: string): Promise<void> {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c session_replication_role=replica');
    await onDatabase(url.href, statement);
  }

  /** Changes one row, looks, and takes it back. */
  async function forged(table: string, column: string, where: string, type: string, look: () => Promise<void>) {
    const kept = `public.kept_${table}`;
    await onDatabase(database.url, `CREATE TABLE ${kept} AS SELECT * FROM countersign.${table}`);
    const flip = type === 'text' ? `coalesce(${column}, '') || 'x'` : `${column} + 1000`;
    try {
      await onForged(`UPDATE countersign.${table} SET ${column} = ${flip} WHERE ${where}`);
      await look();
    } finally {
      await onForged(`DELETE FROM countersign.${table}`);
      await onForged(`INSERT INTO countersign.${table} SELECT * FROM ${kept}`);
      await onDatabase(database.url, `DROP TABLE ${kept}`);
    }
  }

  it('is answered as it was, while every byte of it stands', async () => {
    verifies('postgres.remembered');
    const state = await read();
    assert.equal(await read(), state);
    await ledger.commit(addWork(ID));
    const more = await read();
    assert.notEqual(more, state);
    assert.equal(await read(), more, 'what this process wrote behind it is known as well');
  });

  it('is answered as others left it', async () => {
    verifies('postgres.remembered');
    const total = Number((await read())?.total);
    const other = await opened();
    await other.commit(addWork(ID, {}, { by: 100 }));
    await other.close();
    const now = await read();
    assert.equal(now?.total, total + 100);
    assert.equal(await read(), now);
  });

  it('is refused where any field of any event of it is another one', async () => {
    verifies('postgres.remembered');
    const columns = await onDatabase<[string, string]>(
      database.url,
      "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'countersign' AND table_name = 'events'",
      [],
    );
    assert.equal(columns.length, 10);
    const { length } = await ledger.events(room(ID));
    for (const [column, type] of columns) {
      for (let revision = 0; revision < length; revision += 1) {
        const state = await read();
        assert.ok(state !== undefined && state === (await read()));
        await forged('events', column, `id = '${ID}' AND revision = ${revision}`, type, async () => {
          const isCorrupt = (error: unknown) => error instanceof Fault && error.code === 'corrupt';
          await assert.rejects(read(), isCorrupt, `${column} of event ${revision}`);
        });
      }
    }
  });

  it('is refused where its row stands elsewhere', async () => {
    verifies('postgres.remembered');
    for (const [column, type] of [
      ['head', 'text'],
      ['head_at', 'bigint'],
      ['document', 'text'],
      ['version', 'integer'],
    ] as const) {
      assert.equal(await read(), await read());
      await forged('records', column, `id = '${ID}'`, type, async () => {
        // A newer program would make another state of it.
        await assert.rejects(read(), { code: column === 'version' ? 'invalid' : 'corrupt' }, column);
      });
    }
  });

  it('is followed from its first event however long it is, and not from a document that somebody put there', async () => {
    verifies('postgres.remembered');
    for (let by = 0; by < 260; by += 1) await ledger.commit(addWork('far', {}, { by: 1 }));
    const put = async (document: string | null) =>
      onDatabase(database.url, "UPDATE countersign.records SET document = $1 WHERE id = 'far'", [document]);
    await put('{"total":7}');
    const fresh = await opened();
    const reads = [
      () => read('far'),
      () => ledger.read(roomKind, 'far'),
      () => fresh.readVerified(roomKind, 'far'),
      () => fresh.read(roomKind, 'far'),
      () => fresh.commit(addWork('far')),
    ];
    for (const one of reads) await assert.rejects(one(), { code: 'corrupt' });
    await put(null);
    assert.equal((await read('far'))?.total, 260);
    await fresh.close();
  });

  it('is made anew where a payload is another one, gone, one of many, or too long', async () => {
    verifies('postgres.remembered');
    const address = contentRef(BODY);
    const { damagePayload, erasePayload } = damageDatabase(database.url);
    const put = (text: string) => damagePayload(room(ID), 0, address, Buffer.from(text));
    const state = await read();
    assert.equal(await read(), state);
    await put('what was not said');
    const other = await read();
    assert.notEqual(other, state);
    assert.notEqual(await read(), other);
    await put(BODY);
    const again = await read();
    assert.equal(await read(), again);
    await erasePayload(room(ID), 0, address);
    assert.notEqual(await read(), again);
    const many = Array.from({ length: 9 }, (_, at) => `body ${at}`);
    await ledger.commit(addWork('many', { decide: () => ({ events: [added('many', {}, many)], outcome: 1 }) }));
    assert.notEqual(await read('many'), await read('many'), 'too many to be compared');
    const long = 'x'.repeat(LIMITS.checkedPayloadBytesMax + 1);
    await ledger.commit(addWork('long', { decide: () => ({ events: [added('long', {}, [long])], outcome: 1 }) }));
    assert.notEqual(await read('long'), await read('long'));
  });
});
