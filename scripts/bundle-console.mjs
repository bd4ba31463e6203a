/**
 * Builds the console: one page, its script and its style, with names that hold their hashes, into `dist/console`.
 * Nothing in it is inline and nothing comes from another host, so that the server can forbid both.
 */
import { fileURLToPath } from 'node:url';
import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { build } from 'vite';

/** A page hashes and signs by its browser's own functions: of the core's primitives, which are Node's, it has none. */
const withoutNodeCrypto = {
  name: 'without-node-crypto',
  enforce: 'pre',
  resolveId: (specifier) => (specifier.endsWith('/crypto/index.js') ? `${root}no-crypto.ts` : null),
};

const root = fileURLToPath(new URL('../src/console/', import.meta.url));
await build({
  configFile: false,
  root,
  publicDir: 'public',
  logLevel: 'warn',
  plugins: [withoutNodeCrypto, react(), tailwind()],
  build: {
    outDir: fileURLToPath(new URL('../dist/console/', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
});
