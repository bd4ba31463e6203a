/**
 * What types the arguments of an operation have for policy, read from its schema; and the same for Cedar's validator.
 *
 * A part whose type Cedar can't have (a union of unlike types, an object of any keys, a tuple, what refers to itself)
 * has no shape, and no argument of it is put in. The root is always an object: an operation without one puts none in.
 * Source: spec authority (policy: one encoder from the operation's schema).
 */
import { toJSONSchema, type ZodType } from 'zod';
import { LIMITS } from '../core/index.js';

export type Shape =
  | { readonly type: 'text' | 'truth' | 'whole' | 'number' }
  | { readonly type: 'list'; readonly of: Shape }
  | RecordShape;

export interface RecordShape {
  readonly type: 'record';
  readonly members: Readonly<Record<string, Member>>;
  /** Whether some part of the arguments has no shape. */
  readonly isPartial: boolean;
}

export interface Member {
  readonly shape: Shape;
  readonly isOptional: boolean;
}

/** As much of a JSON Schema as is looked at. */
interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly items?: JsonSchema | boolean;
  readonly prefixItems?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
}

const NONE: RecordShape = { type: 'record', members: {}, isPartial: true };
const SHAPES = new WeakMap<ZodType, RecordShape>();

/** The shape of an operation's arguments; without a schema it has no members. */
export function shapeOf(schema: ZodType | undefined): RecordShape {
  if (schema === undefined) return NONE;
  const known = SHAPES.get(schema);
  if (known !== undefined) return known;
  const made = readSchema(schema);
  SHAPES.set(schema, made);
  return made;
}

function readSchema(schema: ZodType): RecordShape {
  try {
    const json = toJSONSchema(schema, { unrepresentable: 'any', io: 'output', cycles: 'ref' }) as JsonSchema;
    const found = shapeIn(json, 0);
    return found?.type === 'record' ? found : NONE;
  } catch {
    // A schema that can't be described has no types that policy could rely on.
    return NONE;
  }
}

function shapeIn(json: JsonSchema | boolean | undefined, depth: number): Shape | undefined {
  if (typeof json !== 'object' || depth > LIMITS.argsTypedDepthMax || json.allOf !== undefined) return undefined;
  const branches = json.anyOf ?? json.oneOf;
  if (branches !== undefined)
    return unionOf(
      branches.filter((branch) => branch.type !== 'null'),
      depth,
    );
  if (json.enum !== undefined || json.const !== undefined)
    return scalarOf((json.enum ?? [json.const]).filter((value) => value !== null));
  switch (plainType(json)) {
    case 'string':
      return { type: 'text' };
    case 'boolean':
      return { type: 'truth' };
    case 'integer':
      return { type: 'whole' };
    case 'number':
      return { type: 'number' };
    case 'array': {
      const of = json.prefixItems === undefined ? shapeIn(json.items, depth + 1) : undefined;
      return of === undefined ? undefined : { type: 'list', of };
    }
    case 'object':
      return recordOf(json, depth);
    default:
      return undefined;
  }
}

/** The one type of a schema beside null; undefined for several. */
function plainType({ type }: JsonSchema): string | undefined {
  if (typeof type !== 'object') return type;
  const [only, ...others] = type.filter((name) => name !== 'null');
  return others.length === 0 ? only : undefined;
}

function scalarOf(values: readonly unknown[]): Shape | undefined {
  if (values.every((value) => typeof value === 'string')) return { type: 'text' };
  if (values.every((value) => typeof value === 'boolean')) return { type: 'truth' };
  return values.every((value) => Number.isSafeInteger(value)) ? { type: 'whole' } : undefined;
}

function recordOf({ properties, required = [], additionalProperties }: JsonSchema, depth: number): Shape | undefined {
  if (properties === undefined) return undefined;
  const members: Record<string, Member> = Object.create(null);
  let isPartial = additionalProperties !== false;
  for (const [name, json] of Object.entries(properties)) {
    const shape = shapeIn(json, depth + 1);
    if (shape === undefined || (shape.type === 'record' && shape.isPartial)) isPartial = true;
    if (shape !== undefined) members[name] = { shape, isOptional: !required.includes(name) || mayBeNull(json) };
  }
  return { type: 'record', members, isPartial };
}

function mayBeNull(json: JsonSchema): boolean {
  if (json.type === 'null' || (Array.isArray(json.type) && json.type.includes('null'))) return true;
  return (json.anyOf ?? json.oneOf ?? []).some(mayBeNull);
}

/** Branches of one type are that type; branches that are objects are one object with every member that is alike. */
function unionOf(branches: readonly JsonSchema[], depth: number): Shape | undefined {
  const shapes = branches.map((branch) => shapeIn(branch, depth + 1));
  const [first] = shapes;
  if (first === undefined || shapes.some((shape) => shape?.type !== first.type)) return undefined;
  if (first.type === 'list') return shapes.every((shape) => isSame(shape, first)) ? first : undefined;
  return first.type === 'record' ? mergedRecords(shapes as readonly RecordShape[]) : first;
}

function mergedRecords(shapes: readonly RecordShape[]): RecordShape {
  const members: Record<string, Member> = Object.create(null);
  let isPartial = shapes.some((shape) => shape.isPartial);
  for (const name of new Set(shapes.flatMap((shape) => Object.keys(shape.members)))) {
    const found = shapes.map((shape) => shape.members[name]);
    const given = found.filter((member) => member !== undefined);
    const shape = given[0]?.shape;
    if (shape !== undefined && given.every((member) => isSame(member.shape, shape))) {
      members[name] = { shape, isOptional: given.length < shapes.length || given.some((one) => one.isOptional) };
    } else {
      isPartial = true;
    }
  }
  return { type: 'record', members, isPartial };
}

function isSame(a: Shape | undefined, b: Shape): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The type of Cedar's schema. */
export function cedarType(shape: Shape): object {
  switch (shape.type) {
    case 'text':
      return { type: 'String' };
    case 'truth':
      return { type: 'Boolean' };
    case 'whole':
      return { type: 'Long' };
    case 'number':
      return { type: 'Extension', name: 'decimal' };
    case 'list':
      return { type: 'Set', element: cedarType(shape.of) };
    case 'record':
      return {
        type: 'Record',
        attributes: Object.fromEntries(
          Object.entries(shape.members).map(([name, { shape: inner, isOptional }]) => [
            name,
            { ...cedarType(inner), required: !isOptional },
          ]),
        ),
      };
  }
}

/** The shape of arguments of which no schema is known: for test cases of operations that are not configured here. */
export function shapeOfValue(value: unknown): Shape | undefined {
  switch (typeof value) {
    case 'string':
      return { type: 'text' };
    case 'boolean':
      return { type: 'truth' };
    case 'number':
      return { type: Number.isSafeInteger(value) ? 'whole' : 'number' };
    case 'object': {
      if (value === null) return undefined;
      if (Array.isArray(value)) {
        const of = shapeOfValue(value[0]);
        return of !== undefined && value.every((one) => isSame(shapeOfValue(one), of))
          ? { type: 'list', of }
          : undefined;
      }
      const known = Object.entries(value).flatMap(([name, one]): [string, Member][] => {
        const shape = shapeOfValue(one);
        return shape === undefined ? [] : [[name, { shape, isOptional: true }]];
      });
      return { type: 'record', members: Object.fromEntries(known), isPartial: false };
    }
    default:
      return undefined;
  }
}
