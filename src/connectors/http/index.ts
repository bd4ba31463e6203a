/**
 * `http`: calls endpoints that the operator declared. The agent gives arguments and nothing else: no address, no
 * header, no method.
 *
 * It promises: only the open network is called, unless an endpoint says otherwise; nothing is redirected or repeated;
 * the action's id is the `Idempotency-Key` of every attempt; an answer counts as certain where the operator's table
 * says so, and a call that never was sent certainly had no effect; a secret stands in no summary, evidence or error.
 * Source: spec actions (connectors: http), reliability T25, T28.
 */
import { assert, canonicalize, contentRef, isActionId, type Json, Refusal } from '../../core/index.js';
import type { Call, Connector, Dedupe, Facts, Operation, Outcome, Problem, SummaryLine } from '../connector.js';
import { lazyDigest, mayBegin, parseArgs } from '../operation.js';
import { outcomeOf } from './answer.js';
import type { Resolve } from './connection.js';
import { argsOf, lineNameOf } from './fields.js';
import { HTTP_LIMITS } from './limits.js';
import { type Asked, ask } from './request.js';
import { type Endpoint, hasBody, type httpConfig, namesIn, type Table } from './schema.js';

export { httpConfig } from './schema.js';

export interface HttpOptions {
  readonly config: ReturnType<(typeof httpConfig)['parse']>;
  /** Wall time in milliseconds since the epoch. */
  readonly now?: () => number;
  /** Part of every operation's digest. */
  readonly codeVersion?: string;
  /** How names are resolved; by the system unless given. Whatever it answers is looked at. */
  readonly resolve?: Resolve;
  /** Certificates of authorities in PEM, instead of those that Node trusts. */
  readonly authorities?: string;
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
    check: async (secret) => (secret === undefined ? [] : missingSecrets(endpoints, secret)),
  };
}

/** What the headers of endpoints stand on and this process does not find. */
async function missingSecrets(
  endpoints: Readonly<Record<string, Endpoint>>,
  secret: Call['secret'],
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const [endpoint, { secret_headers }] of Object.entries(endpoints)) {
    for (const name of new Set(Object.values(secret_headers).map((header) => header.secret))) {
      const value = await secret(name).catch(() => undefined);
      if (value !== undefined && isFit(value)) continue;
      const what = value === undefined ? `there is no secret \`${name}\`` : `the secret \`${name}\` fits no header`;
      const next = `let \`${name}\` of \`secrets\` name a variable or file that this process finds`;
      problems.push({ found: `endpoint \`${endpoint}\`: ${what}`, next });
    }
  }
  return problems;
}

/** Whether a value can stand in a header, and is long enough to be found again where it must not stand. */
function isFit(value: string): boolean {
  const { secretCharsMin, secretCharsMax } = HTTP_LIMITS;
  return value.length >= secretCharsMin && value.length <= secretCharsMax && /^[\x21-\x7e]+$/.test(value);
}

type Args = Readonly<Record<string, Json>>;

function endpointOperation(name: string, endpoint: Endpoint, options: HttpOptions): Operation {
  const { now = Date.now, codeVersion = '1' } = options;
  const schema = schemaOf(endpoint);
  const read = (args: Args) => parseArgs(schema, args) as Args;
  // INVARIANT: another address, table or secret is another operation (connectors.http.digest).
  const pinned = `${codeVersion} ${contentRef(canonicalize(endpoint as unknown as Json))}`;
  const digest = lazyDigest({ connector: CONNECTOR, codeVersion: pinned, operation: name, args: schema });
  const { reconcile } = endpoint;
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
    prepare: async (call) => {
      if ((await secretsOf(endpoint, call)) !== undefined) return {};
      throw new Refusal('invalid', 'a secret of the endpoint is not configured, or is none for a header', {
        path: 'secrets',
      });
    },
    execute: async (call) => {
      if (!schema.safeParse(call.args).success || !isActionId(call.idempotencyKey)) return failed('invalid');
      if (!mayBegin(call, now())) return failed('too_late');
      const timeoutMs = Math.min(endpoint.timeout, call.deadline - now());
      const args = read(call.args);
      const { method, path } = endpoint;
      const body = bodyOf(endpoint, args);
      return send(endpoint, call, options, endpoint.outcomes, {
        ...{ method, url: urlOf(endpoint.base, path, args, call.actionId), body, timeoutMs },
        headers: {
          'idempotency-key': call.idempotencyKey,
          ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }),
        },
        mayBegin: () => mayBegin(call, now()),
      });
    },
    ...(reconcile === undefined
      ? {}
      : { reconcile: (call) => whatBecame(endpoint, reconcile, call, read(call.args), options) }),
  };
}

function schemaOf({ path, reconcile, args, facts }: Endpoint) {
  const paths = [path, reconcile?.path ?? ''].map((one) => one.split('?'));
  return argsOf(args, {
    inSegment: new Set(paths.flatMap(([place = '']) => namesIn(place))),
    inQuery: new Set(paths.flatMap(([, query = '']) => namesIn(query))),
    currency: facts.currency,
  });
}

function failed(code: string): Outcome {
  return { result: 'failed', code };
}

type Request = Pick<Asked, 'method' | 'url' | 'headers' | 'body' | 'timeoutMs' | 'mayBegin'>;

