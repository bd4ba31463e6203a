/**
 * The statements of the embedded store, prepared once for each connection; and the texts of its scans, which are
 * prepared for each use, because scans run inside one another.
 */
import type { Connection, Statement } from './database.js';

const TEXTS = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  changes: 'PRAGMA data_version',
  record: 'SELECT * FROM records WHERE kind = ? AND id = ?',
  lookup: 'SELECT id, status, principal FROM records WHERE kind = ? AND lookup = ? ORDER BY id',
  claim: 'SELECT * FROM claims WHERE scope = ? AND principal = ? AND key = ?',
  event: 'SELECT * FROM events WHERE kind = ? AND id = ? AND revision = ?',
  events: 'SELECT * FROM events WHERE kind = ? AND id = ? AND revision >= ? ORDER BY revision LIMIT ?',
  payload: `SELECT bytes FROM payloads WHERE address = ?
    AND sequence = (SELECT sequence FROM events WHERE kind = ? AND id = ? AND revision = ?)`,
  tail: 'SELECT sequence, log_hash AS logHash, at FROM events ORDER BY sequence DESC LIMIT 1',
  log: 'SELECT * FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?',
  writeEvent: 'INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  writePayload: 'INSERT OR REPLACE INTO payloads VALUES (?, ?, ?)',
  writeClaim: 'INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?, ?)',
  insertRecord: `INSERT INTO records
    (revision, head, head_at, version, document, project, status, principal, due, lookup, kind, id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  updateRecord: `UPDATE records SET revision = ?, head = ?, head_at = ?, version = ?, document = ?,
    project = ?, status = ?, principal = ?, due = ?, lookup = ? WHERE kind = ? AND id = ?`,
} as const;

/** Everything there is, for `verify`, in the order that it walks in. */
export const SCANS = {
  events: 'SELECT * FROM events ORDER BY kind, id, revision',
  records: 'SELECT * FROM records ORDER BY kind, id',
  claims: 'SELECT * FROM claims ORDER BY scope, principal, key',
  payloads: 'SELECT sequence, address FROM payloads',
} as const;

export type Statements = Readonly<Record<keyof typeof TEXTS, Statement>>;

export function prepareAll(database: Connection): Statements {
  const prepared = Object.entries(TEXTS).map(([name, text]) => [name, database.prepare(text)]);
  const statements = Object.fromEntries(prepared) as Statements;
  statements.changes.pluck();
  return statements;
}
