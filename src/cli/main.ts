#!/usr/bin/env node
/**
 * The command line. It loads no more than its command needs: `--version` answers before anything else is read.
 */
import { VERSION } from './version.js';

const FAULT = 70;

let isLost = false;

/**
 * Nobody may be left to read: what was done stays done, and the exit code says what it was. Whoever reads and gets
 * nothing, because a disk is full, is told so; an exit code that says more than that all was well stays.
 */
function onLost(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE' || isLost) return;
  isLost = true;
  process.stderr.write('fault [store]: the output could not be written\n  next: look what was done\n');
  process.on('exit', (code) => {
    if (code === 0) process.exitCode = FAULT;
  });
}
for (const stream of [process.stdout, process.stderr]) stream.on('error', onLost);

if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runProgram } = await import('./program.js');
  process.exitCode = await runProgram(process.argv.slice(2));
}
