/** Strict JSON and canonical JSON: laws over random values, and the public suites. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import oracle from 'canonicalize';
import fc from 'fast-check';
import { verifies } from '../../../test/support/verifies.js';
import { publicSuite } from '../../../vectors/read.js';
import { canonicalize } from '../canonical.js';
import { type Json, parseJson, readJson } from './index.js';

const number = fc
  .oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .filter((value) => Number.isSafeInteger(value) || !Number.isInteger(value));
const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toString', '', '0', '10', '9', 'a', 'A'));
const { value: json } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, ''),
    number,
    text,
    fc.array(tie('value'), { maxLength: 6 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 8 }).map((entries): Json => Object.fromEntries(entries)),
  ),
}));

test('canonical text of 10,000 random values equals that of the public library', () => {
  verifies('core.canonical.jcs');
  fc.assert(
    fc.property(json, (value) => {
      assert.equal(canonicalize(value), oracle(value));
    }),
    { numRuns: 10_000 },
  );
});

test('reading canonical text and writing it again changes nothing', () => {
  verifies('core.canonical.idempotent');
  fc.assert(
    fc.property(json, (value) => {
      const canonical = canonicalize(value);
      assert.equal(canonicalize(parseJson(canonical)), canonical);
    }),
    { numRuns: 3_000 },
  );
});

test('the order in which keys were set does not show', () => {
  verifies('core.canonical.jcs');
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(key, fc.integer()), { selector: ([name]) => name, maxLength: 60 }),
      (entries) => {
        const reversed = Object.fromEntries([...entries].reverse());
        assert.equal(canonicalize(Object.fromEntries(entries)), canonicalize(reversed));
      },
    ),
  );
});

test('a valid text is read as `JSON.parse` reads it, from a string and from bytes', () => {
  verifies('core.json.grammar');
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
      const written = JSON.stringify(value, undefined, indent);
      assert.deepEqual(readJson(written), { ok: true, value: JSON.parse(written) });
      assert.deepEqual(readJson(new TextEncoder().encode(written)), { ok: true, value: JSON.parse(written) });
    }),
    { numRuns: 3_000 },
  );
});

test('whatever is read of a damaged text, `JSON.parse` reads too', () => {
  verifies('core.json.grammar');
  const damage = fc.tuple(
    fc.nat(),
    fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', '.', 'e', '\n', '\ud800'),
  );
  fc.assert(
    fc.property(json, fc.array(damage, { minLength: 1, maxLength: 3 }), (value, damages) => {
      let written = JSON.stringify(value);
      for (const [place, piece] of damages) {
        const at = place % (written.length + 1);
        written = written.slice(0, at) + piece + written.slice(at + (place % 2));
      }
      const result = readJson(written);
      if (result.ok) assert.deepEqual(result.value, JSON.parse(written));
    }),
    { numRuns: 5_000 },
  );
});

test('random bytes never throw and never read past the place that is told', () => {
  verifies('core.json.invalid-utf8');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const result = readJson(bytes);
      const valid = Buffer.from(bytes).toString('utf8');
      if (result.ok) assert.deepEqual(result.value, JSON.parse(valid));
      else assert.ok(result.problem.column >= 1 && result.problem.column <= bytes.length + 1);
    }),
    { numRuns: 3_000 },
  );
});

const jsonSuite = publicSuite('jsontestsuite/test_parsing');
test('JSONTestSuite: each y but duplicate keys is read, each n and each i is refused', { skip: jsonSuite.skip }, () => {
  verifies('core.json.grammar');
  const outcomes = readdirSync(jsonSuite.path).map((name) => ({
    name,
    result: readJson(readFileSync(join(jsonSuite.path, name))),
  }));
  assert.equal(outcomes.length, 318);
  const read = outcomes.filter(({ result }) => result.ok).map(({ name }) => name);
  // What the suite leaves to the reader is refused as well: none of it has one meaning for every reader.
  assert.deepEqual(
    read.filter((name) => !name.startsWith('y_')),
    [],
  );
  const refused = outcomes.filter(({ name, result }) => name.startsWith('y_') && !result.ok);
  assert.deepEqual(
    refused.map(({ name }) => name),
    ['y_object_duplicated_key.json', 'y_object_duplicated_key_and_value.json'],
  );
  for (const { result } of refused) assert.equal(result.ok ? undefined : result.problem.reason, 'duplicate_key');
});

const jcs = publicSuite('jcs-cyberphone/testdata');
test('the JCS test data of its author', { skip: jcs.skip }, () => {
  verifies('core.canonical.jcs');
  const refused: string[] = [];
  for (const name of readdirSync(join(jcs.path, 'input'))) {
    const value = parseJson(readFileSync(join(jcs.path, 'input', name)));
    const expected = readFileSync(join(jcs.path, 'output', name), 'utf8');
    if (/1e\+30/.test(expected)) {
      refused.push(name);
      assert.throws(() => canonicalize(value), /integer is beyond/);
    } else assert.equal(canonicalize(value), expected, name);
  }
  // It holds 1e30, an integer beyond what another reader must keep exactly.
  assert.deepEqual(refused, ['values.json']);
});

const numbers = publicSuite('jcs-cyberphone/es6numbers-10k.csv');
test('10,000 numbers are written as ECMAScript writes them, unsafe integers refused', { skip: numbers.skip }, () => {
  verifies('core.canonical.numbers');
  const bits = new DataView(new ArrayBuffer(8));
  let written = 0;
  let refused = 0;
  for (const line of readFileSync(numbers.path, 'utf8').trim().split('\n')) {
    const [hex, expected] = line.split(',') as [string, string];
    bits.setBigUint64(0, BigInt(`0x${hex}`));
    const value = bits.getFloat64(0);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      refused += 1;
      assert.throws(() => canonicalize(value), /integer is beyond/);
    } else {
      written += 1;
      assert.equal(canonicalize(value), expected);
    }
  }
  assert.equal(written + refused, 10_000);
  assert.ok(written > 4_000);
});
