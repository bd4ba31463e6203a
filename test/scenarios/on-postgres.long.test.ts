/** Every scenario and fault of the gate that is not about the file of the embedded store, on PostgreSQL. */
import { it } from 'node:test';
import { passesOnPostgres } from '../support/run-on-postgres.js';
import { verifies } from '../support/verifies.js';

const NAMES = [
  'acts',
  'between',
  'configuration',
  'fail-closed',
  'inbox',
  'model',
  'passkeys',
  'people',
  'proposals',
  'tool',
];

for (const path of [...NAMES.map((name) => `test/scenarios/${name}.test.ts`), 'test/faults/pause.test.ts']) {
  it(`${path} passes on PostgreSQL`, async () => {
    verifies('postgres.scenarios');
    await passesOnPostgres(path);
  });
}
