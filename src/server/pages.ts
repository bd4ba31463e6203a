/**
 * The pages of the console, as files of this package that are held in memory: a path is looked up among them, and no
 * path of a request ever reaches the disk.
 *
 * It promises that a page runs nothing but the scripts of this package, asks nothing of another host, and is shown in
 * no frame; it refuses everything but GET, and scripts that would stay in a browser as service workers.
 * Source: spec doors (HTTP API, console).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { isPage } from '../api/index.js';
import { Fault, Refusal } from '../core/index.js';

interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly packed: Uint8Array<ArrayBuffer>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** INVARIANT: a page loads, asks and runs nothing of anybody else, and nothing inline (console.csp). */
export const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy':
    'publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), geolocation=(), microphone=()',
} as const;

/** Where the build puts the console, from the sources as from the built package. */
const FOLDER = fileURLToPath(new URL('../../dist/console', import.meta.url));

export class Pages {
  readonly #files: ReadonlyMap<string, PageFile>;

  constructor(files: ReadonlyMap<string, PageFile>) {
    this.#files = files;
  }

  /** The answer to a path of the console; undefined for a path of the API. Refuses what pages are not asked for. */
  answer(request: Request, path: string): Response | undefined {
    const isAsset = path.startsWith('/assets/') || path === '/icon.svg';
    if (!isAsset && !isPage(path)) return undefined;
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw new Refusal('invalid', 'pages are read, by GET or HEAD', { path: 'method' });
    // INVARIANT: nothing of ours stays in a browser and answers in our place (console.no-service-worker).
    if (request.headers.has('service-worker')) throw new Refusal('forbidden', 'this server has no service worker');
    const file = this.#files.get(isAsset ? path : '/index.html');
    if (file === undefined) throw new Refusal('not_found', 'there is no such page');
    const isPacked = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '');
    return new Response(isPacked ? file.packed : file.bytes, {
      headers: {
        'Content-Type': file.type,
        // The name of an asset holds its hash.
        'Cache-Control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
        Vary: 'Accept-Encoding',
        ...(isPacked ? { 'Content-Encoding': 'gzip' } : {}),
        ...PAGE_HEADERS,
      },
    });
  }
}

/** Reads the console of this package; without one, as in sources that were not built, there are no pages. */
export function readPages(folder: string = FOLDER): Pages {
  const files = new Map<string, PageFile>();
  try {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const type = TYPES[extname(entry.name)];
      if (!entry.isFile() || type === undefined) continue;
      const path = join(entry.parentPath, entry.name);
      const bytes = new Uint8Array(readFileSync(path));
      const packed = new Uint8Array(gzipSync(bytes, { level: 9 }));
      files.set(`/${relative(folder, path).replaceAll(sep, '/')}`, { type, bytes, packed });
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new Fault('internal', 'the pages are damaged', error);
  }
  return new Pages(files);
}
