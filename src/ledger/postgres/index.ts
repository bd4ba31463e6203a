/** The PostgreSQL store, loaded when a home names one. */
export { migratePostgres } from './migrate.js';
export { PostgresLedger, type PostgresLedgerOptions } from './postgres-ledger.js';
