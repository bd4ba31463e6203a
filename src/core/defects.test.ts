/** What a schema refuses is named with what is wrong, and never with the value. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { verifies } from '../../test/support/verifies.js';
import { defectClause, defectIn } from './index.js';

const SECRET = 'sk_live_0123456789';

function clause(schema: z.ZodType, given: unknown, ownWords = false): string {
  return defectClause(defectIn(schema.safeParse(given).error?.issues, given, { ownWords }), ['args']);
}

const one = (schema: z.ZodType, value: unknown) => clause(z.strictObject({ a: schema }), { a: value });

test('a field is missing, of another type, or out of a bound that is told', () => {
  verifies('core.defects');
  const cases: readonly (readonly [string, string])[] = [
    [clause(z.strictObject({ a: z.string() }), {}), '`args.a` is missing'],
    [one(z.int(), undefined), '`args.a` is missing'],
    [one(z.enum(['x']), undefined), '`args.a` is missing'],
    [one(z.union([z.int(), z.string()]), undefined), '`args.a` is missing'],
    [clause(z.strictObject({ a: z.strictObject({ b: z.int() }) }), { a: {} }), '`args.a.b` is missing'],
    [one(z.string(), 5), '`args.a` is no text'],
    [one(z.string(), null), '`args.a` is no text'],
    [one(z.int(), 1.5), '`args.a` is no whole number'],
    [one(z.number(), SECRET), '`args.a` is no number'],
    [one(z.boolean(), SECRET), '`args.a` is no truth value'],
    [one(z.array(z.string()), SECRET), '`args.a` is no list'],
    [one(z.strictObject({}), SECRET), '`args.a` is no object'],
    [one(z.record(z.string(), z.int()), []), '`args.a` is no object'],
    [one(z.int().min(1), 0), '`args.a` is below 1'],
    [one(z.int().max(9), 10), '`args.a` is above 9'],
    [one(z.number().gt(1), 1), '`args.a` is not above 1'],
    [one(z.number().lt(1), 1), '`args.a` is not below 1'],
    [one(z.number().multipleOf(5), 3), '`args.a` is no multiple of 5'],
    [one(z.string().max(3), SECRET), '`args.a` has more than 3 characters'],
    [one(z.string().min(1), ''), '`args.a` has fewer than 1 character'],
    [one(z.string().length(2), SECRET), '`args.a` does not have exactly 2 characters'],
    [one(z.array(z.int()).max(1), [1, 2]), '`args.a` has more than 1 entry'],
    [one(z.array(z.int()).min(2), []), '`args.a` has fewer than 2 entries'],
    [one(z.enum(['x', 'y']), SECRET), '`args.a` is none of `x`, `y`'],
    [one(z.literal(1), 2), '`args.a` is not `1`'],
    [
      one(z.enum(Array.from({ length: 9 }, (_, at) => `v${at}`) as [string]), SECRET),
      '`args.a` is none of what it may be',
    ],
    [one(z.string().regex(/^a$/), SECRET), '`args.a` does not have the form that it has to have'],
    [one(z.union([z.int(), z.boolean()]), SECRET), '`args.a` has none of the forms that it may have'],
    [one(z.discriminatedUnion('k', [z.object({ k: z.literal('p') })]), { k: SECRET }), '`args.a.k` is not `p`'],
    [
      one(
        z.string().refine(() => false, 'custom'),
        SECRET,
      ),
      '`args.a` is not what this takes',
    ],
    [clause(z.strictObject({}), { amuont: 1 }), '`args`: unknown key `amuont`'],
    [clause(z.strictObject({}), { [SECRET]: 1 }), '`args`: unknown key'],
    [one(z.record(z.string().regex(/^a/), z.int()), { [SECRET]: 1 }), '`args.a` has a key that it can not have'],
    [one(z.record(z.string(), z.int()), { 'two words': SECRET }), '`args.a.…` is no number'],
    [clause(z.strictObject({}), SECRET), '`args` is no object'],
  ];
  for (const [said, expected] of cases) assert.equal(said, expected);
});

test('the words of a schema count where they are asked for, and zod’s own never do', () => {
  verifies('core.defects');
  const named = z.strictObject({ a: z.string().regex(/^a$/, 'it is an a') });
  assert.equal(clause(named, { a: SECRET }), '`args.a` does not have the form that it has to have');
  assert.equal(clause(named, { a: SECRET }, true), '`args.a`: it is an a');
  assert.equal(clause(named, {}, true), '`args.a` is missing');
  const either = z.strictObject({ a: z.union([z.string().regex(/^a$/, 'it is an a'), z.int()]) });
  assert.equal(clause(either, { a: SECRET }, true), '`args.a`: it is an a');
  assert.equal(clause(z.strictObject({ a: z.int() }), { a: SECRET }, true), '`args.a` is no number');
});
