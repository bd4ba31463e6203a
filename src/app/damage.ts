/**
 * Flips one byte of one event in a copy of a store, as somebody with access to the file could: for the
 * demonstration, and for whoever wants to see that the check finds it. It refuses a store in which a ledger was not
 * made for a demonstration.
 */
import Database from 'better-sqlite3';
import { Fault, Refusal } from '../core/index.js';

/** The record whose last event was changed, as `kind/id#revision`. Refuses `forbidden`; faults `store`. */
export function damageCopy(path: string): string {
  try {
    const database = new Database(path);
    try {
      const isDemo = database.prepare(`SELECT 1 FROM events WHERE sequence = 1 AND data LIKE '%"demo":true%'`).get();
      if (isDemo === undefined)
        throw new Refusal('forbidden', 'only the ledger of a demonstration is damaged on purpose');
      const row = database
        .prepare(
          `SELECT sequence, kind, id, revision, data FROM events WHERE type = 'action-proposed' ORDER BY sequence DESC`,
        )
        .get() as { sequence: number; kind: string; id: string; revision: number; data: string };
      const damaged = Buffer.from(row.data, 'utf8');
      const at = damaged.indexOf('"target":"') + '"target":"'.length;
      damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
      database.exec('DROP TRIGGER events_keep');
      database.prepare('UPDATE events SET data = ? WHERE sequence = ?').run(damaged.toString('utf8'), row.sequence);
      return `${row.kind}/${row.id}#${row.revision}`;
    } finally {
      database.close();
    }
  } catch (error) {
    throw error instanceof Refusal ? error : new Fault('store', 'the copy could not be damaged', error);
  }
}
