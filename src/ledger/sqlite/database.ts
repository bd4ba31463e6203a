/**
 * Opens the file of the embedded store, and refuses one that it can't keep promises on: another application's, a newer
 * schema, a SQLite before 3.51.3 (it can lose commits when a WAL is reset), a file that others may read, or a connection
 * that does not answer `synchronous = FULL` (NORMAL loses acknowledged commits in a power cut).
 * Source: spec ledger (backends); reliability findings 2 and 3.
 */
import { chmodSync, closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { Fault, isOurs, LIMITS, PATTERNS, Refusal } from '../../core/index.js';
import { APPLICATION_ID, MIGRATIONS } from './schema.js';

export type Connection = Database.Database;

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

/** Sets what durability stands on, and reads it back: an option that was not taken is no option. */
function configure(database: Connection): void {
  const mode = database.pragma('journal_mode = WAL', { simple: true });
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  database.pragma('trusted_schema = OFF');
  database.pragma('cache_size = -65536');
  database.pragma('wal_autocheckpoint = 2000');
  if (mode !== 'wal') throw new Fault('store', 'the store can not use a write-ahead log here');
  if (database.pragma('synchronous', { simple: true }) !== 2) {
    throw new Fault('store', 'the store did not accept synchronous = FULL');
  }
}

function migrate(database: Connection, ledgerId: string | undefined): void {
  const application = database.pragma('application_id', { simple: true });
  const version = database.pragma('user_version', { simple: true }) as number;
  if (version > MIGRATIONS.length) throw new Refusal('invalid', 'the store was written by a newer version of countersign');
  if (application !== APPLICATION_ID && (application !== 0 || version !== 0)) {
    throw new Refusal('invalid', 'the file belongs to another application');
  }
  if (version === MIGRATIONS.length) return;
  if (version === 0 && ledgerId === undefined) throw new Refusal('not_initialized', 'the file holds no ledger');
  database.transaction(() => {
    for (const statements of MIGRATIONS.slice(version)) database.exec(statements);
    if (version === 0) {
      database.pragma(`application_id = ${APPLICATION_ID}`);
      database.prepare('INSERT INTO meta (name, value) VALUES (?, ?)').run('ledger_id', ledgerId);
    }
    database.pragma(`user_version = ${MIGRATIONS.length}`);
  }).immediate();
}

function syncFolder(folder: string): void {
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

/**
 * Opens a store, or creates one when `ledgerId` is given and the file does not exist.
 * Refuses `not_initialized`, `already_initialized`, `invalid`; faults `store`.
 */
export function openDatabase(path: string, ledgerId?: string): OpenedDatabase {
  const exists = existsSync(path);
  if (!exists && ledgerId === undefined) throw new Refusal('not_initialized', 'there is no ledger here');
  if (exists && ledgerId !== undefined) throw new Refusal('already_initialized', 'there is a ledger here already');
  let database: Connection | undefined;
  try {
    if (!exists) closeSync(openSync(path, 'wx', 0o600));
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    database = new Database(path, { timeout: LIMITS.storeBusyMsMax });
    assertVersion(database);
    configure(database);
    migrate(database, ledgerId);
    if (!exists) syncFolder(dirname(path));
    const row = database.prepare("SELECT value FROM meta WHERE name = 'ledger_id'").get() as { value: string } | undefined;
    if (row === undefined || !PATTERNS.ledgerId.test(row.value)) throw new Fault('corrupt', 'the store names no ledger');
    return { database, ledgerId: row.value };
  } catch (error) {
    database?.close();
    throw isOurs(error) ? error : new Fault('store', 'the store could not be opened', error);
  }
}
