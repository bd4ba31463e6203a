/** The file of a store as somebody sees it who has the file alone: rows, columns and bytes, without the triggers. */
import { join } from 'node:path';
import Database from 'better-sqlite3';

export type Value = string | number | null | Uint8Array;

/** One stored field. */
export interface Cell {
  readonly table: string;
  readonly rowid: number;
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
    const found: Cell[] = [];
    for (const table of ['events', 'records', 'payloads']) {
      const statement = this.#database.prepare(`SELECT rowid AS place, * FROM ${table} WHERE kind = ? AND id = ?`);
      for (const { kind, id } of records) {
        for (const { place, ...columns } of statement.all(kind, id) as ({ place: number } & Record<string, Value>)[]) {
          const of = `${kind}/${id}#${String(columns.revision)}`;
          for (const [column, value] of Object.entries(columns)) {
            found.push({ table, rowid: place, column, value: value as Value, of });
          }
        }
      }
    }
    return found;
  }

  /** False where the table itself refuses such a value. */
  write({ table, rowid, column }: Cell, value: Value): boolean {
    try {
      this.#database.prepare(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`).run(value, rowid);
      return true;
    } catch (error) {
      if (String((error as { code?: string }).code).startsWith('SQLITE_CONSTRAINT')) return false;
      throw error;
    }
  }

  /** Puts a field back; its row may stand at another place now. */
  restore(cell: Cell, written: Value): void {
    const rowid = cell.column === 'sequence' ? (written as number) : cell.rowid;
    this.write({ ...cell, rowid }, cell.value);
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
