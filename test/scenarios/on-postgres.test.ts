/**
 * The scenarios on which most hangs, on PostgreSQL: who launches, how often, and what the thread says of it; and
 * whether a gate is alone, which the leases tell there. All others follow in the long run.
 */
import { it } from 'node:test';
import { passesOnPostgres } from '../support/run-on-postgres.js';
import { verifies } from '../support/verifies.js';

const PATHS = [
  ...['people-away', 'races', 'thread'].map((name) => `test/scenarios/${name}.test.ts`),
  'test/faults/connector.test.ts',
];

for (const path of PATHS) {
  it(`${path} passes on PostgreSQL`, async () => {
    verifies('postgres.scenarios');
    await passesOnPostgres(path);
  });
}
