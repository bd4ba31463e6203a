#!/usr/bin/env node
/**
 * The command line. It loads no more than its command needs: `--version` answers before anything else is read.
 */
import { VERSION } from './version.js';

if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runProgram } = await import('./program.js');
  process.exitCode = await runProgram(process.argv.slice(2));
}
