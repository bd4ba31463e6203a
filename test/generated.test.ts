/** Generated pages are what their generator makes now. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatedPages } from '../scripts/pages.js';
import { readProjectFile } from './support/files.js';
import { verifies } from './support/verifies.js';

test('generated pages are what their generator makes now', async () => {
  verifies('house.generated');
  for (const [path, text] of Object.entries(await generatedPages())) {
    assert.equal(readProjectFile(path), text, `${path}: run npm run generate`);
  }
});
