/**
 * The outbox of the embedded store, on the connection that writes: a connection of its own would make every other
 * process read its records anew.
 */
import type { NewOutboxEntry, OutboxCount, OutboxEntry, OutboxResult, OutboxState, OutboxTable } from '../outbox.js';
import type { Connection, Statement } from './database.js';
import { lazily } from './lazy.js';

const COLUMNS = 'key, channel, notice, body, put AS at, until, state, tries, due, ended, code';

const TEXTS = {
  cursor: "SELECT sequence FROM cursors WHERE name = 'outbox'",
  move: "INSERT OR REPLACE INTO cursors VALUES ('outbox', ?)",
  insert: `INSERT INTO outbox (key, channel, notice, body, put, until, state, tries, due)
    VALUES (?, ?, ?, ?, ?, ?, 'waiting', 0, ?) ON CONFLICT (key) DO NOTHING`,
  due: `SELECT ${COLUMNS} FROM outbox WHERE channel = ? AND state = 'waiting' AND due <= ?
    ORDER BY due, key LIMIT ?`,
  begin: "UPDATE outbox SET tries = tries + 1, due = ? WHERE key = ? AND tries = ? AND state = 'waiting'",
  end: "UPDATE outbox SET state = ?, ended = ?, code = ? WHERE key = ? AND tries = ? AND state = 'waiting'",
  list: `SELECT ${COLUMNS} FROM outbox WHERE state IN (SELECT value FROM json_each(?))
    ORDER BY put DESC, key LIMIT ?`,
  counts: 'SELECT channel, state, count(*) AS count FROM outbox GROUP BY channel, state',
  clear: `DELETE FROM outbox WHERE key IN (SELECT key FROM outbox WHERE ended < max(?, ifnull(1 +
    (SELECT ended FROM outbox WHERE ended IS NOT NULL ORDER BY ended DESC LIMIT 1 OFFSET ?), 0))
    ORDER BY ended LIMIT ?)`,
} as const;

export class SqliteOutbox implements OutboxTable {
  readonly #on: (name: keyof typeof TEXTS) => Statement;

  constructor(database: Connection) {
    this.#on = lazily(database, TEXTS);
  }

  cursor(): number | undefined {
    return (this.#on('cursor').get() as { sequence: number } | undefined)?.sequence;
  }

  move(to: number): void {
    this.#on('move').run(to);
  }

  insert({ key, channel, notice, body, at, until }: NewOutboxEntry): void {
    this.#on('insert').run(key, channel, notice, body, at, until, at);
  }

  due(channel: string, now: number, limit: number): readonly OutboxEntry[] {
    return this.#on('due').all(channel, now, limit) as OutboxEntry[];
  }

  begin(key: string, tries: number, dueAgain: number): boolean {
    return this.#on('begin').run(dueAgain, key, tries).changes === 1;
  }

  end(key: string, tries: number, { state, at, code }: OutboxResult): boolean {
    return this.#on('end').run(state, state === 'waiting' ? null : at, code, key, tries).changes === 1;
  }

  list(states: readonly OutboxState[], limit: number): readonly OutboxEntry[] {
    return this.#on('list').all(JSON.stringify(states), limit) as OutboxEntry[];
  }

  counts(): readonly OutboxCount[] {
    return this.#on('counts').all() as OutboxCount[];
  }

  clear(before: number, keep: number, limit: number): number {
    return this.#on('clear').run(before, keep, limit).changes;
  }
}
