/**
 * Reads a whole ledger out of a database, while nobody else can write to it, and marks it as moved once it stands
 * elsewhere.
 *
 * The tables are locked against writers, so that no gate can begin meanwhile: one that tries waits for its lease, and
 * is refused. A gate that is alive keeps the ledger from being taken.
 */
import { LIMITS, Refusal } from '../../core/index.js';
import type { Kinds } from '../kind.js';
import type { Connection } from './connection.js';
import { ledgerIdOf, MOVED } from './migrate.js';
import { LONG, onServer, type SeenLedger, seenOn } from './seen-ledger.js';
import { STATEMENTS } from './statements.js';

const TABLES = ['leases', 'unsequenced', 'events', 'log', 'records', 'claims', 'payloads', 'meta'];
const HOLD = `LOCK TABLE ${TABLES.map((name) => `countersign.${name}`).join(', ')} IN SHARE ROW EXCLUSIVE MODE`;

/** A ledger that nobody else can write to. */
export interface HeldLedger extends SeenLedger {
  /** From now on gates refuse this database: the ledger stands elsewhere. */
  markMoved(): Promise<void>;
}

/**
 * Runs `act` while no gate can work on the ledger. Refuses `busy` while one does, or while events wait for their place
 * in the log; and as `ledgerIdOf`, except that a ledger which was moved can be read.
 */
export async function withHeldLedger<T>(
  url: string,
  kinds: Kinds,
  act: (ledger: HeldLedger) => Promise<T>,
): Promise<T> {
  return onServer(url, async (connection) => {
    const ledgerId = await ledgerIdOf(connection, true);
    await connection.script(`BEGIN ISOLATION LEVEL REPEATABLE READ; ${LONG}; ${HOLD}`);
    await demandAlone(connection);
    let moved = false;
    const done = await act({
      ...seenOn(connection, ledgerId, kinds),
      markMoved: async () => {
        const text = 'INSERT INTO countersign.meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING';
        await connection.ask({ name: 'mark moved', text }, [MOVED, 'true']);
        await connection.run(STATEMENTS.commit);
        moved = true;
      },
    });
    if (!moved) await connection.run(STATEMENTS.rollback);
    return done;
  });
}

async function demandAlone(connection: Connection): Promise<void> {
  const [row] = await connection.ask({
    name: 'others',
    text: `SELECT (SELECT count(*) FROM countersign.leases WHERE until > clock_timestamp())::int,
      (SELECT count(*) FROM countersign.unsequenced)::int`,
  });
  const [gates, queued] = row as unknown as [number, number];
  if (gates > 0) {
    const next = `stop every gate; one that was killed is alive for ${LIMITS.leaseMs / 1_000} s`;
    throw new Refusal('busy', 'a gate is open on this store', { next });
  }
  if (queued > 0) {
    throw new Refusal('busy', 'events wait for their place in the log', { next: 'open a gate once, and close it' });
  }
}
