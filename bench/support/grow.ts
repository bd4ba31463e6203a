/**
 * A store that is many times as large: the rows of its actions once more, again and again, under other ids. The copies
 * don't verify, and nothing reads them; they stand in the same tables and indexes as the others.
 */
import Database from 'better-sqlite3';

/** Copies in one transaction. */
const TOGETHER = 20;

/** Grows the store at `path` to about `actions` actions; answers how many it holds. */
export function growStore(path: string, actions: number): number {
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = OFF');
  database.pragma('cache_size = -262144');
  const one = (text: string) => database.prepare(text).pluck().get() as number;
  const perCopy = one("SELECT count(*) FROM records WHERE kind = 'action'");
  const entries = one('SELECT max(sequence) FROM events');
  const trigger = database
    .prepare("SELECT sql FROM sqlite_schema WHERE name = 'events_follow'")
    .pluck()
    .get() as string;
  const moving = "kind IN ('action', 'request', 'thread')";
  database.exec(`
    CREATE TEMP TABLE old_events AS SELECT * FROM events WHERE ${moving};
    CREATE TEMP TABLE old_records AS SELECT * FROM records WHERE ${moving};
    CREATE TEMP TABLE old_claims AS SELECT * FROM claims;
    CREATE TEMP TABLE old_payloads AS SELECT * FROM payloads;
    DROP TRIGGER events_follow;`);
  // The copy's number stands in front of the random part of each id, so that copies lie as far apart as ids do.
  const id = "CASE kind WHEN 'thread' THEN id || '-' || @copy ELSE substr(id, 1, 8) || @copy || substr(id, 15) END";
  const event = 'type, at, actor, data, payloads, prev, hash, log_hash';
  const record = 'head, head_at, version, document, project, status, principal, due, lookup';
  const statements = [
    `INSERT INTO events SELECT sequence + @shift, kind, ${id}, revision, ${event} FROM old_events`,
    `INSERT INTO records SELECT kind, ${id}, revision, ${record} FROM old_records`,
    `INSERT INTO claims SELECT scope, principal, @copy || key, command, kind, ${id}, revision FROM old_claims`,
    'INSERT INTO payloads SELECT sequence + @shift, address, bytes FROM old_payloads',
  ].map((text) => database.prepare(text));
  const copies = Math.max(0, Math.round(actions / perCopy) - 1);
  const begin = database.prepare('BEGIN');
  const commit = database.prepare('COMMIT');
  for (let copy = 1; copy <= copies; copy += 1) {
    if (copy % TOGETHER === 1) begin.run();
    const named = { copy: copy.toString(32).toUpperCase().padStart(6, '0'), shift: copy * entries };
    for (const statement of statements) statement.run(named);
    if (copy % TOGETHER === 0 || copy === copies) commit.run();
  }
  database.exec(trigger);
  database.close();
  return perCopy * (copies + 1);
}
