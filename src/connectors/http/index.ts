/**
 * `http`: calls endpoints that the operator declared. The agent gives arguments and nothing else: no address, no header,
 * no method.
 *
 * It promises: only the open network is called, unless an endpoint says otherwise; nothing is redirected or repeated; the
 * action's id is the `Idempotency-Key` of every attempt; an answer counts as certain where the operator's table says so,
 * and a call that never connected certainly had no effect; a secret stands in no summary, no evidence and no error.
 * Source: spec actions (connectors: http), reliability T25, T28.
 */
import type { LookupFunction } from 'node:net';
import { canonicalize, contentRef, type Json, Refusal, readJson } from '../../core/index.js';
import type { Call, Connector, Dedupe, Facts, Operation, Outcome } from '../connector.js';
import { lazyDigest, mayBegin, parseArgs } from '../operation.js';
import { type Answered, ask } from './request.js';
import { argsOf, type Endpoint, type httpConfig, namesIn } from './schema.js';

export { httpConfig } from './schema.js';

export interface HttpOptions {
  readonly config: ReturnType<(typeof httpConfig)['parse']>;
  /** Wall time in milliseconds since the epoch. */
  readonly now?: () => number;
  /** Part of every operation's digest. */
  readonly codeVersion?: string;
  /** How names are resolved, for tests. */
  readonly lookup?: LookupFunction;
}

const CONNECTOR = 'http';

export function httpConnector(options: HttpOptions): Connector {
  const { endpoints } = options.config;
  const operations = new Map(
    Object.entries(endpoints).map(([name, endpoint]) => [name, endpointOperation(name, endpoint, options)]),
  );
  return {
    name: CONNECTOR,
    operations: [...operations.keys()],
    operation: async (name) => operations.get(name),
  };
}

type Args = Readonly<Record<string, Json>>;

function endpointOperation(name: string, endpoint: Endpoint, options: HttpOptions): Operation {
  const { now = Date.now, codeVersion = '1', lookup } = options;
  const schema = argsOf(endpoint);
  const read = (args: Args) => parseArgs(schema, args) as Args;
  // What is called is part of what was approved: another address, table or secret is another operation.
  const pinned = `${codeVersion} ${contentRef(canonicalize(endpoint as unknown as Json))}`;
  const digest = lazyDigest({ connector: CONNECTOR, codeVersion: pinned, operation: name, args: schema });
  const send = async (call: Call, method: string, path: string, body: string | undefined): Promise<Answered> => {
    const headers = await headersOf(endpoint, call);
    const url = urlOf(endpoint.base, path, read(call.args), call);
    const { private_network: privateNetwork } = endpoint;
    const resolving = lookup === undefined ? {} : { lookup };
    return ask({ method, url, headers, body, privateNetwork, signal: call.signal, ...resolving });
  };
  return {
    get digest() {
      return digest();
    },
    args: schema,
    timeoutMs: endpoint.timeout,
    dedupe: dedupeOf(endpoint),
    classify: () => endpoint.class,
    facts: (args) => factsOf(endpoint, read(args)),
    summary: (call) => linesOf(endpoint, read(call.args), call),
    execute: async (call) => {
      if (!mayBegin(call, now())) return { result: 'failed', code: 'too_late' };
      const answer = await send(call, endpoint.method, endpoint.path, bodyOf(endpoint, read(call.args)));
      return outcomeOf(answer, endpoint.outcomes);
    },
    ...(endpoint.reconcile === undefined ? {} : { reconcile: reconcileBy(endpoint.reconcile, send) }),
  };
}

function reconcileBy(
  { path, confirmed, failed }: NonNullable<Endpoint['reconcile']>,
  send: (call: Call, method: string, path: string, body: undefined) => Promise<Answered>,
) {
  return async (call: Call): Promise<Outcome | undefined> => {
    const answer = await send(call, 'GET', path, undefined);
    if (answer.is !== 'answered') return undefined;
    const outcome = outcomeOf(answer, { confirmed, failed });
    return outcome.result === 'unknown' ? undefined : outcome;
  };
}

