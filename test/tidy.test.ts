/**
 * The walls and the habits of the house, as a test: who imports whom, what is pure, how long a file is.
 */
import assert from 'node:assert/strict';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { filesBelow, readProjectFile } from './support/files.js';
import { verifies } from './support/verifies.js';

/** Folder → folders it may import. The map in ARCHITECTURE.md shows the same. */
const WALLS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  ledger: ['core'],
  identity: ['core', 'ledger'],
  policy: ['core', 'ledger'],
  approvals: ['core', 'ledger', 'identity', 'policy'],
  messages: ['core', 'ledger', 'identity'],
  connectors: ['core'],
  actions: ['core', 'ledger', 'identity', 'policy', 'approvals', 'messages', 'connectors'],
  packages: ['core', 'ledger', 'approvals'],
  notifications: ['core', 'ledger', 'connectors'],
  app: [
    ...['core', 'ledger', 'identity', 'policy', 'approvals', 'messages', 'connectors', 'actions', 'packages'],
    'notifications',
  ],
  api: ['core'],
  server: ['core', 'api', 'app'],
  client: ['core', 'api'],
  cli: ['core', 'app', 'server', 'client'],
  console: ['api'],
};

/** Beside a folder's index: what the package does not export, for our own command line and notifications. */
const INTERNAL: Readonly<Record<string, string>> = {
  cli: 'src/app/internal.js',
  server: 'src/app/internal.js',
  notifications: 'src/connectors/internal.js',
};

/** About 300, as the style says. */
const LINES_MAX = 320;
const COLUMNS_MAX = 120;

const SOURCES = filesBelow('src', (path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'));
const ALL = ['src', 'test', 'bench', 'scripts'].flatMap((folder) =>
  filesBelow(folder, (path) => /\.(m?ts|tsx)$/.test(path)),
);

function importsOf(text: string): readonly string[] {
  const found = text.matchAll(/(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+'([^']+)'|import\(\s*'([^']+)'\s*\)/g);
  return [...found].map((match) => (match[1] ?? match[2]) as string);
}

test('a folder imports only what the table allows, and only its index', () => {
  verifies('house.walls');
  for (const path of SOURCES) {
    const [, folder = ''] = path.split('/');
    assert.ok(WALLS[folder] !== undefined, `${path}: the folder is not in the table`);
    for (const specifier of importsOf(readProjectFile(path))) {
      if (!specifier.startsWith('.')) continue;
      const target = normalize(join(dirname(path), specifier));
      const [, other = ''] = target.split('/');
      if (other === folder) continue;
      assert.ok(WALLS[folder]?.includes(other), `${path} may not import from ${other}`);
      if (target === INTERNAL[folder]) continue;
      assert.equal(target, `src/${other}/index.js`, `${path} reaches into ${other}`);
    }
  }
});

test('pure files use no node module, clock, chance or environment', () => {
  verifies('house.pure');
  const pure = SOURCES.filter(
    (path) =>
      (path.startsWith('src/core/') && !path.startsWith('src/core/crypto/')) ||
      path.startsWith('src/api/') ||
      /\/(schema|fields|machine|manifest|prompt|tools|correction|render|content|money|rules|summary|act-schema|canonical|validate|plan|route|notice)\.ts$/.test(
        path,
      ),
  );
  assert.ok(pure.length > 20);
  for (const path of pure) {
    const code = withoutComments(readProjectFile(path));
    assert.ok(!/from 'node:/.test(code), `${path} imports a node module`);
    assert.ok(!/\b(new Date|Date\.|Math\.random|performance\.|process\.)/.test(code), `${path} is not pure`);
  }
  for (const path of SOURCES) {
    if (!readProjectFile(path).includes("from 'node:crypto'")) continue;
    const allowed = path.startsWith('src/core/crypto/') || path === 'src/app/random.ts';
    assert.ok(allowed, `${path} imports node:crypto`);
  }
  for (const path of SOURCES) {
    if (!/process\.env/.test(readProjectFile(path))) continue;
    assert.ok(path === 'src/app/config.ts', `${path} reads the environment`);
  }
});

test('files and lines have bounds, and every file says what it is', () => {
  verifies('house.sizes');
  verifies('house.prose-head');
  for (const path of SOURCES) {
    const text = readProjectFile(path);
    const lines = text.trimEnd().split('\n');
    assert.ok(lines.length <= LINES_MAX, `${path} has ${lines.length} lines`);
    const first = lines[0] === '#!/usr/bin/env node' ? lines[1] : lines[0];
    assert.ok(first?.startsWith('/**'), `${path} does not begin with what it is`);
    for (const [index, line] of lines.entries()) {
      assert.ok(line.length <= COLUMNS_MAX, `${path}:${index + 1} has ${line.length} columns`);
    }
  }
});

/** Where a file is read by its path: by the one reader, of a git repository, and of this package itself. */
const READERS = ['connectors/plain-file.ts', 'connectors/git-local/', 'app/templates.ts', 'server/pages.ts'];

test('files are read by one reader, which never waits and has a limit', () => {
  verifies('house.one-reader');
  for (const path of SOURCES.filter((one) => !READERS.some((allowed) => one.startsWith(`src/${allowed}`)))) {
    const code = withoutComments(readProjectFile(path));
    assert.ok(!/\b(readFile|readFileSync|readSync|createReadStream)\b/.test(code), `${path} reads files by itself`);
  }
});

test('nothing is left behind', () => {
  verifies('house.no-loose-ends');
  for (const path of ALL) {
    if (path === 'test/tidy.test.ts') continue;
    const text = readProjectFile(path);
    assert.ok(!/\b(TODO|FIXME|XXX)\b/.test(text), `${path} has a marker`);
    assert.ok(!/\b(test|it|describe)\.(only|skip)\(/.test(text), `${path} has a skipped or exclusive test`);
    assert.ok(!/@ts-(ignore|expect-error|nocheck)/.test(text), `${path} silences a type error`);
  }
  for (const path of SOURCES) {
    if (path.startsWith('src/core/json/')) continue;
    assert.ok(!/\bJSON\.parse\(/.test(withoutComments(readProjectFile(path))), `${path} uses JSON.parse`);
  }
});

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '');
}
