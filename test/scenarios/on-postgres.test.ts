/**
 * The scenarios on which most hangs, on PostgreSQL: who launches, how often, and what the thread says of it. All others
 * follow in the long run.
 */
import { it } from 'node:test';
import { passesOnPostgres } from '../support/run-on-postgres.js';
import { verifies } from '../support/verifies.js';

for (const path of ['test/scenarios/races.test.ts', 'test/scenarios/thread.test.ts', 'test/faults/connector.test.ts']) {
  it(`${path} passes on PostgreSQL`, async () => {
    verifies('postgres.scenarios');
    await passesOnPostgres(path);
  });
}
