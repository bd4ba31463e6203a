/**
 * From a fresh clone to the main job on a real repository: installs what is missing, builds, runs the demonstration.
 */
import { spawnSync } from 'node:child_process';

for (const command of [
  ['node', 'scripts/ensure-installed.mjs'],
  ['npm', 'run', '--silent', 'build'],
  ['node', 'dist/bin/main.js', 'demo', ...process.argv.slice(2)],
]) {
  const [program, ...words] = command;
  const { status } = spawnSync(program, words, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
