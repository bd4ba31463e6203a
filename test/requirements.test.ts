/**
 * The gate test: no promise without a test, no citation without a promise, no code and no failpoint that no test meets.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODES, FAILPOINTS } from '../src/core/index.js';
import { REQUIREMENTS } from './requirements.js';
import { filesBelow, readProjectFile } from './support/files.js';
import { verifies } from './support/verifies.js';

const TESTS = [
  ...filesBelow('src', (path) => path.endsWith('.test.ts')),
  ...filesBelow('test', (path) => path.endsWith('.ts') && !/requirements(\/|\.ts$)/.test(path)),
].map((path) => ({ path, text: readProjectFile(path) }));

function isCited(word: string): boolean {
  return TESTS.some(({ text }) => text.includes(`'${word}'`));
}

test('every promise has a test, and every citation a promise', () => {
  verifies('house.requirements');
  const uncited = Object.keys(REQUIREMENTS).filter((id) => !isCited(id));
  assert.deepEqual(uncited, [], 'promises without a test');
  for (const { path, text } of TESTS) {
    for (const match of text.matchAll(/verifies\('([^']+)'\)/g)) {
      assert.ok(Object.hasOwn(REQUIREMENTS, match[1] as string), `${path} cites ${match[1]}, which is no promise`);
    }
  }
});

test('every code of the catalogue is cited by a test', () => {
  verifies('house.codes');
  const uncited = Object.keys(CODES).filter((code) => !isCited(code));
  assert.deepEqual(uncited, [], 'codes without a test');
});

test('every failpoint is hit by a test', () => {
  verifies('house.failpoints');
  const unhit = FAILPOINTS.filter((name) => !isCited(name));
  assert.deepEqual(unhit, [], 'failpoints without a test');
});
