import { ledgerContract } from '../../../test/contracts/ledger.js';
import { TEST_KINDS } from '../../../test/support/ledger-world.js';
import { openOnPostgres } from '../../../test/support/postgres-contract.js';

/** Each run of the model makes a database: the long suite runs it as often as on the other stores. */
const MODEL_RUNS = 12;

ledgerContract('a ledger on PostgreSQL', openOnPostgres, TEST_KINDS, MODEL_RUNS);
