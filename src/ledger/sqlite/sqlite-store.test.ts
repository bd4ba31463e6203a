import { ledgerContract } from '../../../test/contracts/ledger.js';
import { anyRandom, LEDGER_ID, TEST_KINDS } from '../../../test/support/ledger-world.js';
import { damageFile, freshFile } from '../../../test/support/sqlite-file.js';
import { LocalLedger } from '../local-ledger.js';
import { SqliteStore } from './sqlite-store.js';

ledgerContract(
  'a ledger in SQLite',
  async (options) => {
    const { path, remove } = freshFile();
    const ledgers: LocalLedger[] = [];
    const opened = (store: SqliteStore) => {
      const ledger = new LocalLedger({ ...options, store, random: anyRandom });
      ledgers.push(ledger);
      return ledger;
    };
    const ledger = opened(new SqliteStore(path, LEDGER_ID));
    const another = async () => opened(new SqliteStore(path));
    const close = () => Promise.all(ledgers.map((one) => one.close())).then(remove);
    return { ledger, another, ...damageFile(path), close };
  },
  TEST_KINDS,
);
