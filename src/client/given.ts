/**
 * What a program hands to the client, read once: options of a client, and a call as it will be sent. Refuses `invalid`,
 * with the name of what can not be sent; nothing that a value throws leaves.
 */
import { fillPath, ROUTES, type Route, takesKey } from '../api/index.js';
import { LIMITS, plainCopy, Refusal } from '../core/index.js';

export interface ClientOptions {
  /** The public address of the server: https, or http on this machine. */
  readonly url: string;
  readonly token: string;
  /** How long an answer may take, in milliseconds; 60 s when absent. A call that runs longer than that is not ended. */
  readonly timeoutMs?: number;
}

/** A call, ready to be sent. */
export interface Sent {
  readonly route: Route;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal | undefined;
}

const TIMEOUT_MS = 60_000;

export function readOptions(given: unknown): { readonly origin: string; readonly token: string; timeoutMs: number } {
  const { url, token, timeoutMs = TIMEOUT_MS } = membersOf(given, 'the options of a client are an object');
  const origin = originOf(url);
  if (typeof token !== 'string' || !/^[!-~]{1,512}$/.test(token)) {
    throw new Refusal('invalid', 'a token is a text without spaces', { path: 'token' });
  }
  if (!Number.isSafeInteger(timeoutMs) || Number(timeoutMs) < 1 || Number(timeoutMs) > LIMITS.waitMsMax) {
    throw new Refusal('invalid', 'an answer may take 1 millisecond to a day', { path: 'timeoutMs' });
  }
  return { origin, token, timeoutMs: Number(timeoutMs) };
}

/** INVARIANT: no token goes over a network in plain (client.plain). */
function originOf(text: unknown): string {
  let url: URL | undefined;
  try {
    url = typeof text === 'string' ? new URL(text) : undefined;
  } catch {
    // Told below.
  }
  const isOwn = url !== undefined && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isOwn)) return url.origin;
  throw new Refusal('invalid', 'the address of a server is a URL: https, or http on this machine', { path: 'url' });
}

export function readCall(name: unknown, input: unknown, origin: string): Sent {
  const route: Route | undefined =
    typeof name === 'string' && Object.hasOwn(ROUTES, name) ? ROUTES[name as keyof typeof ROUTES] : undefined;
  if (route === undefined || name === 'events' || name === 'metrics') {
    throw new Refusal('invalid', 'there is no such call', { path: 'name' });
  }
  const { signal, ...rest } = membersOf(input ?? (input === undefined ? {} : null), 'a call takes an object');
  const { query = {}, body = {}, idempotencyKey, ...params } = plainCopy(rest);
  const url = new URL(fillPath(route.path, readParams(route, params)), origin);
  for (const [key, value] of readQuery(query)) url.searchParams.set(key, value);
  const isPost = route.method === 'POST';
  return {
    route,
    url,
    headers: { ...(isPost ? { 'content-type': 'application/json' } : {}), ...readKey(route, idempotencyKey) },
    body: isPost ? textOf(body) : undefined,
    signal: readSignal(signal),
  };
}

/** Undefined where there is none. */
export function readSignal(signal: unknown): AbortSignal | undefined {
  try {
    if (signal === undefined || signal instanceof AbortSignal) return signal;
  } catch {
    // Told below.
  }
  throw new Refusal('invalid', 'a call is ended by an AbortSignal', { path: 'signal' });
}

/** The members of an object, each read once. */
function membersOf(given: unknown, words: string): Readonly<Record<string, unknown>> {
  try {
    if (typeof given === 'object' && given !== null) return { ...given };
  } catch {
    // Told below.
  }
  throw new Refusal('invalid', words);
}

function readParams(route: Route, given: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const params: Record<string, string> = {};
  for (const [, name = ''] of route.path.matchAll(/\{([a-z_]+)\}/g)) {
    const value = given[name];
    // An address leaves dots alone out: it would be another path.
    if (typeof value !== 'string' || value === '' || value === '.' || value === '..') {
      throw new Refusal('invalid', `\`${name}\` names nothing`, { path: name });
    }
    params[name] = value;
  }
  return params;
}

function readQuery(query: unknown): readonly (readonly [string, string])[] {
  const isObject = typeof query === 'object' && query !== null;
  const given = isObject ? Object.entries(query).filter(([, value]) => value !== undefined) : undefined;
  if (given?.every(([, value]) => typeof value !== 'object')) return given.map(([key, value]) => [key, String(value)]);
  throw new Refusal('invalid', 'a query holds texts', { path: 'query' });
}

function readKey(route: Route, key: unknown): { readonly 'idempotency-key'?: string } {
  if (key === undefined) return {};
  const path = 'idempotencyKey';
  if (!takesKey(route)) throw new Refusal('invalid', 'this takes no idempotency key', { path });
  if (typeof key === 'string' && /^[!-~]{1,255}$/.test(key)) return { 'idempotency-key': key };
  throw new Refusal('invalid', 'an idempotency key is a text of 1 to 255 characters without spaces', { path });
}

/** JSON would take what it has no form for as something else. Refuses `invalid` for that. */
export function textOf(body: unknown): string {
  return JSON.stringify(body, (_key, value: unknown) => {
    const isSame = (typeof value !== 'number' || Number.isFinite(value)) && !(value instanceof Uint8Array);
    if (isSame) return value;
    throw new Refusal('invalid', 'the body holds what JSON has no form for', { path: 'body' });
  });
}
