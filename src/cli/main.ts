#!/usr/bin/env node
/**
 * The command line. It loads no more than its command needs: `--version` answers before anything else is read.
 */
import { VERSION } from './version.js';

// Nobody may be left to read: what was done stays done, and the exit code says what it was.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runProgram } = await import('./program.js');
  process.exitCode = await runProgram(process.argv.slice(2));
}
