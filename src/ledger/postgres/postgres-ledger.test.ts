import { ledgerContract } from '../../../test/contracts/ledger.js';
import { LEDGER_ID, TEST_KINDS } from '../../../test/support/ledger-world.js';
import { testDatabase } from '../../../test/support/postgres.js';
import { damageDatabase } from '../../../test/support/postgres-damage.js';
import { migratePostgres } from './migrate.js';
import { PostgresLedger } from './postgres-ledger.js';

ledgerContract(
  'a ledger on PostgreSQL',
  async (options) => {
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
  },
  TEST_KINDS,
);
