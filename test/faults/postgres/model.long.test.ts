/** The model of a ledger beside PostgreSQL, as often as beside the other stores. */
import { modelContract } from '../../contracts/ledger-model.js';
import { TEST_KINDS } from '../../support/ledger-world.js';
import { openOnPostgres } from '../../support/postgres-contract.js';

modelContract(openOnPostgres, TEST_KINDS, 60);
