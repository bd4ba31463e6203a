#!/usr/bin/env node
/**
 * The command line. It loads no more than its command needs: `--version` answers before anything else is read.
 */
import { VERSION } from './version.js';

const FAULT = 70;

/**
 * Nobody may be left to read: what was done stays done, and the exit code says what it was. Whoever reads and gets
 * nothing, because a disk is full, is told so.
 */
function onLost(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  if (process.exitCode !== FAULT) process.stderr.write('fault [store]: the output could not be written\n');
  process.exitCode = FAULT;
  process.on('exit', () => {
    process.exitCode = FAULT;
  });
}
for (const stream of [process.stdout, process.stderr]) stream.on('error', onLost);

if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runProgram } = await import('./program.js');
  process.exitCode = await runProgram(process.argv.slice(2));
}
