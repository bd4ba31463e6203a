/**
 * Listens: on both loopback addresses where the public one is `localhost`, so that no other program of the machine can
 * stand in on one of them.
 * Source: spec doors (HTTP API: public_url).
 */
import { createServer, type Server } from 'node:http';
import { getRequestListener, RequestError } from '@hono/node-server';
import { PROBLEM_TYPE, problemOf } from '../api/index.js';
import type { CountersignGate, Log } from '../app/index.js';
import { beforeRing, Fault, Refusal } from '../core/index.js';
import { HEADERS, ServerApp } from './app.js';
import type { Auditor } from './audit-desk.js';
import { oursOf } from './door.js';
import { Upkeep } from './upkeep.js';

export interface ServeOptions {
  /** `http://localhost:8787` when absent. Behind a proxy: the address that the proxy answers, with `listen`. */
  readonly publicUrl?: string;
  /** Addresses to listen on, instead of those of the public one. */
  readonly listen?: readonly { readonly host: string; readonly port: number }[];
  readonly version: string;
  readonly log?: Log;
  readonly audit?: Auditor;
  /** How often what is overdue is ended, in milliseconds; 15 seconds when absent. */
  readonly upkeepMs?: number;
}

export interface Serving {
  readonly publicUrl: string;
  /** Where it listens, as `host:port`. */
  readonly addresses: readonly string[];
  /** Takes no more requests, waits for those that are being answered, and answers no more. */
  close(): Promise<void>;
}

const UPKEEP_MS = 15_000;

const DEFAULT_PUBLIC_URL = 'http://localhost:8787';

/** How long requests that are being answered may take at the end. Launches that do not settle are left to recover. */
const DRAIN_MS = 10_000;
/** How long clients have to take their last answers. */
const FLUSH_MS = 1_000;

/**
 * Refuses `invalid` for an address that can't be served, `busy` for one that another program has, `forbidden` for one
 * that this user may not have.
 */
export async function serve(owner: CountersignGate, options: ServeOptions): Promise<Serving> {
  const asked = options.publicUrl ?? DEFAULT_PUBLIC_URL;
  const url = publicUrlOf(asked);
  const places = options.listen ?? placesOf(url);
  const bound: Server[] = [];
  const log = options.log === undefined ? {} : { log: options.log };
  const audit = options.audit === undefined ? {} : { audit: options.audit };
  let origin = url.origin;
  let app: ServerApp | undefined;
  const upkeep = new Upkeep(owner, options.upkeepMs ?? UPKEEP_MS, options.log);
  try {
    for (const place of places) {
      // A port that the system chose first is the one of all.
      const port = place.port === 0 && bound.length > 0 ? portOf(bound[0] as Server) : place.port;
      const server = await listenOn({ ...place, port }, (request, env) => fetchOf(app, request, env), options.log);
      bound.push(server);
      if (url.port === '0' || place.port === 0) origin = `${url.protocol}//${url.hostname}:${portOf(server)}`;
    }
    app = new ServerApp(owner, { publicUrl: origin, version: options.version, ...log, ...audit });
    owner.notify({ publicUrl: origin });
    owner.desk.serve();
    upkeep.start();
  } catch (error) {
    for (const server of bound) server.close();
    throw error;
  }
  const serving = app;
  return {
    publicUrl: origin,
    addresses: bound.map((server) => addressOf(server)),
    async close() {
      const closed = bound.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
      await upkeep.close();
      await serving.drain(DRAIN_MS);
      for (const server of bound) server.closeIdleConnections();
      // What was answered is on its way; a client that does not take it is left after a while.
      await beforeRing(owner.services.timer(FLUSH_MS), Promise.all(closed));
      for (const server of bound) server.closeAllConnections();
      await Promise.all(closed);
    },
  };
}

function fetchOf(app: ServerApp | undefined, request: Request, env: object): Response | Promise<Response> {
  return app === undefined ? new Response(null, { status: 503 }) : app.hono.fetch(request, env);
}

/** Refuses `invalid` for what is no address of a server of its own. */
function publicUrlOf(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new Refusal('invalid', 'the public address is a URL, such as http://localhost:8787', { path: 'public_url' });
  }
  const isLoopback = url.hostname === 'localhost';
  const isPlain = url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  // Passkeys belong to a name, and cookies of a plain connection can be read on the way.
  if (isPlain && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback))) return url;
  throw new Refusal('invalid', 'the public address is https, or http on localhost, without a path', {
    path: 'public_url',
  });
}

/** INVARIANT: both loopback families are ours, or nothing is served (server.loopback). */
function placesOf(url: URL): readonly { readonly host: string; readonly port: number }[] {
  if (url.protocol === 'https:') {
    throw new Refusal('invalid', 'behind a proxy, say where to listen', { path: 'listen', next: 'use --listen' });
  }
  const port = url.port === '' ? 80 : Number(url.port);
  return [
    { host: '127.0.0.1', port },
    { host: '::1', port },
  ];
}

function listenOn(
  { host, port }: { readonly host: string; readonly port: number },
  fetch: (request: Request, env: object) => Response | Promise<Response>,
  log: Log | undefined,
): Promise<Server> {
  return new Promise((resolve, reject) => {
    const errorHandler = (error: unknown) => answerOf(error, log);
    const server = createServer(getRequestListener(fetch as never, { hostname: host, errorHandler }));
    server.listen(port, host, () => resolve(server));
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = `${host.includes(':') ? `[${host}]` : host}:${port}`;
      reject(placeRefusal(error.code ?? '', where) ?? new Fault('internal', 'the server could not listen', error));
    });
    server.requestTimeout = 30_000;
    server.headersTimeout = 10_000;
  });
}

/** What of the machine keeps a place from being listened on; undefined where it is something else. */
function placeRefusal(code: string, where: string): Refusal | undefined {
  const refused = (why: 'busy' | 'forbidden' | 'invalid', words: string, next: string) =>
    new Refusal(why, `${where} ${words}`, { path: 'listen', next });
  switch (code) {
    case 'EADDRINUSE':
      return refused('busy', 'is taken', 'end the program that has it, or use another port');
    case 'EACCES':
    case 'EPERM':
      return refused(
        'forbidden',
        'may not be listened on by this user',
        'use a port above 1023, or let a proxy have it',
      );
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EAI_AGAIN':
    case 'EINVAL':
    case 'ENOTFOUND':
      return refused('invalid', 'is no address of this machine', 'name one of its own, such as 127.0.0.1:8787');
    default:
      return undefined;
  }
}

/** An answer for what never became a request: a target or a host that is none. */
function answerOf(error: unknown, log: Log | undefined): Response {
  const refused = new Refusal('invalid', 'the target or the host of the request is not well-formed', { path: 'host' });
  const problem = problemOf(oursOf(error instanceof RequestError ? refused : error, log));
  const headers = { ...HEADERS, 'Content-Type': PROBLEM_TYPE };
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function addressOf(server: Server): string {
  const address = server.address();
  if (typeof address !== 'object' || address === null) return 'unknown';
  return address.family === 'IPv6' ? `[${address.address}]:${address.port}` : `${address.address}:${address.port}`;
}
