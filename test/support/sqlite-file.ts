/**
 * Files of SQLite stores for tests: made in a folder of their own, and changed behind a ledger's back.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { RecordRef } from '../../src/ledger/index.js';

export interface FreshFile {
  readonly folder: string;
  /** Nothing stands here yet. */
  readonly path: string;
  remove(): void;
}

export function freshFile(): FreshFile {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-ledger-'));
  return { folder, path: join(folder, 'ledger.db'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Runs statements against a file as somebody would who means harm: the triggers go first, and come back. */
export function tamper<Result>(path: string, change: (database: Database.Database) => Result): Result {
  const database = new Database(path);
  try {
    const triggers = database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
    for (const { name } of triggers as { name: string }[]) database.exec(`DROP TRIGGER ${name}`);
    const result = change(database);
    for (const { sql } of triggers as { sql: string }[]) database.exec(sql);
    return result;
  } finally {
    database.close();
  }
}

/** Copies a store that nobody has open. */
export function copyFile(from: string, to: string): void {
  for (const suffix of ['', '-wal', '-shm']) {
    rmSync(to + suffix, { force: true });
    if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
  }
}

/** The ways in which the contract of a ledger damages one. */
export function damageFile(path: string) {
  const payload = 'sequence = (SELECT sequence FROM events WHERE kind = ? AND id = ? AND revision = ?) AND address = ?';
  const run = async (statement: string, ...values: unknown[]) => {
    tamper(path, (database) => database.prepare(statement).run(...values));
  };
  return {
    damagePayload: (ref: RecordRef, revision: number, address: string, bytes: Uint8Array) =>
      run(`UPDATE payloads SET bytes = ? WHERE ${payload}`, bytes, ref.kind, ref.id, revision, address),
    erasePayload: (ref: RecordRef, revision: number, address: string) =>
      run(`DELETE FROM payloads WHERE ${payload}`, ref.kind, ref.id, revision, address),
    damageDocument: (ref: RecordRef, document: string) =>
      run('UPDATE records SET document = ? WHERE kind = ? AND id = ?', document, ref.kind, ref.id),
  };
}
