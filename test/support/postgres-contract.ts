/** The store on PostgreSQL as the contract of a ledger opens it: a database of its own for each test. */
import { migratePostgres } from '../../src/ledger/postgres/migrate.js';
import { PostgresLedger } from '../../src/ledger/postgres/postgres-ledger.js';
import type { OpenLedger } from '../contracts/ledger.js';
import { LEDGER_ID } from './ledger-world.js';
import { testDatabase } from './postgres.js';
import { damageDatabase } from './postgres-damage.js';

export const openOnPostgres: OpenLedger = async (options) => {
  const { url, drop } = await testDatabase();
  await migratePostgres(url, LEDGER_ID);
  const ledgers: PostgresLedger[] = [];
  const opened = async () => {
    const ledger = await PostgresLedger.open({ ...options, url, time: () => options.clock.now() });
    ledgers.push(ledger);
    return ledger;
  };
  const ledger = await opened();
  const close = () => Promise.all(ledgers.map((one) => one.close())).then(drop);
  return { ledger, another: opened, ...damageDatabase(url), close };
};
