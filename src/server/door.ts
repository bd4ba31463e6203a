/**
 * The door of the server: who asks, what they sent, and an answer for everything that goes wrong. A request is admitted
 * once, in this order: host, route, credentials, query, body; nothing behind it reads raw bytes.
 * Source: spec doors (HTTP API), authority (agents).
 */
import type { Context } from 'hono';
import * as z from 'zod';
import { matchPath, PROBLEM_TYPE, problemOf, ROUTES, type Route, type RouteName, takesKey } from '../api/index.js';
import type { CountersignGate, Gate, Log } from '../app/index.js';
import type { PeopleDoor } from '../app/internal.js';
import {
  defectClause,
  defectIn,
  Fault,
  isOurs,
  JSON_REASONS,
  type Json,
  LIMITS,
  Refusal,
  readJson,
} from '../core/index.js';

/** A route that a request fits, with its parameters. */
export interface Found {
  readonly name: RouteName;
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Refuses `not_found` for a path of no route, `invalid` for another method of one. What is read may also be asked for
 * its head alone; a stream has none.
 */
export function findRoute(asked: string, path: string): Found {
  const method = asked === 'HEAD' && path !== ROUTES.events.path ? 'GET' : asked;
  let isKnown = false;
  for (const [name, route] of Object.entries(ROUTES) as [RouteName, Route][]) {
    const raw = matchPath(route.path, path);
    if (raw === undefined) continue;
    isKnown = true;
    if (route.method === method) return { name, route, params: decoded(raw) };
  }
  if (isKnown) throw new Refusal('invalid', 'this path is asked in another way', { path: 'method' });
  throw new Refusal('not_found', 'there is no such path');
}

function decoded(raw: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  try {
    return Object.fromEntries(Object.entries(raw).map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch {
    throw new Refusal('invalid', 'the path is not well-formed', { path: 'path' });
  }
}

/**
 * INVARIANT: nothing but health answers without credentials, and a name in a request is never one
 * (server.authenticated).
 */
export async function gateFor(
  owner: CountersignGate,
  people: PeopleDoor,
  route: Route,
  headers: Headers,
  isSecure: boolean,
): Promise<Gate> {
  if (route.audience === 'public') return owner;
  const header = headers.get('authorization');
  if (header !== null) {
    const token = /^Bearer ([!-~]{1,512})$/i.exec(header)?.[1];
    if (token === undefined) throw new Refusal('unauthenticated', 'show a token: `Authorization: Bearer …`');
    const gate = await owner.visitor(token);
    if (route.audience === 'known') return gate;
    throw new Refusal('forbidden', 'this is for people who are signed in');
  }
  const session = sessionIn(headers.get('cookie'), isSecure);
  if (session === undefined) throw new Refusal('unauthenticated', 'show a token, or sign in');
  demandOwnPage(route, headers);
  return people.visitor(session);
}

/** By what a caller's places are counted: the id of a token, the name of a person. */
export function whoAsks({ caller }: Gate, route: Route, headers: Headers): string {
  if (route.audience === 'public') return 'anybody';
  if (caller.session === true) return caller.principal;
  return /tok_[0-9A-Z]{26}/.exec(headers.get('authorization') ?? '')?.[0] ?? caller.principal;
}

/** The key under which something is asked for once. Refuses `invalid` where there is no such thing. */
export function keyOf(route: Route, headers: Headers): string | undefined {
  const key = headers.get('idempotency-key') ?? undefined;
  if (key === undefined) return undefined;
  if (takesKey(route)) {
    if (/^[!-~]{1,255}$/.test(key)) return key;
    const path = 'idempotency-key';
    throw new Refusal('invalid', 'an idempotency key has 1 to 255 characters, and no spaces', { path });
  }
  throw new Refusal('invalid', 'this takes no idempotency key', { path: 'idempotency-key' });
}

/** INVARIANT: a page of somebody else makes nobody's browser act here (server.session.own-page). */
export function demandOwnPage({ method }: Route, headers: Headers): void {
  if (method === 'GET' || headers.get('sec-fetch-site') === 'same-origin') return;
  throw new Refusal('forbidden', 'this was not sent by a page of this server');
}

const COOKIE = 'countersign-session';

/** The name binds a cookie to https where there is one; localhost has none. */
function cookieName(isSecure: boolean): string {
  return isSecure ? `__Host-${COOKIE}` : COOKIE;
}

export function cookieOf(session: string | undefined, isSecure: boolean, seconds: number): string {
  const rest = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return `${cookieName(isSecure)}=${session ?? ''}; Max-Age=${session === undefined ? 0 : seconds}; ${rest}`;
}

/** INVARIANT: behind https no other cookie counts than the one that is bound to it (server.session.own-page). */
function sessionIn(header: string | null, isSecure: boolean): string | undefined {
  if (header === null || header.length > 8_192) return undefined;
  const found = header.split(';').map((part) => part.trim().split('='));
  const named = found.filter(([name]) => name === cookieName(isSecure));
  // Two of them: one was put there by somebody else.
  return named.length === 1 ? named[0]?.slice(1).join('=') || undefined : undefined;
}

export function queryOf(route: Route, url: URL): Readonly<Record<string, string | undefined>> {
  const given: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    if (Object.hasOwn(given, name)) throw new Refusal('invalid', 'a parameter stands there twice', { path: 'query' });
    given[name] = value;
  }
  return admitted(route.query ?? z.strictObject({}), given, 'query') as Record<string, string | undefined>;
}

/** The body, strictly read. Refuses `invalid` for one that is too long, no JSON, or not what the route takes. */
export async function bodyFor(route: Route, request: Request): Promise<unknown> {
  if (route.method !== 'POST') return undefined;
  const bytes = await bytesOf(request);
  if (route.isRaw === true) {
    demandJson(request);
    return bytes;
  }
  if (route.body === undefined) {
    if (bytes.length === 0) return undefined;
    const parsed = jsonOf(bytes, request);
    if (typeof parsed === 'object' && parsed !== null && Object.keys(parsed).length === 0) return undefined;
    throw new Refusal('invalid', 'this takes no body', { path: 'body' });
  }
  return admitted(route.body, bytes.length === 0 ? {} : jsonOf(bytes, request), 'body');
}

function demandJson(request: Request): void {
  const type = request.headers.get('content-type') ?? '';
  // A page of somebody else can send a form or plain text without asking; JSON it can't.
  if (!/^application\/json(?:\s*;|$)/i.test(type)) {
    throw new Refusal('invalid', 'the body is JSON: `Content-Type: application/json`', { path: 'content-type' });
  }
}

function jsonOf(bytes: Uint8Array, request: Request): Json {
  demandJson(request);
  const read = readJson(bytes);
  if (read.ok) return read.value;
  const { reason, line, column, path } = read.problem;
  const message = `the body is not well-formed JSON: ${JSON_REASONS[reason]}, at line ${line}, column ${column}`;
  throw new Refusal('invalid', message, { path, details: { reason, line, column } });
}

async function bytesOf(request: Request): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    length += part.length;
    if (length > LIMITS.jsonBytesMax) throw new Refusal('invalid', 'the body is too long', { path: 'body' });
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function admitted(schema: z.ZodType, value: unknown, where: string): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const defect = defectIn(parsed.error.issues, value, { ownWords: true });
  throw new Refusal('invalid', defectClause(defect, [where]), { path: [where, ...defect.path].join('.') });
}

/** What went wrong as an error of ours; a fault is told to the log. */
export function oursOf(error: unknown, log: Log | undefined): Refusal | Fault {
  const ours = isOurs(error) ? error : new Fault('internal', 'the server failed', error);
  try {
    if (ours instanceof Fault) Promise.resolve(log?.write('error', 'a request failed', ours)).catch(() => undefined);
  } catch {
    // A log that fails must not change what is answered.
  }
  return ours;
}

/** The answer to whatever went wrong. The cause of a fault goes to the log, and nowhere else. */
export function problemFor(context: Context, error: unknown, log: Log | undefined): Response {
  const ours = oursOf(error, log);
  const problem = problemOf(ours);
  if (ours.code === 'unauthenticated') context.header('WWW-Authenticate', 'Bearer');
  if (problem.status === 429 || problem.status === 503) context.header('Retry-After', '1');
  return context.body(JSON.stringify(problem), problem.status as never, { 'Content-Type': PROBLEM_TYPE });
}
