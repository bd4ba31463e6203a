/** Packages on PostgreSQL: the same scenarios at the gate, where other connections write the same records. */
import { it } from 'node:test';
import { passesOnPostgres } from '../support/run-on-postgres.js';
import { verifies } from '../support/verifies.js';

it('packages live, are confirmed and released on PostgreSQL', async () => {
  verifies('packages.postgres');
  await passesOnPostgres('test/scenarios/package-gate.test.ts');
});
