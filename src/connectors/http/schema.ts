/**
 * The configuration of `http`: endpoints that the operator declared, each with its method, its place, its closed
 * headers and arguments, its class, and which answers are certain. Pure.
 *
 * It refuses whatever would let an argument, a header or a spelling lead elsewhere than the operator reads there.
 * Source: spec actions (connectors: http), reliability T25.
 */
import * as z from 'zod';
import {
  ACTION_CLASSES,
  DURATION,
  DURATION_WORDS,
  LIMITS,
  PATTERNS,
  parseDuration,
  secretPath,
} from '../../core/index.js';
import { isBase, isOpenBase, isReachableBase } from './address.js';
import { Field, FieldName, isSegment, lineNameOf } from './fields.js';

/** Headers that belong to the protocol or to the gate, or that change what is asked. */
const OWN_HEADERS = new Set([
  ...['host', 'content-length', 'content-type', 'content-encoding', 'transfer-encoding', 'connection', 'upgrade', 'te'],
  ...['trailer', 'idempotency-key', 'expect', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'cookie'],
  ...['accept-encoding', 'range', 'x-http-method', 'x-http-method-override', 'x-method-override', 'http2-settings'],
]);

const HeaderName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'a header is written in small letters')
  .refine((name) => !OWN_HEADERS.has(name), 'this header is not yours to set');
/** No blank at its ends, which a reader would take away. */
const HeaderValue = z.string().regex(/^(?:[\x21-\x7e](?:[\x20-\x7e]{0,1022}[\x21-\x7e])?)?$/);
const Prefix = z.string().regex(/^(?:[\x21-\x7e][\x20-\x7e]{0,63})?$/);

const PlainHeaders = z
  .record(HeaderName, HeaderValue)
  .refine((headers) => !Object.hasOwn(headers, 'authorization') && secretPath(headers) === undefined, {
    message: 'a secret is named under `secret_headers`',
  });

const Status = z.int().min(200).max(599);
export const Duration = z
  .union([z.string().regex(DURATION, DURATION_WORDS), z.int().min(1)])
  .transform((given) => (typeof given === 'number' ? given : (parseDuration(given) ?? 0)));

/** The place of an argument in a template. */
const PLACE = /\{([A-Za-z][A-Za-z0-9_]*)\}/g;

/** `/segments/{name}` with names of arguments, and perhaps a query. */
const PathTemplate = z
  .string()
  .max(2_048)
  .refine((path) => {
    const [place = '', query] = path.replaceAll(PLACE, 'x').split('?');
    if (!/^\/[A-Za-z0-9._~!$&()*+,;=:@/?-]*$/.test(path.replaceAll(PLACE, 'x'))) return false;
    if (!/^[A-Za-z0-9._~=&-]*$/.test(query ?? '') || path.split('?').length > 2) return false;
    if (query === '') return false;
    const inside = place === '/' ? [] : place.slice(1).replace(/\/$/, '').split('/');
    return inside.every(isSegment);
  }, 'a path has no empty segment or query, and no segment of dots');

/** Where a value stands in a JSON answer: `/data/0/id`. */
const Pointer = z.string().regex(/^(?:\/[A-Za-z0-9_.-]{1,64}){1,8}$/);

/** Which answers are certain. Every other one is unknown. */
const Table = z
  .strictObject({
    confirmed: z.array(Status).min(1).max(32),
    failed: z.array(Status).max(64).default([]),
    /** Where the answer names the effect; one without it confirms nothing. */
    reference: Pointer.optional(),
  })
  .refine(({ confirmed, failed }) => !confirmed.some((status) => failed.includes(status)), {
    message: 'an answer is confirmed or failed, not both',
  });
export type Table = z.infer<typeof Table>;

export const Facts = z.strictObject({
  target: FieldName.optional(),
  amount: FieldName.optional(),
  currency: FieldName.optional(),
});

export const DeclaredDedupe = z.strictObject({
  window: z.union([z.literal('forever'), Duration]),
  compares_body: z.boolean().default(true),
  caches_errors: z.boolean().default(false),
});

