/**
 * The outbox on a server that several gates share: each method is one statement. What a lost connection leaves
 * unanswered is asked again; a try that was taken then is told as taken by another, and comes again when it is due.
 */
import type { Outbox, OutboxCount, OutboxEntry, OutboxState } from '../outbox.js';
import { bigintArray, textArray } from './arrays.js';
import type { Row, Statement, Value } from './connection.js';

/** Asks the server; answers rows. */
export type AskServer = (statement: Statement, values?: readonly Value[]) => Promise<readonly Row[]>;

const COLUMNS = 'key, channel, notice, body, put, until, state, tries, due, ended, code';

const named = (name: string, text: string): Statement => ({ name: `outbox_${name}`, text });

const CURSOR = named('cursor', "SELECT sequence FROM countersign.cursors WHERE name = 'outbox'");
const ENTRIES = `SELECT n.key, n.channel, n.notice, n.body, n.put, n.until, 'waiting', 0, n.put
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
    AS n(key, channel, notice, body, put, until)`;
const INTO = 'INSERT INTO countersign.outbox (key, channel, notice, body, put, until, state, tries, due)';
const PUT = named('put', `${INTO} ${ENTRIES} ON CONFLICT (key) DO NOTHING`);
/** A first place is made once; another one moves from where it was. */
const PUT_AND_MOVE = named(
  'put_and_move',
  `WITH moved AS (
    INSERT INTO countersign.cursors AS c (name, sequence) VALUES ('outbox', $8)
    ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence WHERE c.sequence = $7::bigint
    RETURNING name
  ), entries AS (
    ${INTO} ${ENTRIES} WHERE EXISTS (SELECT 1 FROM moved) ON CONFLICT (key) DO NOTHING
  ) SELECT name FROM moved`,
);
const DUE = named(
  'due',
  `SELECT ${COLUMNS} FROM countersign.outbox WHERE channel = $1 AND state = 'waiting' AND due <= $2
    ORDER BY due, key LIMIT $3`,
);
const BEGIN = named(
  'begin',
  `UPDATE countersign.outbox SET tries = tries + 1, due = $3
    WHERE key = $1 AND tries = $2 AND state = 'waiting' RETURNING key`,
);
const END = named(
  'end',
  `UPDATE countersign.outbox SET state = $3, ended = $4, code = $5
    WHERE key = $1 AND tries = $2 AND state = 'waiting' RETURNING key`,
);
const LIST = named(
  'list',
  `SELECT ${COLUMNS} FROM countersign.outbox WHERE state = ANY ($1::text[]) ORDER BY put DESC, key LIMIT $2`,
);
const COUNTS = named('counts', 'SELECT channel, state, count(*) FROM countersign.outbox GROUP BY channel, state');
const CLEAR = named(
  'clear',
  `WITH gone AS (
    DELETE FROM countersign.outbox WHERE key IN (SELECT key FROM countersign.outbox
      WHERE ended < greatest($1::bigint, coalesce(1 + (SELECT ended FROM countersign.outbox WHERE ended IS NOT NULL
        ORDER BY ended DESC LIMIT 1 OFFSET $2), 0)) ORDER BY ended LIMIT $3) RETURNING key
  ) SELECT count(*) FROM gone`,
);
export function serverOutbox(ask: AskServer): Outbox {
  const isDone = async (statement: Statement, values: readonly Value[]) => (await ask(statement, values)).length === 1;
  return {
    cursor: async () => (await ask(CURSOR))[0]?.[0] as number | undefined,
    put: async (entries, move) => {
      const columns = [
        ...(['key', 'channel', 'notice', 'body'] as const).map((name) => textArray(entries.map((one) => one[name]))),
        ...(['at', 'until'] as const).map((name) => bigintArray(entries.map((one) => one[name]))),
      ];
      if (move !== undefined) return isDone(PUT_AND_MOVE, [...columns, move.from ?? null, move.to]);
      if (entries.length > 0) await ask(PUT, columns);
      return true;
    },
    due: async (channel, now, limit) => (await ask(DUE, [channel, now, limit])).map(entryOf),
    begin: (key, tries, dueAgain) => isDone(BEGIN, [key, tries, dueAgain]),
    end: (key, tries, { state, at, code }) => isDone(END, [key, tries, state, state === 'waiting' ? null : at, code]),
    list: async (states, limit) => (await ask(LIST, [textArray(states), limit])).map(entryOf),
    counts: async () => (await ask(COUNTS)).map(countOf),
    clear: async (before, keep, limit) => Number((await ask(CLEAR, [before, keep, limit]))[0]?.[0] ?? 0),
  };
}

function entryOf(row: Row): OutboxEntry {
  const [key, channel, notice, body, at, until, state, tries, due, ended, code] = row as [
    ...[string, string, string, string, number, number, OutboxState, number, number, number | null, string | null],
  ];
  return { key, channel, notice, body, at, until, state, tries, due, ended, code };
}

function countOf(row: Row): OutboxCount {
  const [channel, state, count] = row as [string, OutboxState, number];
  return { channel, state, count };
}
