/**
 * The rows of a store written again, bare: the same events, payloads, claims and records, in the same transactions, by
 * prepared statements into the same tables and indexes, and nothing else. It is what the database alone costs.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';

export interface Rewritten {
  readonly commits: number;
  /** Wall and processor time of all commits together, in microseconds. */
  readonly micros: number;
  readonly cpuMicros: number;
}

type Row = Record<string, unknown>;

interface Transaction {
  readonly events: Row[];
  readonly payloads: Row[];
  readonly claims: Row[];
}

/** Writes the entries behind `after` of the store at `path` again, into a new file in `folder`. */
export function rewriteRows(path: string, after: number, folder: string): Rewritten {
  const source = new Database(path, { readonly: true });
  const transactions = transactionsOf(source, after);
  const records = new Map(
    (source.prepare('SELECT * FROM records').all() as Row[]).map((row) => [`${row.kind}/${row.id}`, row]),
  );
  const target = new Database(join(folder, `rewritten-${after}.sqlite`));
  target.pragma('journal_mode = WAL');
  target.pragma('synchronous = FULL');
  target.pragma('cache_size = -65536');
  target.pragma('wal_autocheckpoint = 2000');
  const schema = "SELECT sql FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL";
  for (const sql of source.prepare(schema).pluck().all()) target.exec(sql as string);
  const write = writerOf(target, records);
  const [begin, commit] = [target.prepare('BEGIN IMMEDIATE'), target.prepare('COMMIT')];
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  for (const transaction of transactions) {
    begin.run();
    write(transaction);
    commit.run();
  }
  const micros = (performance.now() - startedAt) * 1_000;
  const { user, system } = process.cpuUsage(cpu);
  source.close();
  target.close();
  return { commits: transactions.length, micros, cpuMicros: user + system };
}

/** Each transaction of a gate ends with the entries of a thread. */
function transactionsOf(source: Database.Database, after: number): readonly Transaction[] {
  const events = source.prepare('SELECT * FROM events WHERE sequence > ? ORDER BY sequence').all(after) as Row[];
  const payloads = source.prepare('SELECT * FROM payloads WHERE sequence = ?');
  const claims = new Map<string, Row[]>();
  for (const row of source.prepare('SELECT * FROM claims').iterate() as IterableIterator<Row>) {
    const name = `${row.kind}/${row.id}#${row.revision}`;
    claims.set(name, [...(claims.get(name) ?? []), row]);
  }
  const transactions: Transaction[] = [];
  let open: Transaction = { events: [], payloads: [], claims: [] };
  for (const event of events) {
    open.events.push(event);
    open.payloads.push(...(payloads.all(event.sequence) as Row[]));
    open.claims.push(...(claims.get(`${event.kind}/${event.id}#${event.revision}`) ?? []));
    if (event.kind !== 'thread') continue;
    transactions.push(open);
    open = { events: [], payloads: [], claims: [] };
  }
  return transactions;
}

function writerOf(target: Database.Database, records: ReadonlyMap<string, Row>) {
  const places = (count: number) => Array.from({ length: count }, () => '?').join(', ');
  const event = target.prepare(`INSERT INTO events VALUES (${places(12)})`);
  const payload = target.prepare(`INSERT INTO payloads VALUES (${places(3)})`);
  const claim = target.prepare(`INSERT INTO claims VALUES (${places(7)})`);
  const record = target.prepare(`INSERT INTO records VALUES (${places(12)})`);
  const update = target.prepare(
    `UPDATE records SET revision = ?, head = ?, head_at = ?, version = ?, document = ?, project = ?, status = ?,
     principal = ?, due = ?, lookup = ? WHERE kind = ? AND id = ?`,
  );
  const known = new Set<string>();
  return ({ events, payloads, claims }: Transaction) => {
    for (const row of events) event.run(...Object.values(row));
    for (const row of payloads) payload.run(...Object.values(row));
    for (const row of claims) claim.run(...Object.values(row));
    for (const { kind, id } of events) {
      const name = `${kind}/${id}`;
      const values = Object.values(records.get(name) as Row);
      if (known.has(name)) update.run(...values.slice(2), kind, id);
      else record.run(...values);
      known.add(name);
    }
  };
}
