/** Notifications on PostgreSQL: the same scenarios, with the outbox and its lease in the database. */
import { it } from 'node:test';
import { passesOnPostgres } from '../support/run-on-postgres.js';
import { verifies } from '../support/verifies.js';

it('people and programs are told by gates that share a database', async () => {
  verifies('notifications.postgres');
  await passesOnPostgres('test/scenarios/notifications.test.ts');
});
