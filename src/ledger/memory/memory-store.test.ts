import { ledgerContract } from '../../../test/contracts/ledger.js';
import { DamagedStore } from '../../../test/support/damaged-store.js';
import { anyRandom, LEDGER_ID, TEST_KINDS } from '../../../test/support/ledger-world.js';
import { LocalLedger } from '../local-ledger.js';
import { MemoryStore } from './memory-store.js';

ledgerContract(
  'a ledger in memory',
  async (options) => {
    const store = new DamagedStore(new MemoryStore(LEDGER_ID));
    const ledgers = [0, 1].map(() => new LocalLedger({ ...options, store, random: anyRandom }));
    const [ledger, second] = ledgers as [LocalLedger, LocalLedger];
    const close = () => Promise.all(ledgers.map((opened) => opened.close())).then(() => undefined);
    return { ledger, another: async () => second, ...store.damages(), close };
  },
  TEST_KINDS,
);
