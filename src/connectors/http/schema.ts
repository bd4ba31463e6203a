/**
 * The configuration of `http`: endpoints that the operator declared, each with its method, its place, its closed
 * headers and arguments, its class, and which answers are certain. Pure.
 * Source: spec actions (connectors: http).
 */
import * as z from 'zod';
import { ACTION_CLASSES, DURATION, PATTERNS, parseDuration } from '../../core/index.js';

/** Headers that belong to the protocol or to the gate. */
const OWN_HEADERS = new Set([
  ...['host', 'content-length', 'content-type', 'transfer-encoding', 'connection', 'upgrade', 'te', 'trailer'],
  ...['idempotency-key', 'expect', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'cookie'],
]);

const HeaderName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/)
  .refine((name) => !OWN_HEADERS.has(name), 'this header is not yours to set');
const HeaderValue = z.string().regex(/^[\x20-\x7e]{0,1024}$/);

const Field = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('string'),
    max: z.int().min(1).max(65_536).default(256),
    one_of: z.array(z.string()).min(1).max(64).optional(),
    optional: z.boolean().default(false),
  }),
  z.strictObject({
    type: z.literal('integer'),
    min: z.int().optional(),
    max: z.int().optional(),
    optional: z.boolean().default(false),
  }),
  z.strictObject({ type: z.literal('boolean'), optional: z.boolean().default(false) }),
]);
type Field = z.infer<typeof Field>;

const FieldName = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/);
const Status = z.int().min(200).max(599);
const Duration = z
  .union([z.string().regex(DURATION), z.int().min(1)])
  .transform((given) => (typeof given === 'number' ? given : (parseDuration(given) ?? 0)));

/** `/segments/{name}` with names of arguments, and perhaps a query. */
const PathTemplate = z
  .string()
  .regex(
    /^\/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|\{[A-Za-z][A-Za-z0-9_]{0,63}\})*(?:\?(?:[A-Za-z0-9._~=&-]|\{[A-Za-z][A-Za-z0-9_]{0,63}\})*)?$/,
  )
  .max(2_048)
  .refine((path) => path.split(/[/?]/).every((part) => part !== '.' && part !== '..'));

const Base = z
  .string()
  .max(2_048)
  .refine((text) => {
    try {
      const url = new URL(text);
      const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
      return isPlain && url.pathname === '/' && (url.protocol === 'https:' || url.protocol === 'http:');
    } catch {
      return false;
    }
  }, 'an address such as https://api.example.com');

export const Endpoint = z
  .strictObject({
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    base: Base,
    path: PathTemplate,
    /** `false`: the open network alone, by https on port 443. `true`: also this machine and its networks, by http too. */
    private_network: z.boolean().default(false),
    headers: z.record(HeaderName, HeaderValue).default({}),
    /** Headers whose value is a secret of the configuration behind a prefix, such as `Bearer `. */
    secret_headers: z
      .record(
        HeaderName,
        z.strictObject({ secret: z.string().regex(PATTERNS.secretName), prefix: HeaderValue.default('') }),
      )
      .default({}),
    args: z.record(FieldName, Field).default({}),
    /** Arguments that stand in the body as JSON; all that are not in the path, unless given. */
    body: z.array(FieldName).max(64).optional(),
    class: z.enum(ACTION_CLASSES),
    facts: z
      .strictObject({ target: FieldName.optional(), amount: FieldName.optional(), currency: FieldName.optional() })
      .default({}),
    timeout: Duration.default(10_000),
    /** How long the other side knows a repeated `Idempotency-Key`; absent where it does not. */
    dedupe: z
      .strictObject({
        window: z.union([z.literal('forever'), Duration]),
        compares_body: z.boolean().default(true),
        caches_errors: z.boolean().default(false),
      })
      .optional(),
    /** Which answers are certain. Every other one is unknown. */
    outcomes: z.strictObject({
      confirmed: z.array(Status).min(1).max(32),
      failed: z.array(Status).max(64).default([]),
    }),
    /** A GET that tells what became of a call. */
    reconcile: z
      .strictObject({
        path: PathTemplate,
        confirmed: z.array(Status).min(1).max(32),
        failed: z.array(Status).max(32).default([]),
      })
      .optional(),
  })
  .refine(({ base, private_network }) => private_network || isOpenBase(base), {
    message: 'https on port 443, or say `private_network: true`',
    path: ['base'],
  })
  .refine(({ args, facts }) => Object.values(facts).every((name) => name === undefined || Object.hasOwn(args, name)), {
    message: 'facts are arguments',
    path: ['facts'],
  })
  .refine(({ facts }) => (facts.amount === undefined) === (facts.currency === undefined), {
    message: 'an amount and its currency come together',
    path: ['facts'],
  })
  .refine(({ args, path, body, reconcile }) => {
    const named = [...namesIn(path), ...namesIn(reconcile?.path ?? ''), ...(body ?? [])];
    return named.every((name) => name === 'action_id' || Object.hasOwn(args, name));
  }, 'a path and a body name arguments');
export type Endpoint = z.infer<typeof Endpoint>;

export const httpConfig = z.strictObject({
  endpoints: z.record(z.string().regex(PATTERNS.operation), Endpoint),
});

function isOpenBase(base: string): boolean {
  const url = new URL(base);
  return url.protocol === 'https:' && url.port === '';
}

/** The names in braces of a template. */
export function namesIn(template: string): readonly string[] {
  return [...template.matchAll(/\{([A-Za-z][A-Za-z0-9_]*)\}/g)].map(([, name]) => name as string);
}

/** The closed schema of an endpoint's arguments. */
export function argsOf({ args }: Pick<Endpoint, 'args'>) {
  return z.strictObject(Object.fromEntries(Object.entries(args).map(([name, field]) => [name, fieldOf(field)])));
}

function fieldOf(field: Field): z.ZodType {
  const type = plainField(field);
  return field.optional ? type.optional() : type;
}

function plainField(field: Field): z.ZodType {
  if (field.type === 'boolean') return z.boolean();
  if (field.type === 'integer') {
    const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = field;
    return z.int().min(min).max(max);
  }
  return field.one_of === undefined ? z.string().max(field.max) : z.enum(field.one_of as [string, ...string[]]);
}
