/**
 * Runs the tests: every `*.test.ts`, or with words behind it those whose path contains one of them. The long suites
 * (`*.long.test.ts`) run with `--long` alone. Tests on PostgreSQL share one server, which is started here and ends with this
 * process, however that ends.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

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

/** Starts the server that the tests share, where one of them asks for it; answers its URL. */
async function startPostgres() {
  if (!files.some((path) => readFileSync(path, 'utf8').includes('postgres'))) return {};
  const holder = spawn(process.execPath, ['--import', 'tsx', 'test/support/postgres-child.ts'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const [url] = await Promise.race([
    once(createInterface({ input: holder.stdout }), 'line'),
    once(holder, 'exit').then(() => [undefined]),
  ]);
  if (url === undefined) throw new Error('the PostgreSQL server of the tests did not start');
  return { COUNTERSIGN_TEST_POSTGRES: url };
}

const env = { ...process.env, ...(await startPostgres()) };
const options = ['--import', 'tsx', '--test', '--test-concurrency=2', '--test-reporter=spec'];
const { status } = spawnSync(process.execPath, [...options, ...files], { stdio: 'inherit', env });
process.exit(status ?? 1);
