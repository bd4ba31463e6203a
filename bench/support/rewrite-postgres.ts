/**
 * The rows of a database written again, bare: the same events, log, payloads, claims and records, so many cycles in each
 * transaction, by prepared statements into the same tables and indexes of another database of the same server, and
 * nothing else: no lock, no read, no queue, no signature. It is what the server alone could carry.
 */
import pg from 'pg';
import { migratePostgres } from '../../src/ledger/postgres/migrate.js';
import { freshDatabase } from '../../test/support/postgres-server.js';

type Row = readonly unknown[];

const EVENTS = 'kind, id, revision, type, at, actor, data, payloads, prev, hash';
const RECORDS = 'kind, id, revision, head, head_at, version, document, project, status, principal, due, lookup';
const TYPES = {
  events: ['text', 'text', 'int', 'text', 'bigint', 'text', 'text', 'text', 'text', 'text'],
  log: ['bigint', 'text', 'text', 'int', 'text'],
  payloads: ['text', 'text', 'int', 'text', 'bytea'],
  claims: ['text', 'text', 'text', 'text', 'text', 'text', 'int'],
  records: ['text', 'text', 'int', 'text', 'bigint', 'int', 'text', 'text', 'text', 'text', 'bigint', 'text'],
} as const;
type Table = keyof typeof TYPES;

/** Statements of a cycle when it is alone: its commits. */
const COMMITS = 5;

/** Cycles per second with the rows of the newest `cycles` of `source`, so many cycles at once in flight. */
export async function bareRate(server: string, source: string, inFlight: number, cycles: number): Promise<number> {
  const from = new pg.Client({ connectionString: source });
  await from.connect();
  const all = async (text: string) => (await from.query({ text, rowMode: 'array' })).rows as Row[];
  const first = `(SELECT min(sequence) FROM (SELECT l.sequence FROM countersign.log l JOIN countersign.events e
    USING (kind, id, revision) WHERE e.type = 'action-proposed' ORDER BY l.sequence DESC LIMIT ${cycles}) AS n)`;
  const events = await all(`SELECT l.sequence, l.log_hash, ${EVENTS} FROM countersign.log l
    JOIN countersign.events e USING (kind, id, revision) WHERE l.sequence >= ${first} ORDER BY l.sequence`);
  const named = (row: Row) => `${row[0]}/${row[1]}#${row[2]}`;
  const group = (rows: readonly Row[], name: (row: Row) => string) => {
    const groups = new Map<string, Row[]>();
    for (const row of rows) groups.set(name(row), [...(groups.get(name(row)) ?? []), row]);
    return groups;
  };
  const payloads = group(await all('SELECT kind, id, revision, address, bytes FROM countersign.payloads'), named);
  const claims = group(
    await all('SELECT scope, principal, key, command, kind, id, revision FROM countersign.claims'),
    (row) => `${row[4]}/${row[5]}#${row[6]}`,
  );
  const records = new Map(
    (await all(`SELECT ${RECORDS} FROM countersign.records`)).map((row) => [`${row[0]}/${row[1]}`, row]),
  );
  await from.end();

  const { url, drop } = await freshDatabase(server);
  await migratePostgres(url, '0'.repeat(32));
  const to = new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig);
  await to.connect();
  const write = (table: Table, rows: readonly Row[]) => {
    const types = TYPES[table];
    const columns = types.map((_, at) => rows.map((row) => row[at]));
    const values = `SELECT * FROM unnest(${types.map((type, at) => `$${at + 1}::${type}[]`).join(', ')})`;
    const update = RECORDS.split(', ')
      .slice(2)
      .map((name) => `${name} = excluded.${name}`)
      .join(', ');
    const conflict = table === 'records' ? ` ON CONFLICT (kind, id) DO UPDATE SET ${update}` : '';
    return rows.length === 0
      ? undefined
      : to.query({ name: table, text: `INSERT INTO countersign.${table} ${values}${conflict}`, values: columns });
  };
  // As many transactions as the cycles would have if each wave shared one.
  const transactions = Math.max(1, Math.round((cycles * COMMITS) / inFlight));
  const size = Math.ceil(events.length / transactions);
  const startedAt = performance.now();
  for (let at = 0; at < events.length; at += size) {
    const some = events.slice(at, at + size);
    const own = some.map((row) => row.slice(2));
    const changed = new Map(own.map((row) => [`${row[0]}/${row[1]}`, records.get(`${row[0]}/${row[1]}`) as Row]));
    await Promise.all([
      to.query({ name: 'begin', text: 'BEGIN' }),
      write('events', own),
      write(
        'log',
        some.map(([sequence, hash, kind, id, revision]) => [sequence, kind, id, revision, hash]),
      ),
      write(
        'payloads',
        own.flatMap((row) => payloads.get(named(row)) ?? []),
      ),
      write(
        'claims',
        own.flatMap((row) => claims.get(named(row)) ?? []),
      ),
      write('records', [...changed.values()]),
      to.query({ name: 'commit', text: 'COMMIT' }),
    ]);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  await to.end();
  await drop();
  return cycles / seconds;
}
