/**
 * Writes the reference pages that follow from the code: error codes, the command line, the schema of a project's file.
 * `test/generated.test.ts` compares.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { generatedPages } from './pages.js';

mkdirSync('docs/reference', { recursive: true });
for (const [path, text] of Object.entries(await generatedPages())) writeFileSync(path, text);
