/**
 * Opens the file of the embedded store, and refuses one that it can't keep promises on: another application's, a newer
 * schema, a SQLite before 3.51.3 (it can lose commits when a WAL is reset), or a connection that does not answer
 * `synchronous = FULL` (NORMAL loses acknowledged commits in a power cut). Nobody but the owner may read the file. A
 * file that is refused was not changed.
 * Source: spec ledger (backends); reliability findings 2 and 3.
 */
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { assert, Fault, LIMITS, PATTERNS, Refusal } from '../../core/index.js';
import { storeError } from '../store.js';
import { APPLICATION_ID, MIGRATIONS } from './schema.js';

export type Connection = Database.Database;
export type Statement = Database.Statement;

const SQLITE_OLDEST = [3, 51, 3];

function assertVersion(database: Connection): void {
  const { version } = database.prepare('SELECT sqlite_version() AS version').get() as { version: string };
  const parts = version.split('.').map(Number);
  for (let i = 0; i < 3; i += 1) {
    const difference = (parts[i] ?? 0) - (SQLITE_OLDEST[i] ?? 0);
    if (difference > 0) return;
    if (difference < 0) throw new Fault('store', `SQLite ${version} is too old: 3.51.3 or later is needed`);
  }
}

/**
 * Sets what durability stands on, and reads it back: an option that was not taken is no option. The journal is switched
 * only where it is another one, because that needs the file for itself.
 */
function configure(database: Connection): void {
  if (database.pragma('journal_mode', { simple: true }) !== 'wal') database.pragma('journal_mode = WAL');
  if (database.pragma('journal_mode', { simple: true }) !== 'wal') {
    throw new Fault('store', 'the store can not use a write-ahead log here');
  }
  database.pragma('synchronous = FULL');
  if (database.pragma('synchronous', { simple: true }) !== 2) {
    throw new Fault('store', 'the store did not accept synchronous = FULL');
  }
  database.pragma('foreign_keys = ON');
  database.pragma('trusted_schema = OFF');
  database.pragma('cache_size = -65536');
  database.pragma('wal_autocheckpoint = 2000');
}

/** The schema version of a file that is ours; 0 for one that is blank, as an interrupted creation leaves it. */
function schemaVersion(database: Connection): number {
  const application = database.pragma('application_id', { simple: true });
  const version = database.pragma('user_version', { simple: true }) as number;
  const blank = version === 0 && database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
  if (application !== APPLICATION_ID && !(application === 0 && blank)) {
    throw new Refusal('invalid', 'the file belongs to another application');
  }
  if (version > MIGRATIONS.length)
    throw new Refusal('invalid', 'the store was written by a newer version of countersign');
  return version;
}

/** Refuses a file that is not what the caller expects, before anything in it is changed. */
function assertExpected(version: number, newLedgerId: string | undefined): void {
  if (version === 0 && newLedgerId === undefined) throw new Refusal('not_initialized', 'the file holds no ledger');
  if (version > 0 && newLedgerId !== undefined) {
    throw new Refusal('already_initialized', 'there is a ledger here already');
  }
}

/** The version is read again under the write lock, because another process may have migrated meanwhile. */
function migrate(database: Connection, newLedgerId: string | undefined): void {
  if (newLedgerId === undefined && schemaVersion(database) === MIGRATIONS.length) return;
  database
    .transaction(() => {
      const version = schemaVersion(database);
      assertExpected(version, newLedgerId);
      for (const statements of MIGRATIONS.slice(version)) database.exec(statements);
      if (version === 0) {
        database.pragma(`application_id = ${APPLICATION_ID}`);
        database.prepare('INSERT INTO meta (name, value) VALUES (?, ?)').run('ledger_id', newLedgerId);
      }
      database.pragma(`user_version = ${MIGRATIONS.length}`);
    })
    .immediate();
}

const SCHEMA = `SELECT type || ' ' || name AS name, sql FROM sqlite_schema
  WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite@_%' ESCAPE '@'`;

/** How the tables, indexes and triggers of a file differ from those that the migrations make. */
export function schemaDamage(database: Connection): readonly string[] {
  const model = new Database(':memory:');
  try {
    for (const statements of MIGRATIONS) model.exec(statements);
    const rows = (connection: Connection) => connection.prepare(SCHEMA).raw().all() as [string, string][];
    const expected = new Map(rows(model));
    const found = new Map(rows(database));
    const names = new Set([...expected.keys(), ...found.keys()]);
    return [...names]
      .filter((name) => expected.get(name) !== found.get(name))
      .map((name) => `the ${name} is not the one of this version`);
  } finally {
    model.close();
  }
}

/** Makes a name in a folder durable. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export interface OpenedDatabase {
  readonly database: Connection;
  readonly ledgerId: string;
}

/** Opening waits this long for others that open or recover the file at the same time. */
const OPEN_MS = 2_000;

/**
 * Opens a store, or creates one when `newLedgerId` is given and nothing or a blank file stands at the path.
 * Refuses `not_initialized`, `already_initialized`, `invalid`; faults `store`, `corrupt`.
 */
export function openDatabase(path: string, newLedgerId?: string): OpenedDatabase {
  if (newLedgerId !== undefined) {
    assert(PATTERNS.ledgerId.test(newLedgerId), 'the id of a ledger is 32 hex digits');
  } else if (!existsSync(path)) {
    throw new Refusal('not_initialized', 'there is no ledger here');
  }
  let database: Connection | undefined;
  try {
    // SQLite would wait for somebody to write into a pipe.
    if (existsSync(path) && !statSync(path).isFile()) throw new Fault('corrupt', 'the store is no plain file');
    if (newLedgerId !== undefined) closeSync(openSync(path, 'a', 0o600));
    database = new Database(path, { timeout: OPEN_MS, fileMustExist: true });
    assertVersion(database);
    assertExpected(schemaVersion(database), newLedgerId);
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    configure(database);
    migrate(database, newLedgerId);
    if (newLedgerId !== undefined) syncFolder(dirname(resolve(path)));
    const row = database.prepare("SELECT value FROM meta WHERE name = 'ledger_id'").get() as
      | { value: string }
      | undefined;
    if (row === undefined || !PATTERNS.ledgerId.test(row.value))
      throw new Fault('corrupt', 'the store names no ledger');
    database.pragma(`busy_timeout = ${LIMITS.storeBusyMsMax}`);
    return { database, ledgerId: row.value };
  } catch (error) {
    database?.close();
    throw storeError('the store could not be opened', error);
  }
}
