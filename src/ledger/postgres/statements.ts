/**
 * The statements of the PostgreSQL store. Each takes arrays, so that a batch of any size is one statement of each; each
 * is prepared once for a connection, under its name.
 */
import { LIMITS } from '../../core/index.js';
import type { Statement } from './connection.js';
import { CLAIM_COLUMNS, EVENT_COLUMNS, RECORD_COLUMNS } from './rows.js';

/** A record with more events than this is believed by its last one, where that tells its state; `verify` folds all. */
export const FOLD_MAX = 256;
/** The same for one whose last event tells less than its document. */
export const FOLD_WHOLE_MAX = 10_000;

/** Locks of transactions are by 64-bit number: this space of names is ours, and no record has such a name. */
const ORDER_LOCK = "hashtextextended('countersign sequencer', 7)";

/** Whether this transaction holds the order, and its events may have their places. */
const IN_ORDER = "coalesce(current_setting('countersign.in_order', true) = 'true', false)";
/** A row that follows from others is written only in order. */
const WRITTEN = `WHERE NOT n.follows OR ${IN_ORDER}`;

/** A column of a record, once: where its last event is told, or none. */
function beside(column: string): string {
  return `CASE WHEN e.revision IS NULL OR e.revision = r.revision THEN r.${column} END`;
}

/**
 * The rows of a table that belong to each row before it. It can't be turned round: by statistics from a time when a
 * table was empty, or nothing in it open, the server would read the whole of it for each batch.
 * INVARIANT: postgres.plans
 */
function each(table: string, alias: string, condition: string, join: 'INNER' | 'LEFT' = 'INNER'): string {
  const rows = `SELECT * FROM countersign.${table} AS ${alias} WHERE ${condition} OFFSET 0`;
  return `${join} JOIN LATERAL (${rows}) AS ${alias} ON true`;
}

/** The row of a record, of an event, of a payload that is named by a row before it. */
const byName = (alias: string, of: string) => `${alias}.kind = ${of}.kind AND ${alias}.id = ${of}.id`;
const byPlace = (alias: string, of: string) => `${byName(alias, of)} AND ${alias}.revision = ${of}.revision`;

const NAMED = 'unnest($1::text[], $2::text[])';
const PLACES = 'unnest($1::text[], $2::text[], $3::int[]) AS n(kind, id, revision)';

function all<Names extends string>(texts: Readonly<Record<Names, string>>): Readonly<Record<Names, Statement>> {
  const named = Object.entries<string>(texts).map(([name, text]) => [name, { name, text }]);
  return Object.fromEntries(named) as Record<Names, Statement>;
}

