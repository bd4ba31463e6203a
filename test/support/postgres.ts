/**
 * The PostgreSQL server that the tests of one run share. `scripts/test.mjs` starts it and names it in the environment; a
 * test file that runs by itself starts one of its own, which ends with the process.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freshDatabase } from './postgres-server.js';

let started: Promise<string> | undefined;

/** The URL of the server of this run. */
export function testServerUrl(): Promise<string> {
  started ??= process.env.COUNTERSIGN_TEST_POSTGRES ? Promise.resolve(process.env.COUNTERSIGN_TEST_POSTGRES) : start();
  return started;
}

function start(): Promise<string> {
  const path = fileURLToPath(new URL('./postgres-child.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', path], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  child.unref();
  const lines = createInterface({ input: child.stdout });
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('the PostgreSQL server of the tests did not start')));
    lines.once('line', (url) => {
      lines.close();
      for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref(): void }).unref();
      resolve(url);
    });
  });
}

/** An empty database of its own for a test. */
export async function testDatabase(): Promise<{ readonly url: string; drop(): Promise<void> }> {
  return freshDatabase(await testServerUrl());
}
