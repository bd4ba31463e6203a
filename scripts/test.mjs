/**
 * Runs the tests: every `*.test.ts`, or with words behind it those whose path contains one of them. The long suites
 * (`*.long.test.ts`) run with `--long` alone.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const words = process.argv.slice(2);
const isLong = words.includes('--long');
const wanted = words.filter((word) => word !== '--long');

function* testsIn(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* testsIn(path);
    else if (entry.name.endsWith('.test.ts') && entry.name.endsWith('.long.test.ts') === isLong) yield path;
  }
}

const files = ['src', 'test']
  .flatMap((folder) => [...testsIn(folder)])
  .filter((path) => wanted.length === 0 || wanted.some((word) => path.includes(word)))
  .sort();
if (files.length === 0) {
  console.error('no test has such a name');
  process.exit(1);
}
const options = ['--import', 'tsx', '--test', '--test-concurrency=2', '--test-reporter=spec'];
const { status } = spawnSync(process.execPath, [...options, ...files], { stdio: 'inherit' });
process.exit(status ?? 1);
