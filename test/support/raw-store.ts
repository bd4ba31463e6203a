/** The file of a store as somebody sees it who has the file alone: rows, columns and bytes, without the triggers. */
import { join } from 'node:path';
import Database from 'better-sqlite3';

export type Value = string | number | null | Uint8Array;

/** One stored field. */
export interface Cell {
  readonly table: 'events' | 'records' | 'payloads';
  /** The columns that its row stands under. */
  readonly key: Readonly<Record<string, Value>>;
  readonly column: string;
  readonly value: Value;
  /** Which record it belongs to, as `kind/id#revision`. */
  readonly of: string;
}

export class RawStore {
  readonly #database: Database.Database;

  constructor(folder: string) {
    this.#database = new Database(join(folder, 'ledger.sqlite'), { timeout: 2_000 });
    this.#database.exec('DROP TRIGGER IF EXISTS events_keep; DROP TRIGGER IF EXISTS events_stay;');
  }

  /** Every field of the events, record rows and payloads of some records. */
  cells(records: readonly { readonly kind: string; readonly id: string }[]): readonly Cell[] {
    return records.flatMap(({ kind, id }) => [
      ...this.#rows('events', ['sequence'], 'SELECT * FROM events WHERE kind = ? AND id = ?', kind, id),
      ...this.#rows('records', ['rowid'], 'SELECT rowid, * FROM records WHERE kind = ? AND id = ?', kind, id),
      ...this.#rows(
        'payloads',
        ['sequence', 'address'],
        'SELECT * FROM payloads WHERE sequence IN (SELECT sequence FROM events WHERE kind = ? AND id = ?)',
        kind,
        id,
      ),
    ]);
  }

  #rows(table: Cell['table'], keys: readonly string[], text: string, kind: string, id: string): readonly Cell[] {
    const rows = this.#database.prepare(text).all(kind, id) as Record<string, Value>[];
    return rows.flatMap((row) => {
      const key = Object.fromEntries(keys.map((name) => [name, row[name] as Value]));
      const of = `${kind}/${id}#${String(row.revision)}`;
      const columns = Object.entries(row).filter(([column]) => column !== 'rowid');
      return columns.map(([column, value]) => ({ table, key, column, value, of }));
    });
  }

  /** False where the table itself refuses such a value. */
  write({ table, key, column }: Cell, value: Value): boolean {
    const where = Object.keys(key).map((name) => `${name} = ?`);
    try {
      this.#database
        .prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where.join(' AND ')}`)
        .run(value, ...Object.values(key));
      return true;
    } catch (error) {
      if (String((error as { code?: string }).code).startsWith('SQLITE_CONSTRAINT')) return false;
      throw error;
    }
  }

  /** Puts a field back; its row may stand under another key now. */
  restore(cell: Cell, written: Value): void {
    const key = Object.hasOwn(cell.key, cell.column) ? { ...cell.key, [cell.column]: written } : cell.key;
    this.write({ ...cell, key }, cell.value);
  }

  close(): void {
    this.#database.close();
  }
}

/** The same value with one bit of one byte changed; `at` goes through the bytes. */
export function flipped(value: Value, at: number): Value {
  if (value === null) return 'x';
  if (typeof value === 'number') return value + (at % 2 === 0 ? 1 : 1_000_000);
  const bytes = Buffer.from(value as string);
  if (bytes.length === 0) return typeof value === 'string' ? 'x' : Buffer.from('x');
  const place = at % bytes.length;
  bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
  return typeof value === 'string' ? bytes.toString('utf8') : bytes;
}
