/** Runs a test file again with every world of it on PostgreSQL. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { testServerUrl } from './postgres.js';

/** Demands that all tests of the file pass there, and that there were some. */
export async function passesOnPostgres(path: string): Promise<void> {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const env = {
    ...environment,
    COUNTERSIGN_TEST_STORE: 'postgres',
    COUNTERSIGN_TEST_POSTGRES: await testServerUrl(),
  };
  // Worlds in memory need not be closed, and those that stand for them here keep their connections.
  const options = ['--import', 'tsx', '--test', '--test-force-exit', '--test-reporter=spec', path];
  const child = spawn(process.execPath, options, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (bytes) => {
    output += bytes;
  });
  const [status] = await once(child, 'close');
  assert.equal(status, 0, output);
  assert.match(output, /pass [1-9]/);
}
