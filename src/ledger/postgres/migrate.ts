/**
 * Makes the schema of a ledger in a database, brings an older one up to date, and reads which ledger it holds.
 *
 * Migrations are forward-only and numbered, each runs once, all in one transaction under one lock. Only the owner of
 * the schema can run them; gates and auditors get their roles' rights from here and no others.
 * Source: spec ledger (backends).
 */
import { assert, Fault, LIMITS, PATTERNS, Refusal } from '../../core/index.js';
import type { Connection } from './connection.js';
import { serverError } from './errors.js';
import { connectWithin } from './pool.js';
import { GATE_ROLE, GRANTS, MIGRATIONS, READER_ROLE } from './schema.js';

const MIGRATION_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('countersign migration', 7))";

interface Meta {
  /** 0 where there is no schema. */
  readonly version: number;
  readonly ledgerId: string | undefined;
  readonly isMoved: boolean;
}

async function readMeta(connection: Connection): Promise<Meta> {
  const [there] = await connection.ask({
    name: 'schema',
    text: "SELECT to_regclass('countersign.meta') IS NOT NULL",
  });
  if (there?.[0] !== true) return { version: 0, ledgerId: undefined, isMoved: false };
  const rows = await connection.ask({ name: 'meta', text: 'SELECT name, value FROM countersign.meta' });
  const values = new Map(rows.map((row) => row as unknown as [string, string]));
  const version = Number(values.get('schema_version'));
  if (!(Number.isSafeInteger(version) && version > 0)) throw new Fault('corrupt', 'the store names no schema');
  return {
    version,
    ledgerId: values.get('ledger_id'),
    isMoved: values.has(MOVED),
  };
}

/** The row of `meta` that says that the ledger was moved to another store. */
export const MOVED = 'moved';

/**
 * The id of the ledger that a database holds. Refuses `not_initialized`, `invalid`, also for one that was moved
 * elsewhere unless `evenMoved`; faults `corrupt`.
 */
export async function ledgerIdOf(connection: Connection, evenMoved = false): Promise<string> {
  const { version, ledgerId, isMoved } = await readMeta(connection);
  if (isMoved && !evenMoved) {
    const next = 'name its present store, or run the same `countersign migrate` again where that was cut off';
    throw new Refusal('invalid', 'the ledger was moved out of this database', { next });
  }
  if (version === 0) throw new Refusal('not_initialized', 'the database holds no ledger');
  if (version > MIGRATIONS.length) {
    throw new Refusal('invalid', 'the store was written by a newer version of countersign');
  }
  if (version < MIGRATIONS.length) {
    const next = 'let the owner of the database migrate it';
    throw new Refusal('invalid', 'the store has an older schema', { next });
  }
  if (ledgerId === undefined || !PATTERNS.ledgerId.test(ledgerId)) {
    throw new Fault('corrupt', 'the store names no ledger');
  }
  return ledgerId;
}

/** What an `init` that was stopped in the middle may have left: one of these ledgers, with so many events at most. */
export interface Leftover {
  readonly ledgerIds: readonly string[];
  readonly eventsMax: number;
  /** Called once the database is reached: from then on something may stand in it. */
  reached?(): void;
}

/**
 * Brings a database to the present schema; with `newLedgerId`, makes a ledger in one that holds none, or one of those
 * that the caller began and left. Answers the ledger's id. Refuses `not_initialized`, `already_initialized`, `invalid`,
 * `forbidden`, `busy` while what was left may still be used; faults `store`.
 */
export async function migratePostgres(url: string, newLedgerId?: string, left?: Leftover): Promise<string> {
  if (newLedgerId !== undefined) assert(PATTERNS.ledgerId.test(newLedgerId), 'the id of a ledger is 32 hex digits');
  let connection: Connection | undefined;
  try {
    connection = await connectWithin(url, LIMITS.connectMsMax, () => false);
    left?.reached?.();
    await connection.script('BEGIN');
    await migrate(connection, newLedgerId, left);
    await connection.script('COMMIT');
    return await ledgerIdOf(connection);
  } catch (error) {
    throw forbiddenError(error) ?? serverError('the store could not be migrated', error);
  } finally {
    await connection?.end();
  }
}

/** Makes a ledger in a database that holds none, in the transaction that a connection is in. */
export function makeLedger(connection: Connection, ledgerId: string): Promise<void> {
  return migrate(connection, ledgerId);
}

/** What the server's refusal of a user's rights is told as; undefined for another error. */
export function forbiddenError(error: unknown): Refusal | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === '42501')) return undefined;
  return new Refusal('forbidden', 'this user may not change the schema', { next: 'connect as the owner' });
}

async function migrate(connection: Connection, newLedgerId: string | undefined, left?: Leftover): Promise<void> {
  await connection.script(MIGRATION_LOCK);
  const meta = await readMeta(connection);
  const isLeft = newLedgerId !== undefined && (await isLeftover(connection, meta, left));
  if (isLeft) await connection.script('DROP SCHEMA countersign CASCADE');
  const version = isLeft ? 0 : meta.version;
  if (version > MIGRATIONS.length) {
    throw new Refusal('invalid', 'the store was written by a newer version of countersign');
  }
  if (version === 0 && newLedgerId === undefined) {
    throw new Refusal('not_initialized', 'the database holds no ledger');
  }
  if (version > 0 && newLedgerId !== undefined) {
    const next = 'name another database, or use this one from the home that it was made for';
    throw new Refusal('already_initialized', 'there is a ledger in this database already', { next });
  }
  if (version === 0) await connection.script('CREATE SCHEMA countersign');
  for (const statements of MIGRATIONS.slice(version)) await connection.script(statements);
  for (const role of [GATE_ROLE, READER_ROLE]) await connection.script(roleStatement(role));
  await connection.script(GRANTS);
  const put = `INSERT INTO countersign.meta (name, value) VALUES ($1, $2)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  await connection.ask({ name: 'put', text: put }, ['schema_version', String(MIGRATIONS.length)]);
  if (newLedgerId !== undefined) await connection.ask({ name: 'put', text: put }, ['ledger_id', newLedgerId]);
}

/**
 * Whether a schema is one that the caller began and left, and in which nothing happened since. No gate begins in it
 * meanwhile: it waits for its lease. Refuses `busy` while somebody has it open.
 * INVARIANT: no ledger that anything happened in is ever taken away (app.init.interrupted).
 */
async function isLeftover(connection: Connection, meta: Meta, left: Leftover | undefined): Promise<boolean> {
  if (left === undefined || meta.ledgerId === undefined || !left.ledgerIds.includes(meta.ledgerId)) return false;
  if (meta.version > MIGRATIONS.length || meta.isMoved) return false;
  await connection.script('LOCK TABLE countersign.leases, countersign.events IN SHARE MODE');
  const text = `SELECT EXISTS (SELECT FROM countersign.events OFFSET $1),
    EXISTS (SELECT FROM countersign.leases WHERE until > clock_timestamp())`;
  const [row] = await connection.ask({ name: 'used', text }, [left.eventsMax]);
  const [isUsed, isOpen] = row as unknown as [boolean, boolean];
  if (isUsed || !isOpen) return !isUsed;
  const next = `try again in ${LIMITS.leaseMs / 1_000} s: what was stopped may still be at work`;
  throw new Refusal('busy', 'another `init` makes this ledger, or was stopped a moment ago', { next });
}

/** Roles belong to the whole server: another database's migration may make one at the same time. */
function roleStatement(role: string): string {
  return `DO $$ BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '${role}') THEN CREATE ROLE ${role} NOLOGIN; END IF;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`;
}