export const Endpoint = z
  .strictObject({
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    base: z.string().max(2_048).refine(isBase, 'an address as it is spelled out, such as `https://api.example.com`'),
    path: PathTemplate,
    /** `false`: the open network alone, by https. `true`: this machine and its networks too, also by http. */
    private_network: z.boolean().default(false),
    headers: PlainHeaders.default({}),
    /** Headers whose value is a secret of the configuration behind a prefix, such as `Bearer `. */
    secret_headers: z
      .record(HeaderName, z.strictObject({ secret: z.string().regex(PATTERNS.secretName), prefix: Prefix.default('') }))
      .default({}),
    args: z.record(FieldName, Field).default({}),
    /** Arguments that stand in the body as JSON; all that are not in the path, unless given. */
    body: z.array(FieldName).max(64).optional(),
    class: z.enum(ACTION_CLASSES),
    /** Which arguments are the action's target and money. Without a target it is the address that is called. */
    facts: Facts.default({}),
    timeout: Duration.refine((ms) => ms <= LIMITS.callMsMax, 'a call takes a day at most').default(10_000),
    /** How long the other side knows a repeated `Idempotency-Key`; absent where it does not. */
    dedupe: DeclaredDedupe.optional(),
    outcomes: Table,
    /** A GET that tells what became of a call. */
    reconcile: Table.safeExtend({ path: PathTemplate }).optional(),
    /** Whether the other side's answer is kept as evidence, or its status alone. */
    keep_answer: z.boolean().default(true),
  })
  .superRefine((endpoint, context) => {
    for (const [path, message] of mistakesOf(endpoint)) context.addIssue({ code: 'custom', path: [path], message });
  });
export type Endpoint = z.infer<typeof Endpoint>;

export const httpConfig = z.strictObject({
  endpoints: z.record(z.string().regex(PATTERNS.operation), Endpoint),
});

type Parts = Pick<
  Endpoint,
  | 'method'
  | 'base'
  | 'path'
  | 'private_network'
  | 'headers'
  | 'secret_headers'
  | 'args'
  | 'body'
  | 'facts'
  | 'reconcile'
>;

/** What does not fit together: the member, and what it should be. */
function* mistakesOf(endpoint: Parts): Generator<readonly [string, string]> {
  const { method, base, path, private_network, headers, secret_headers, args, body, reconcile } = endpoint;
  if (!isBase(base)) return;
  if (!private_network && !isOpenBase(base)) yield ['base', 'https on its own port, or say `private_network: true`'];
  if (private_network && !isReachableBase(base)) yield ['base', 'this address is never called'];
  if (Object.keys(secret_headers).some((name) => Object.hasOwn(headers, name))) {
    yield ['secret_headers', 'a header is given once'];
  }
  const inPath = [...namesIn(path), ...namesIn(reconcile?.path ?? '')].filter((name) => name !== 'action_id');
  if (inPath.some((name) => args[name]?.optional !== false)) yield ['path', 'a path names required arguments'];
  if (body?.some((name) => !Object.hasOwn(args, name))) yield ['body', 'a body names arguments'];
  const sent = new Set([...namesIn(path), ...(hasBody(method) ? (body ?? Object.keys(args)) : [])]);
  if (Object.keys(args).some((name) => !sent.has(name))) yield ['args', 'an argument stands in the path or the body'];
  const lines = new Set(Object.keys(args).map(lineNameOf));
  if (lines.size < Object.keys(args).length) yield ['args', 'arguments differ by more than the case of their letters'];
  yield* factMistakes(endpoint);
}

export function* factMistakes({ args, facts }: Pick<Parts, 'args' | 'facts'>): Generator<readonly [string, string]> {
  const [target, amount, currency] = [facts.target, facts.amount, facts.currency].map((name) => args[name ?? '']);
  if (facts.target !== undefined && (target?.optional !== false || target.type === 'boolean')) {
    yield ['facts', 'the target is a required argument, a text or an integer'];
  }
  if ((facts.amount === undefined) !== (facts.currency === undefined)) {
    yield ['facts', 'an amount and its currency come together'];
  }
  if (facts.amount !== undefined && (amount?.type !== 'integer' || amount.optional || (amount.min ?? -1) < 0)) {
    yield ['facts', 'the amount is a required integer in minor units with a `min` of 0 or more'];
  }
  if (facts.currency !== undefined && (currency?.type !== 'string' || currency.optional)) {
    yield ['facts', 'the currency is a required text'];
  }
}

/** Whether a call by this method has a body. */
export function hasBody(method: Endpoint['method']): boolean {
  return method !== 'GET' && method !== 'DELETE';
}

/** The names in braces of a template. */
export function namesIn(template: string): readonly string[] {
  return [...template.matchAll(PLACE)].map(([, name]) => name as string);
}
