/** The PostgreSQL store, loaded when a home names one. */
export { type HeldLedger, withHeldLedger } from './exporter.js';
export { importLedger, inspectLedger } from './importer.js';
export { type Leftover, migratePostgres } from './migrate.js';
export { PostgresLedger, type PostgresLedgerOptions } from './postgres-ledger.js';
export type { SeenLedger } from './seen-ledger.js';
