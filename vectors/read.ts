/**
 * Reads test vectors: our own of this folder, and the public suites where they are at hand.
 * The public ones stand in `VECTORS_DIR`, or beside the repository in `shared/vectors`; they are never copied here.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const PUBLIC = process.env['VECTORS_DIR'] ?? join(HERE, '..', '..', 'shared', 'vectors');

/** A file of vectors with its name. */
export interface VectorFile<T> {
  readonly name: string;
  readonly content: T;
}

/** Every file of one folder of ours, by name. Throws when there is none, so that no test runs on nothing. */
export function ownVectors<T>(folder: string): readonly VectorFile<T>[] {
  const names = readdirSync(join(HERE, folder)).filter((name) => name.endsWith('.json'));
  if (names.length === 0) throw new Error(`no vectors in ${folder}`);
  return names.sort().map((name) => ({ name, content: ownVector<T>(`${folder}/${name}`) }));
}

/** One file of ours. */
export function ownVector<T>(path: string): T {
  return JSON.parse(readFileSync(join(HERE, path), 'utf8')) as T;
}

/** Where a public suite stands, and the word to skip with where it does not. */
export function publicSuite(name: string): { readonly path: string; readonly skip: string | false } {
  const path = join(PUBLIC, name);
  return { path, skip: existsSync(path) ? false : `public vectors \`${name}\` are not here: set VECTORS_DIR` };
}
