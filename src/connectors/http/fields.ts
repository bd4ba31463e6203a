/**
 * The arguments of an endpoint: how the operator declares one, and the closed schema that follows. Pure.
 *
 * It promises: an argument that stands in a path is one segment of it, whatever reads the path.
 * Source: spec actions (connectors: http), reliability T29.
 */
import * as z from 'zod';
import { isWellFormed, PATTERNS } from '../../core/index.js';
import { HTTP_LIMITS } from './limits.js';

/** Short enough for the name of a line, and none that every object has, or that the gate fills in. */
export const FieldName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,27}$/)
  .refine((name) => !(name in {}) && name !== 'action_id', 'an argument can not have this name');

const optional = z.boolean().default(false);
export const Field = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('string'),
    max: z.int().min(1).max(65_536).default(256),
    one_of: z.array(z.string().max(256).refine(isWellFormed)).min(1).max(64).optional(),
    optional,
  }),
  z.strictObject({ type: z.literal('integer'), min: z.int().optional(), max: z.int().optional(), optional }),
  z.strictObject({ type: z.literal('boolean'), optional }),
]);
export type Field = z.infer<typeof Field>;

/** What has a meaning in an address, or could be taken away from it. */
const NOT_IN_A_SEGMENT = /[/\\%?#\p{C}\p{Zl}\p{Zp}]/u;

/**
 * INVARIANT: what stands in a path stays one segment of it, also after it was decoded twice or its characters were
 * made compatible by whoever reads it (connectors.http.path).
 */
export function isSegment(value: string): boolean {
  return [value, value.normalize('NFKC')].every(
    (text) => text !== '' && !NOT_IN_A_SEGMENT.test(text) && !/^\.{1,2}(?:;|$)/.test(text),
  );
}

/** Where an argument stands besides the body. */
export interface Places {
  readonly inSegment: ReadonlySet<string>;
  readonly inQuery: ReadonlySet<string>;
  readonly currency: string | undefined;
}

/** The closed schema of an endpoint's arguments. */
export function argsOf(fields: Readonly<Record<string, Field>>, places: Places) {
  return z.strictObject(
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldOf(name, field, places)])),
  );
}

function fieldOf(name: string, field: Field, { inSegment, inQuery, currency }: Places): z.ZodType {
  const plain = plainField(field);
  const placed = inSegment.has(name)
    ? plain.refine((value) => isShort(value) && isSegment(String(value)), 'it has to be one segment of a path')
    : inQuery.has(name)
      ? plain.refine(isShort, 'it is too long for an address')
      : plain;
  const typed =
    name === currency ? placed.refine((value) => PATTERNS.currency.test(String(value)), 'three capitals') : placed;
  return field.optional ? typed.optional() : typed;
}

function isShort(value: unknown): boolean {
  return String(value).length <= HTTP_LIMITS.pathArgCharsMax;
}

function plainField(field: Field): z.ZodType {
  if (field.type === 'boolean') return z.boolean();
  if (field.type === 'integer') {
    const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = field;
    return z.int().min(min).max(max);
  }
  if (field.one_of !== undefined) return z.enum(field.one_of as [string, ...string[]]);
  return z.string().max(field.max).refine(isWellFormed, 'it is no text');
}

/** The name of an argument's line in a summary. */
export function lineNameOf(name: string): string {
  return `arg ${name.toLowerCase().replaceAll('_', ' ')}`;
}
