/** What a program hands over is copied to plain data, within limits that hold before anything is walked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HOSTILE, MARK } from '../../test/support/hostile-values.js';
import { verifies } from '../../test/support/verifies.js';
import { Refusal } from './errors.js';
import { LIMITS } from './limits.js';
import { plainCopy } from './plain.js';

/** Path and words of the refusal. */
function refusalOf(value: unknown, bytesMax?: number): { path: string | undefined; message: string } {
  try {
    plainCopy(value, bytesMax === undefined ? {} : { bytesMax });
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'invalid');
    return { path: error.path, message: error.message };
  }
  throw new Error('it was not refused');
}

test('plain data is copied as it is, and shares nothing with what it was', () => {
  verifies('core.plain.copy');
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const copy = plainCopy({ value });
      assert.equal(JSON.stringify(copy), JSON.stringify({ value }));
      if (typeof value === 'object' && value !== null) assert.notEqual(copy.value, value);
    }),
  );
  const bytes = new Uint8Array([1, 2]);
  const copy = plainCopy({ bytes, absent: undefined });
  bytes[0] = 9;
  assert.deepEqual(copy, { bytes: new Uint8Array([1, 2]), absent: undefined });
});

test('`__proto__` is a member like any other', () => {
  verifies('core.plain.copy');
  const own = Object.defineProperty({}, '__proto__', { value: { a: 1 }, enumerable: true });
  const copy = plainCopy(own);
  assert.deepEqual(Object.keys(copy), ['__proto__']);
  assert.equal(Object.getPrototypeOf(copy), Object.prototype);
});

test('what is no plain data is refused with its path, in fixed words', () => {
  verifies('core.plain.refusals');
  const cases: readonly (readonly [unknown, string, string])[] = [
    [{ a: 10n }, '$.a', 'a bigint is no plain data'],
    [{ a: [Symbol(MARK)] }, '$.a[0]', 'a symbol is no plain data'],
    [() => 1, '$', 'a function is no plain data'],
    [{ a: new Date() }, '$.a', 'object is not plain data'],
    [{ a: new Float64Array(1) }, '$.a', 'object is not plain data'],
    // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested.
    [[1, , 2], '$[1]', 'an array has no item at this place'],
    ['\ud800', '$', 'string holds half of a surrogate pair'],
    [{ '\udc00': 1 }, '$["\\u{dc00}"]', 'key holds half of a surrogate pair'],
  ];
  for (const [value, path, message] of cases) assert.deepEqual(refusalOf(value), { path, message });
});

test('whatever a value throws stays inside', () => {
  verifies('core.plain.refusals');
  for (const [what, value] of HOSTILE) {
    try {
      plainCopy([{ value }]);
    } catch (error) {
      assert.ok(error instanceof Refusal, what);
      assert.ok(!JSON.stringify([error.message, error.path, error.next]).includes(MARK), what);
    }
  }
});

test('a value that has more bytes than the limit in any case is refused, and none that has not', () => {
  verifies('core.plain.limits');
  const tooLong = 'what was handed over is longer than the limit';
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      // The limit is never above the bytes of the text: what fits as a text fits here.
      assert.doesNotThrow(() => plainCopy(value, { bytesMax: new TextEncoder().encode(JSON.stringify(value)).length }));
    }),
  );
  for (const [value, bytes] of [
    ['abc', 5],
    [[0, 0], 5],
    [{ a: 0 }, 7],
    [null, 1],
  ] as const) {
    assert.doesNotThrow(() => plainCopy(value, { bytesMax: bytes }));
    assert.equal(refusalOf(value, bytes - 1).message, tooLong);
  }
  assert.equal(refusalOf('x'.repeat(LIMITS.jsonBytesMax - 1)).message, tooLong);
  assert.doesNotThrow(() => plainCopy('x'.repeat(LIMITS.jsonBytesMax - 2)));
  // Refused before the first item is looked at: the hole there would be another refusal.
  assert.equal(refusalOf(new Array(2_000_000)).message, tooLong);
});

test('contents have limits of their own', () => {
  verifies('core.plain.limits');
  const one = new Uint8Array(1);
  assert.doesNotThrow(() => plainCopy(new Array(LIMITS.contentsMax).fill(one)));
  refusalOf(new Array(LIMITS.contentsMax + 1).fill(one));
  assert.doesNotThrow(() => plainCopy(new Uint8Array(LIMITS.contentBytesMax)));
  refusalOf(new Uint8Array(LIMITS.contentBytesMax + 1));
});

test('nesting has an end: the 64 levels of JSON, and some around them', () => {
  verifies('core.plain.limits');
  const nested = (levels: number) => {
    let value: unknown = 0;
    for (let level = 0; level < levels; level += 1) value = [value];
    return value;
  };
  assert.doesNotThrow(() => plainCopy(nested(LIMITS.depthMax + 8)));
  refusalOf(nested(LIMITS.depthMax + 9));
});
