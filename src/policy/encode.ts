/**
 * The one way by which arguments come into Cedar: by the shape of their operation, and by nothing that stands in them.
 * Pure.
 *
 * A null is dropped; a fraction is a decimal, or, where it is none with four places, its text, which no comparison of
 * numbers takes; a name that begins with `__`, with which Cedar's own JSON escapes into entities and functions, and a
 * value of another type than its shape, are refused. What has no shape stays outside.
 * INVARIANT: no value of an argument becomes an entity or a function (policy.encode.closed).
 * Source: spec authority (policy: the encoder), reliability T32.
 */
import { isJsonObject, type Json, type JsonObject } from '../core/index.js';
import type { RecordShape, Shape } from './shape.js';

/** A value as Cedar reads it. */
export type CedarValue =
  | string
  | number
  | boolean
  | readonly CedarValue[]
  | { readonly [name: string]: CedarValue }
  | { readonly __extn: { readonly fn: 'decimal'; readonly arg: string } };

export interface EncodedArgs {
  readonly value: Readonly<Record<string, CedarValue>>;
  /** Whether some argument could not be put in. */
  readonly isPartial: boolean;
}

/** Undefined for arguments that must not be judged. */
export function encodeArgs(shape: RecordShape, args: JsonObject): EncodedArgs | undefined {
  const value = encodeRecord(shape, args);
  return value === undefined ? undefined : { value, isPartial: leavesOut(shape, args) };
}

function encode(shape: Shape, value: Json): CedarValue | undefined {
  switch (shape.type) {
    case 'text':
      return typeof value === 'string' ? value : undefined;
    case 'truth':
      return typeof value === 'boolean' ? value : undefined;
    case 'whole':
      return typeof value === 'number' && Number.isSafeInteger(value) ? value + 0 : undefined;
    case 'number':
      return typeof value === 'number' ? encodeNumber(value) : undefined;
    case 'list':
      return Array.isArray(value) ? encodeList(shape.of, value) : undefined;
    case 'record':
      return isJsonObject(value) ? encodeRecord(shape, value) : undefined;
  }
}

/** The places and the range of Cedar's decimal. */
const DECIMAL = /^-?[0-9]{1,15}(\.[0-9]{1,4})?$/;
const DECIMAL_MAX = 922_337_203_685_477;

function encodeNumber(value: number): CedarValue {
  const text = String(value);
  if (!DECIMAL.test(text) || Math.abs(value) >= DECIMAL_MAX) return text;
  return { __extn: { fn: 'decimal', arg: text.includes('.') ? text : `${text}.0` } };
}

function encodeList(of: Shape, values: readonly Json[]): CedarValue | undefined {
  const encoded: CedarValue[] = [];
  for (const value of values) {
    if (value === null) continue;
    const one = encode(of, value);
    if (one === undefined) return undefined;
    encoded.push(one);
  }
  return encoded;
}

function encodeRecord(shape: RecordShape, args: JsonObject): { readonly [name: string]: CedarValue } | undefined {
  const encoded: Record<string, CedarValue> = {};
  for (const [name, value] of Object.entries(args)) {
    if (name.startsWith('__')) return undefined;
    const member = Object.hasOwn(shape.members, name) ? shape.members[name] : undefined;
    if (value === null || member === undefined) continue;
    const one = encode(member.shape, value);
    if (one === undefined) return undefined;
    encoded[name] = one;
  }
  return encoded;
}

/** Whether a given argument, at any depth that has a shape, stays outside. */
function leavesOut(shape: Shape, value: Json): boolean {
  if (shape.type === 'list') return Array.isArray(value) && value.some((one) => leavesOut(shape.of, one));
  if (shape.type !== 'record' || !isJsonObject(value)) return false;
  return Object.entries(value).some(([name, one]) => {
    if (one === null) return false;
    const member = Object.hasOwn(shape.members, name) ? shape.members[name] : undefined;
    return member === undefined || leavesOut(member.shape, one);
  });
}
