/** The project's own files, for tests that look at them. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Paths below a folder of the project, relative to its root, sorted. */
export function filesBelow(folder: string, accept: (path: string) => boolean): readonly string[] {
  const found: string[] = [];
  const walk = (at: string) => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      const path = join(at, entry.name);
      if (entry.name === 'node_modules') continue;
      if (entry.isDirectory()) walk(path);
      else if (accept(path)) found.push(relative(ROOT, path));
    }
  };
  walk(join(ROOT, folder));
  return found.sort();
}

export function readProjectFile(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
