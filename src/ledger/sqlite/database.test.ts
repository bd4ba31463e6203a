/**
 * Opening the file of the embedded store: what it sets, and what it refuses without having changed it.
 * Source: spec ledger (backends); reliability findings 2 and 3.
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { addWork, anyRandom, HandClock, LEDGER_ID, TEST_KINDS } from '../../../test/support/ledger-world.js';
import { type FreshFile, freshFile } from '../../../test/support/sqlite-file.js';
import { verifies } from '../../../test/support/verifies.js';
import { isOurs } from '../../core/index.js';
import { LocalLedger } from '../local-ledger.js';
import { openDatabase } from './database.js';
import { SqliteStore } from './sqlite-store.js';

const OTHER_ID = 'f'.repeat(32);

async function inFile(check: (file: FreshFile) => unknown): Promise<void> {
  const file = freshFile();
  try {
    await check(file);
  } finally {
    file.remove();
  }
}

function refuses(code: string, open: () => unknown): void {
  assert.throws(open, (error: unknown) => isOurs(error) && error.code === code);
}

function openOn(store: SqliteStore): LocalLedger {
  return new LocalLedger({ store, kinds: TEST_KINDS, clock: new HandClock(), random: anyRandom });
}

describe('opening the file of a store', () => {
  it('syncs every commit in full, on a new file and on every reopening', () =>
    inFile(({ path }) => {
      verifies('ledger.sqlite.full-sync');
      for (const newLedgerId of [LEDGER_ID, undefined, undefined]) {
        const { database, ledgerId } = openDatabase(path, newLedgerId);
        assert.equal(ledgerId, LEDGER_ID);
        assert.equal(database.pragma('synchronous', { simple: true }), 2);
        assert.equal(database.pragma('journal_mode', { simple: true }), 'wal');
        assert.equal(database.pragma('busy_timeout', { simple: true }), 50);
        // Kept open until the next one is: the write-ahead log exists already then.
        setTimeout(() => database.close(), 20);
      }
    }).then(() => new Promise((resolve) => setTimeout(resolve, 50))));

  it('keeps the file and what stands beside it to its owner', () =>
    inFile(async ({ path, folder }) => {
      verifies('ledger.sqlite.private-file');
      const ledger = openOn(new SqliteStore(path, LEDGER_ID));
      await ledger.commit(addWork('a'));
      await ledger.backup(`${folder}/copy.db`);
      for (const file of [path, `${path}-wal`, `${path}-shm`, `${folder}/copy.db`]) {
        assert.equal(statSync(file).mode & 0o777, 0o600, file);
      }
      await ledger.close();
      chmodSync(path, 0o664);
      new SqliteStore(path).close();
      assert.equal(statSync(path).mode & 0o777, 0o600);
    }));

  it('makes no ledger where none is asked for, and none where one is', () =>
    inFile(({ path }) => {
      verifies('ledger.sqlite.creation');
      refuses('not_initialized', () => new SqliteStore(path));
      assert.equal(existsSync(path), false);
      new SqliteStore(path, LEDGER_ID).close();
      refuses('already_initialized', () => new SqliteStore(path, OTHER_ID));
      const store = new SqliteStore(path);
      assert.equal(store.ledgerId, LEDGER_ID);
      store.close();
      refuses('store', () => new SqliteStore(`${path}/no/such/folder`, LEDGER_ID));
      refuses('internal', () => new SqliteStore(`${path}2`, 'no ledger id'));
    }));

  it('finishes a creation that was interrupted', () =>
    inFile(({ path }) => {
      verifies('ledger.sqlite.creation');
      writeFileSync(path, '', { mode: 0o600 });
      refuses('not_initialized', () => new SqliteStore(path));
      const blank = new Database(path);
      blank.pragma('journal_mode = WAL');
      blank.close();
      refuses('not_initialized', () => new SqliteStore(path));
      new SqliteStore(path, LEDGER_ID).close();
      new SqliteStore(path).close();
    }));

  it("refuses another application's file, and does not touch it", () =>
    inFile(({ path }) => {
      verifies('ledger.sqlite.foreign-file');
      const makers: readonly ((database: Database.Database) => unknown)[] = [
        (database) => database.exec('CREATE TABLE theirs (a)'),
        (database) => database.pragma('application_id = 1234'),
        (database) => database.pragma('user_version = 1'),
      ];
      makers.forEach((make, i) => {
        const file = `${path}${i}`;
        const database = new Database(file);
        make(database);
        database.close();
        chmodSync(file, 0o644);
        const before = readFileSync(file);
        for (const newLedgerId of [undefined, LEDGER_ID]) refuses('invalid', () => new SqliteStore(file, newLedgerId));
        assert.deepEqual(readFileSync(file), before);
        assert.equal(statSync(file).mode & 0o777, 0o644);
      });
      writeFileSync(path, 'no database at all, but a text of a certain length'.repeat(50));
      refuses('corrupt', () => new SqliteStore(path));
    }));

  it('refuses a newer schema, and a store that names no ledger', () =>
    inFile(({ path }) => {
      verifies('ledger.sqlite.newer-schema');
      const change = (statement: string) => {
        const database = new Database(path);
        database.exec(statement);
        database.close();
      };
      new SqliteStore(path, LEDGER_ID).close();
      change('PRAGMA user_version = 99');
      refuses('invalid', () => new SqliteStore(path));
      change("PRAGMA user_version = 2; UPDATE meta SET value = 'something else'");
      refuses('corrupt', () => new SqliteStore(path));
      change('DELETE FROM meta');
      refuses('corrupt', () => new SqliteStore(path));
      change('DROP TABLE meta');
      refuses('store', () => new SqliteStore(path));
    }));

  it('brings a file of the schema before this one forward, and keeps what is in it', () =>
    inFile(({ path }) => {
      verifies('ledger.outbox.migrated');
      const before = new SqliteStore(path, LEDGER_ID);
      before.close();
      const database = new Database(path);
      database.exec('DROP TABLE outbox; DROP TABLE cursors; DROP TABLE leases; PRAGMA user_version = 1');
      database.close();
      const store = new SqliteStore(path);
      assert.equal(store.ledgerId, LEDGER_ID);
      assert.deepEqual([store.outbox.cursor(), store.outbox.due('chat', 1, 1), store.damage()], [undefined, [], []]);
      store.close();
    }));

  it('refuses to go on with another ledger in the place of its own', () =>
    inFile(({ path }) => {
      verifies('ledger.sqlite.ledger-id');
      const store = new SqliteStore(path, LEDGER_ID);
      store.close();
      new SqliteStore(`${path}2`, OTHER_ID).close();
      renameSync(`${path}2`, path);
      refuses('store', () => store.reopen());
    }));

  it('has triggers that refuse to change or to delete an event', () =>
    inFile(async ({ path }) => {
      verifies('ledger.sqlite.append-only');
      const ledger = openOn(new SqliteStore(path, LEDGER_ID));
      await ledger.commit(addWork('a'));
      const { database } = openDatabase(path);
      const rest = 'id, revision, type, at, actor, data, payloads, prev, hash, log_hash FROM events';
      const statements = [
        "UPDATE events SET actor = 'x'",
        'DELETE FROM events',
        'REPLACE INTO events SELECT * FROM events',
        `REPLACE INTO events SELECT sequence + 1, kind, ${rest}`,
        `INSERT INTO events SELECT sequence + 2, 'run', ${rest}`,
        `INSERT INTO events SELECT -1, 'run', ${rest}`,
      ];
      for (const statement of statements) {
        assert.throws(() => database.exec(statement), /events never change|events are never/, statement);
      }
      database.close();
      assert.equal((await ledger.log(0)).length, 1);
      await ledger.close();
    }));

  it('refuses a backup where no file can be made, and leaves alone what stands there', () =>
    inFile(async ({ path, folder }) => {
      verifies('ledger.sqlite.backup');
      const ledger = openOn(new SqliteStore(path, LEDGER_ID));
      writeFileSync(`${folder}/kept`, 'kept');
      for (const target of [path, `${folder}/kept`, `${folder}/no/folder`, `${folder}/kept/below`]) {
        await assert.rejects(ledger.backup(target), (error: unknown) => isOurs(error) && error.code === 'invalid');
      }
      assert.equal(readFileSync(`${folder}/kept`, 'utf8'), 'kept');
      await ledger.close();
    }));
});