export const STATEMENTS = all({
  begin: 'BEGIN',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',

  /** Locks names one behind the other, in the order of the array: shared, or for itself alone. */
  lock: `SELECT count(CASE WHEN n.alone THEN pg_advisory_xact_lock(hashtextextended(n.name, 7))
      ELSE pg_advisory_xact_lock_shared(hashtextextended(n.name, 7)) END::text)
    FROM unnest($1::text[], $2::boolean[]) AS n(name, alone)`,
  takeOrder: `SELECT pg_advisory_xact_lock(${ORDER_LOCK}), set_config('countersign.in_order', 'true', true)`,
  /** Tries the order and the records that projections append to, without waiting. */
  tryOrder: `SELECT set_config('countersign.in_order', (pg_try_advisory_xact_lock(${ORDER_LOCK})
      AND count(*) = count(CASE WHEN pg_try_advisory_xact_lock(hashtextextended(n.name, 7)) THEN 1 END))::text, true)
    FROM unnest($1::text[]) AS n(name)`,
  /** Behind `tryOrder`: the order is held only where nothing waits for its place, and all ends as is known. */
  checkOrder: `SELECT set_config('countersign.in_order', (${IN_ORDER}
      AND NOT EXISTS (SELECT FROM countersign.unsequenced WHERE place > $1)
      AND coalesce((SELECT sequence = $2::bigint AND log_hash = $3 FROM countersign.log ORDER BY sequence DESC LIMIT 1),
        $2::bigint = 0)
      AND NOT EXISTS (SELECT FROM unnest($4::text[], $5::text[], $6::int[], $7::text[], $8::text[], $9::int[])
          AS n(kind, id, revision, head, document, version)
        ${each('records', 'r', byName('r', 'n'), 'LEFT')}
        WHERE r.revision IS DISTINCT FROM n.revision OR r.head IS DISTINCT FROM n.head
          OR r.document IS DISTINCT FROM n.document OR r.version IS DISTINCT FROM n.version))::text, true)`,
  /**
   * The time, the transactions that are over and the first that is not begun (what was not seen below it never comes),
   * the end of the log with the time of its last event, and whether an entry stands that was known.
   */
  moment: `SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, pg_snapshot_xmin(s)::text::bigint,
      pg_snapshot_xmax(s)::text::bigint, l.sequence, l.log_hash, e.at,
      $1::bigint = 0 OR EXISTS (SELECT FROM countersign.log WHERE sequence = $1::bigint AND log_hash = $2)
    FROM pg_current_snapshot() AS s
    LEFT JOIN (SELECT * FROM countersign.log ORDER BY sequence DESC LIMIT 1) AS l ON true
    ${each('events', 'e', byPlace('e', 'l'), 'LEFT')}`,

  record: `SELECT ${RECORD_COLUMNS} FROM countersign.records r WHERE r.kind = $1 AND r.id = $2`,
  /**
   * Records by their place in the arrays, with the events behind the revision that is known of each; of a long one with
   * a document the last alone, unless an older version of its kind wrote that. What the record says stands beside its
   * last event.
   */
  load: `SELECT n.place, r.revision, ${beside('head')}, ${beside('head_at')}, ${beside('version')},
      ${beside('document')}, e.revision, e.type, e.at, e.actor, e.data, e.payloads, e.prev, e.hash
    FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::int[]) WITH ORDINALITY
      AS n(kind, id, known, version, whole, place)
    ${each('records', 'r', byName('r', 'n'))}
    ${each(
      'events',
      'e',
      `r.revision > n.known AND ${byName('e', 'r')} AND e.revision <= r.revision
        AND e.revision > CASE WHEN r.document IS NULL OR r.revision < n.whole OR r.version < n.version THEN n.known
          ELSE greatest(n.known, r.revision - 1) END`,
      'LEFT',
    )}
    ORDER BY n.place, e.revision`,
  /** By the index of the key: the kind is compared in a way that no index is looked at for. */
  lookups: `SELECT n.kind, n.key, r.id, r.status, r.principal FROM ${NAMED} AS n(kind, key)
    ${each('records', 'r', 'r.lookup = n.key AND r.kind IS NOT DISTINCT FROM n.kind')} ORDER BY r.id`,
  /** Claims with the events that took them. */
  claims: `SELECT ${CLAIM_COLUMNS}, ${EVENT_COLUMNS}
    FROM unnest($1::text[], $2::text[], $3::text[]) AS n(scope, principal, key)
    ${each('claims', 'c', 'c.scope = n.scope AND c.principal = n.principal AND c.key = n.key')}
    ${each('events', 'e', byPlace('e', 'c'), 'LEFT')}`,
  /** Which of these events stand. */
  eventHashes: `SELECT e.hash FROM ${PLACES} ${each('events', 'e', byPlace('e', 'n'))}`,

  writeEvents: `INSERT INTO countersign.events
    SELECT n.kind, n.id, n.revision, n.type, n.at, n.actor, n.data, n.payloads, n.prev, n.hash
    FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[],
      $9::text[], $10::text[], $11::boolean[])
      AS n(kind, id, revision, type, at, actor, data, payloads, prev, hash, follows) ${WRITTEN}`,
  writeQueue: `INSERT INTO countersign.unsequenced (kind, id, revision)
    SELECT * FROM unnest($1::text[], $2::text[], $3::int[])`,
  writePayloads: `INSERT INTO countersign.payloads SELECT n.kind, n.id, n.revision, n.address, n.bytes
    FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::bytea[], $6::boolean[])
      AS n(kind, id, revision, address, bytes, follows) ${WRITTEN} ON CONFLICT DO NOTHING`,
  writeClaims: `INSERT INTO countersign.claims
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[])`,
  writeRecords: `INSERT INTO countersign.records
    SELECT n.kind, n.id, n.revision, n.head, n.head_at, n.version, n.document, n.project, n.status, n.principal, n.due,
      n.lookup
    FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::bigint[], $6::int[], $7::text[], $8::text[],
      $9::text[], $10::text[], $11::bigint[], $12::text[], $13::boolean[])
      AS n(kind, id, revision, head, head_at, version, document, project, status, principal, due, lookup, follows)
    ${WRITTEN}
    ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision, head = excluded.head,
      head_at = excluded.head_at, version = excluded.version, document = excluded.document,
      project = excluded.project, status = excluded.status, principal = excluded.principal, due = excluded.due,
      lookup = excluded.lookup`,

  head: 'SELECT sequence, log_hash FROM countersign.log ORDER BY sequence DESC LIMIT 1',
  /**
   * What waits for its place, by the hash of its event: one transaction behind the other, though their places cross,
   * each with its first place and its size.
   */
  queue: `SELECT e.kind, e.id, e.revision, e.hash, q.place, q.first, q.size
    FROM (SELECT *, min(place) OVER one AS first, count(*) OVER one AS size FROM countersign.unsequenced
      WHERE place > $1 WINDOW one AS (PARTITION BY xmin::text)) AS q
    ${each('events', 'e', byPlace('e', 'q'))}
    ORDER BY q.first, q.place LIMIT $2`,
  eventsAt: `SELECT ${EVENT_COLUMNS} FROM ${PLACES} ${each('events', 'e', byPlace('e', 'n'))}`,
  isQueued: 'SELECT 1 FROM countersign.unsequenced WHERE place > $1 ORDER BY place LIMIT 1',
  unqueue: 'DELETE FROM countersign.unsequenced WHERE place = ANY ($1::bigint[])',
  copyLog: `INSERT INTO countersign.log
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::text[])`,
  /** In order, places and a notice of the last of them: one row. Else what does not follow waits for its place. */
  place: `WITH n AS (SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::int[], $5::text[], $6::boolean[])
        AS n(sequence, kind, id, revision, log_hash, follows)),
      queued AS (INSERT INTO countersign.unsequenced (kind, id, revision)
        SELECT n.kind, n.id, n.revision FROM n WHERE NOT (n.follows OR ${IN_ORDER})),
      placed AS (INSERT INTO countersign.log
        SELECT n.sequence, n.kind, n.id, n.revision, n.log_hash FROM n WHERE ${IN_ORDER} RETURNING sequence)
    SELECT pg_notify('countersign_log', max(sequence)::text) FROM placed HAVING count(*) > 0`,

  log: `SELECT ${EVENT_COLUMNS}, l.sequence, l.log_hash FROM countersign.log l
    ${each('events', 'e', byPlace('e', 'l'), 'LEFT')}
    WHERE l.sequence > $1 ORDER BY l.sequence LIMIT $2`,
  events: `SELECT ${EVENT_COLUMNS} FROM countersign.events e
    WHERE e.kind = $1 AND e.id = $2 AND e.revision >= $3 ORDER BY e.revision LIMIT $4`,
  /** Which payloads of these records stand, unchanged, as far as they are not long. */
  payloadsStanding: `SELECT p.kind, p.id, p.revision, p.address FROM ${NAMED} AS n(kind, id)
    ${each('payloads', 'p', byName('p', 'n'))}
    WHERE octet_length(p.bytes) <= ${LIMITS.checkedPayloadBytesMax}
      AND p.address = 'sha256:' || encode(sha256(p.bytes), 'hex')`,
  payloadSizes: `SELECT n.place, octet_length(p.bytes)
    FROM unnest($1::int[], $2::text[], $3::text[], $4::int[], $5::text[]) AS n(place, kind, id, revision, address)
    ${each('payloads', 'p', `${byPlace('p', 'n')} AND p.address = n.address`)}`,
  payloads: `SELECT n.place, p.bytes
    FROM unnest($1::int[], $2::text[], $3::text[], $4::int[], $5::text[]) AS n(place, kind, id, revision, address)
    ${each('payloads', 'p', `${byPlace('p', 'n')} AND p.address = n.address`)}`,
});