function dedupeOf({ dedupe }: Endpoint): Dedupe {
  if (dedupe === undefined) return 'none';
  const { window, compares_body, caches_errors } = dedupe;
  return { windowMs: window, comparesBody: compares_body, cachesErrors: caches_errors };
}

function factsOf({ facts }: Endpoint, args: Args): Facts {
  const { target, amount, currency } = facts;
  const [value, unit] = [args[amount ?? ''], args[currency ?? '']];
  return {
    ...(target === undefined ? {} : { target: String(args[target]) }),
    ...(typeof value === 'number' && typeof unit === 'string' ? { amount: { amount: value, currency: unit } } : {}),
  };
}

function linesOf(endpoint: Endpoint, args: Args, call: Call) {
  const line = (name: string, value: string) => ({ name, value });
  const body = bodyOf(endpoint, args);
  return [
    line('request', `${endpoint.method} ${urlOf(endpoint.base, endpoint.path, args, call).href}`),
    ...Object.entries(endpoint.headers).map(([name, value]) => line('header', `${name}: ${value}`)),
    ...Object.entries(endpoint.secret_headers).map(([name, { secret }]) => line('secret header', `${name}: ${secret}`)),
    ...(body === undefined ? [] : [line('body', body)]),
  ];
}

/** INVARIANT: an argument fills its place in the path, and never leaves it (connectors.http.path). */
function urlOf(base: string, template: string, args: Args, { actionId }: Pick<Call, 'actionId'>): URL {
  const filled = template.replaceAll(/\{([A-Za-z][A-Za-z0-9_]*)\}/g, (_whole, name: string) => {
    const value = name === 'action_id' ? actionId : String(args[name] ?? '');
    if (value === '' || value === '.' || value === '..') {
      throw new Refusal('invalid', 'an argument can not stand in the path', { path: `args.${name}` });
    }
    return encodeURIComponent(value);
  });
  return new URL(filled, base);
}

function bodyOf({ method, path, body, args: fields }: Endpoint, args: Args): string | undefined {
  if (method === 'GET' || method === 'DELETE') return undefined;
  const names = body ?? Object.keys(fields).filter((name) => !namesIn(path).includes(name));
  const members = names.flatMap((name) => (args[name] === undefined ? [] : [[name, args[name] as Json] as const]));
  return canonicalize(Object.fromEntries(members) as Json);
}

async function headersOf(endpoint: Endpoint, call: Call): Promise<Readonly<Record<string, string>>> {
  const headers: Record<string, string> = {
    accept: 'application/json',
    ...endpoint.headers,
    'idempotency-key': call.idempotencyKey,
  };
  for (const [name, { secret, prefix }] of Object.entries(endpoint.secret_headers)) {
    const value = await call.secret(secret);
    if (value === undefined || !/^[\x21-\x7e]{1,8192}$/.test(value)) {
      throw new Refusal('invalid', 'a secret of the endpoint is not configured, or is no header', { path: 'secrets' });
    }
    headers[name] = `${prefix}${value}`;
  }
  return headers;
}

function outcomeOf(answer: Answered, { confirmed, failed }: Endpoint['outcomes']): Outcome {
  if (answer.is === 'never_sent') return { result: 'failed', code: answer.code };
  if (answer.is === 'no_answer') return { result: 'unknown', code: 'no_answer' };
  const { status, type, text, cut } = answer;
  const code = `http_${status}`;
  const evidence = { status, ...(cut ? { cut: true } : {}), answer: saidOf(type, text) };
  if (confirmed.includes(status)) return { result: 'confirmed', code, evidence };
  return { result: failed.includes(status) ? 'failed' : 'unknown', code, evidence };
}

/** What the other side said: JSON as such, anything else as text. */
function saidOf(type: string, text: string): Json {
  if (/[/+]json\b/i.test(type)) {
    const read = readJson(text);
    if (read.ok) return read.value;
  }
  return text.replaceAll(/[\uD800-\uDFFF]/gu, '\uFFFD');
}
