/**
 * How a route of the HTTP API is written down: where it is, who may call it, what it takes and answers. Pure.
 * The server, the typed client, the OpenAPI document and the tests of every route are made from these rows.
 * Source: spec doors (HTTP API).
 */
import type * as z from 'zod';

/** Who gets an answer at all: anybody, whoever shows a token or a session, or whoever is signed in. */
export type Audience = 'public' | 'known' | 'person';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** With parameters as `{name}`. */
  readonly path: string;
  readonly audience: Audience;
  /** Where what an `Idempotency-Key` stands for is kept, if not in the memory of the server. */
  readonly key?: 'ledger' | 'none';
  /** One clause: what it does. */
  readonly does: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Whether the body is handed over as it came, to a reader that is stricter than `body` says. */
  readonly isRaw?: true;
  readonly answer: z.ZodType;
}

/** Rows for whoever is known. */
export const get = <const Path extends string, const Rest extends Omit<Route, 'method' | 'path' | 'audience'>>(
  path: Path,
  rest: Rest,
) => ({ method: 'GET', path, audience: 'known', ...rest }) as const;

export const post = <const Path extends string, const Rest extends Omit<Route, 'method' | 'path' | 'audience'>>(
  path: Path,
  rest: Rest,
) => ({ method: 'POST', path, audience: 'known', ...rest }) as const;

/** Whether it takes an `Idempotency-Key`: the same again under it is done once. Others refuse one. */
export function takesKey({ method, audience, key }: Route): boolean {
  return method === 'POST' && audience !== 'public' && key !== 'none';
}

/** What `{name}` of a path stands for. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name | keyof PathParams<Rest>]: string }
  : Readonly<Record<never, string>>;

/** The parameters of a path that fits a route; undefined where it does not. */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const parts = pattern.split('/');
  const segments = path.split('/');
  if (parts.length !== segments.length) return undefined;
  const found: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const segment = segments[at] as string;
    if (part.startsWith('{')) found[part.slice(1, -1)] = segment;
    else if (part !== segment) return undefined;
  }
  return found;
}

/** A route's path with its parameters in place. */
export function fillPath(pattern: string, params: Readonly<Record<string, string>>): string {
  return pattern.replaceAll(/\{([a-z_]+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ''));
}
