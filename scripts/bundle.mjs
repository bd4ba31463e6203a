/**
 * Bundles the command line, so that it starts at once: one small entry, and chunks that load when a command needs them.
 * What is native, or WebAssembly, stays outside.
 */
import { chmodSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const folder = 'dist/bin';
rmSync(folder, { recursive: true, force: true });
await build({
  entryPoints: ['dist/cli/main.js'],
  outdir: folder,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: ['better-sqlite3', '@cedar-policy/cedar-wasm'],
  minifySyntax: true,
  minifyIdentifiers: true,
  minifyWhitespace: true,
  banner: {
    js: "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);",
  },
  logLevel: 'warning',
});
chmodSync(`${folder}/main.js`, 0o755);
