/**
 * The leases of the embedded store, on the connection that writes.
 */
import type { LeaseTable } from '../leases.js';
import type { Connection, Statement } from './database.js';
import { lazily } from './lazy.js';

const TEXTS = {
  hold: `INSERT INTO leases VALUES (?, ?, ?) ON CONFLICT (name)
    DO UPDATE SET gate = excluded.gate, until = excluded.until WHERE gate = excluded.gate OR until <= ?`,
  clear: 'DELETE FROM leases WHERE until <= ? AND name <> ?',
  release: 'DELETE FROM leases WHERE name = ? AND gate = ?',
  held: 'SELECT name FROM leases WHERE name >= ? AND name < ? AND until > ? LIMIT ?',
} as const;

/** Behind every name below a prefix. */
const LAST = '\u{10ffff}';

export class SqliteLeases implements LeaseTable {
  readonly #on: (name: keyof typeof TEXTS) => Statement;

  constructor(database: Connection) {
    this.#on = lazily(database, TEXTS);
  }

  hold(name: string, holder: string, now: number, until: number): boolean {
    const isHeld = this.#on('hold').run(name, holder, until, now).changes === 1;
    // What ran out is of no use to anybody.
    if (isHeld) this.#on('clear').run(now, name);
    return isHeld;
  }

  release(name: string, holder: string): void {
    this.#on('release').run(name, holder);
  }

  held(prefix: string, now: number, limit: number): readonly string[] {
    const rows = this.#on('held').all(prefix, prefix + LAST, now, limit) as { name: string }[];
    return rows.map(({ name }) => name);
  }
}
