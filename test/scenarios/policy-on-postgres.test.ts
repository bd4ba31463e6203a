/** Bounds of policy on PostgreSQL: the same scenarios, where other connections write the same records. */
import { it } from 'node:test';
import { passesOnPostgres } from '../support/run-on-postgres.js';
import { verifies } from '../support/verifies.js';

it('the bounds of policy hold on PostgreSQL', async () => {
  verifies('policy.budget.postgres');
  await passesOnPostgres('test/scenarios/policy-budget.test.ts');
});