async function send(endpoint: Endpoint, call: Call, options: HttpOptions, table: Table, request: Request) {
  const secrets = await secretsOf(endpoint, call);
  if (secrets === undefined) return failed('no_secret');
  const secretHeaders = Object.entries(endpoint.secret_headers).map(([name, { secret, prefix }]) => {
    return [name, `${prefix}${secrets.get(secret) ?? ''}`] as const;
  });
  const { resolve, authorities } = options;
  const answered = await ask({
    ...request,
    headers: {
      ...{ accept: 'application/json', 'user-agent': 'countersign', ...endpoint.headers },
      ...Object.fromEntries(secretHeaders),
      ...{ 'accept-encoding': 'identity', ...request.headers },
    },
    ...{ privateNetwork: endpoint.private_network, signal: call.signal },
    ...(resolve === undefined ? {} : { resolve }),
    ...(authorities === undefined ? {} : { authorities }),
  });
  return outcomeOf(answered, { ...table, keepAnswer: endpoint.keep_answer, secrets: [...secrets.values()] });
}

/** The secrets of the headers by their names; undefined where one is missing or can stand in no header. */
async function secretsOf({ secret_headers }: Endpoint, call: Call): Promise<ReadonlyMap<string, string> | undefined> {
  const secrets = new Map<string, string>();
  for (const { secret } of Object.values(secret_headers)) {
    const value = await call.secret(secret);
    if (value === undefined || !isFit(value)) return undefined;
    secrets.set(secret, value);
  }
  return secrets;
}

/** Asks once; undefined where that tells nothing. Without a key: this is another request than the call. */
async function whatBecame(
  endpoint: Endpoint,
  reconcile: NonNullable<Endpoint['reconcile']>,
  call: Call,
  args: Args,
  options: HttpOptions,
): Promise<Outcome | undefined> {
  const url = urlOf(endpoint.base, reconcile.path, args, call.actionId);
  const timeoutMs = Math.min(endpoint.timeout, HTTP_LIMITS.reconcileMsMax);
  let isSent = false;
  const outcome = await send(endpoint, call, options, reconcile, {
    ...{ method: 'GET', url, body: undefined, timeoutMs, headers: {} },
    mayBegin: () => {
      isSent = !call.signal.aborted;
      return isSent;
    },
  });
  // Where nobody was asked, `failed` is said of the question, not of the call.
  return isSent && outcome.result !== 'unknown' ? outcome : undefined;
}

export function dedupeOf({ dedupe }: Pick<Endpoint, 'dedupe'>): Dedupe {
  if (dedupe === undefined) return 'none';
  const { window, compares_body, caches_errors } = dedupe;
  return { windowMs: window, comparesBody: compares_body, cachesErrors: caches_errors };
}

/** A call without a target of its own is about the address that it calls: a rule about a target never misses it. */
function factsOf({ base, path, facts }: Endpoint, args: Args): Facts {
  const [value, unit] = [args[facts.amount ?? ''], args[facts.currency ?? '']];
  const target = facts.target === undefined ? urlOf(base, path, args, 'action_id').href : String(args[facts.target]);
  return {
    target,
    ...(typeof value === 'number' && typeof unit === 'string' ? { amount: { amount: value, currency: unit } } : {}),
  };
}

function linesOf(endpoint: Endpoint, args: Args, { actionId }: Call): readonly SummaryLine[] {
  const { method, base, path, headers, secret_headers } = endpoint;
  const line = (name: string, value: string): SummaryLine => ({ name, value });
  const body = bodyOf(endpoint, args);
  const named = Object.entries(secret_headers).map(([name, { secret, prefix }]) => [name, `${prefix}<${secret}>`]);
  return [
    line('request', `${method} ${urlOf(base, path, args, actionId).href}`),
    ...Object.entries(args).map(([name, value]) =>
      line(lineNameOf(name), typeof value === 'string' ? value : canonicalize(value)),
    ),
    ...(body === undefined ? [] : [line('body', body)]),
    ...(Object.keys(headers).length === 0 ? [] : [line('headers', canonicalize(headers))]),
    ...(named.length === 0 ? [] : [line('secret headers', canonicalize(Object.fromEntries(named) as Json))]),
  ];
}

/** INVARIANT: an argument fills its place in the address, and never leaves it (connectors.http.path). */
function urlOf(base: string, template: string, args: Args, actionId: string): URL {
  const filled = template.replaceAll(/\{([A-Za-z][A-Za-z0-9_]*)\}/g, (_whole, name: string) => {
    const value = name === 'action_id' ? actionId : String(args[name]);
    return encodeURIComponent(value).replaceAll("'", '%27');
  });
  const url = new URL(base);
  const [place = '', query] = filled.split('?');
  url.pathname = place;
  if (query !== undefined) url.search = query;
  assert(`${url.pathname}${url.search}` === filled && url.origin === base, 'an address is read as it was filled');
  return url;
}

function bodyOf({ method, path, body, args: fields }: Endpoint, args: Args): string | undefined {
  if (!hasBody(method)) return undefined;
  const names = body ?? Object.keys(fields).filter((name) => !namesIn(path).includes(name));
  const members = names.flatMap((name) => (args[name] === undefined ? [] : [[name, args[name]] as const]));
  return canonicalize(Object.fromEntries(members) as Json);
}
