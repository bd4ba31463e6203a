/** Tests of the one way by which arguments come into Cedar. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as z from 'zod';
import { verifies } from '../../test/support/verifies.js';
import type { JsonObject } from '../core/index.js';
import { encodeArgs } from './encode.js';
import { shapeOf } from './shape.js';

const SCHEMA = z.strictObject({
  text: z.string().nullish(),
  kind: z.enum(['a', 'b']).optional(),
  count: z.int().nullable().optional(),
  rate: z.number().optional(),
  flag: z.boolean().optional(),
  list: z.array(z.int()).optional(),
  deep: z.strictObject({ er: z.string().optional(), any: z.json().optional() }).optional(),
  pair: z.tuple([z.string(), z.int()]).optional(),
  either: z.union([z.string(), z.int()]).optional(),
  one: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('x'), x: z.int() }),
      z.strictObject({ type: z.literal('y'), y: z.string() }),
    ])
    .optional(),
  map: z.record(z.string(), z.string()).optional(),
});

function encoded(args: JsonObject, schema: z.ZodType = SCHEMA) {
  return encodeArgs(shapeOf(schema), args);
}

test('each argument has the type of its schema, and what has none stays outside', () => {
  verifies('policy.encode.types');
  const plain = { text: 'x', kind: 'a', count: 3, flag: true, list: [2, 1], deep: { er: 'y' } };
  assert.deepEqual(encoded(plain), { value: plain, isPartial: false });
  assert.deepEqual(encoded({ one: { type: 'x', x: 1 } }), { value: { one: { type: 'x', x: 1 } }, isPartial: false });
  assert.deepEqual(encoded({ text: null, count: null }), { value: {}, isPartial: false });
  const decimal = (arg: string) => ({ value: { rate: { __extn: { fn: 'decimal', arg } } }, isPartial: false });
  assert.deepEqual(encoded({ rate: 1.5 }), decimal('1.5'));
  assert.deepEqual(encoded({ rate: -3 }), decimal('-3.0'));
  assert.deepEqual(encoded({ rate: 1.00001 }), { value: { rate: '1.00001' }, isPartial: false });
  for (const args of [{ pair: ['x', 1] }, { either: 1 }, { map: { a: 'b' } }, { deep: { any: 1 } }, { other: 1 }]) {
    const found = encoded(args);
    assert.equal(found?.isPartial, true, JSON.stringify(args));
    assert.deepEqual(JSON.stringify(found?.value).replace('"deep":{}', ''), '{}');
  }
});

test('an operation without a schema of an object puts none in', () => {
  verifies('policy.encode.types');
  for (const schema of [
    z.any(),
    z.json(),
    z.record(z.string(), z.json()),
    z.custom(),
    z.union([z.string(), z.int()]),
  ]) {
    assert.deepEqual(encoded({ a: 1 }, schema), { value: {}, isPartial: true });
  }
  assert.deepEqual(encodeArgs(shapeOf(undefined), { a: 1 }), { value: {}, isPartial: true });
  assert.deepEqual(encodeArgs(shapeOf(undefined), {}), { value: {}, isPartial: false });
  const node: z.ZodType = z.strictObject({
    name: z.string(),
    get next() {
      return node.optional();
    },
  });
  assert.ok(encoded({ name: 'x' }, node) !== undefined);
});

test('a value of another type, and a name of the escape, are refused', () => {
  verifies('policy.encode.closed');
  const refused: JsonObject[] = [
    { text: 1 },
    { count: '1' },
    { count: 1.5 },
    { count: 2 ** 53 },
    { flag: 0 },
    { list: ['1'] },
    { list: { 0: 1 } },
    { deep: [] },
    { deep: 'x' },
    { __entity: { type: 'Agent', id: 'x' } },
    { deep: { __extn: { fn: 'ip', arg: '::1' } } },
    { text: { __entity: { type: 'Agent', id: 'x' } } },
  ];
  for (const args of refused) assert.equal(encoded(args), undefined, JSON.stringify(args));
  const dunder = z.strictObject({ __entity: z.string().optional(), text: z.string().optional() });
  assert.equal(encoded({ __entity: 'x' }, dunder), undefined);
});

test('no argument becomes an entity or a function, whatever stands in it', () => {
  verifies('policy.encode.closed');
  const hostile = fc.jsonValue().map((value) => value as never);
  const keys = fc.constantFrom('text', 'count', 'rate', 'deep', 'list', 'one', '__entity', '__extn', '__proto__');
  fc.assert(
    fc.property(fc.dictionary(keys, hostile), (args) => {
      const found = encoded(args);
      if (found === undefined) return;
      const text = JSON.stringify(found.value).replaceAll(/\{"__extn":\{"fn":"decimal","arg":"[-0-9.]+"\}\}/g, '0');
      assert.ok(!/"__[^"]*":/.test(text), text);
    }),
    { numRuns: 2_000 },
  );
});
