/**
 * Holds the PostgreSQL server of a test run: prints its URL, and stops it when whoever started this process is gone or
 * closes the pipe. Started by `scripts/test.mjs`, or by a test that runs by itself.
 */
import { PostgresServer } from './postgres-server.js';

async function main(): Promise<void> {
  const server = new PostgresServer();
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    void server.remove().finally(() => process.exit(0));
  };
  // A terminal sends its signals to everybody; the pipe tells when the run is over.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  process.stdin.on('end', stop).on('error', stop).resume();
  await server.start();
  process.stdout.write(`${server.url('postgres')}\n`);
}

void main();
