/** Canonical JSON out: our vectors and everything that has no canonical form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifies } from '../../test/support/verifies.js';
import { ownVector, ownVectors } from '../../vectors/read.js';
import { canonicalize } from './canonical.js';
import { Refusal } from './errors.js';
import { type Json, parseJson } from './json/index.js';

interface Written {
  readonly cases: readonly { readonly text: string; readonly canonical: string }[];
}

for (const { name, content } of ownVectors<Written>('canonical-json').filter((file) => file.name !== 'refused.json')) {
  test(`canonical JSON: ${name.replace('.json', '')}`, () => {
    verifies('core.canonical.jcs');
    for (const { text, canonical } of content.cases) assert.equal(canonicalize(parseJson(text)), canonical);
  });
}

/** The path at which `value` is refused. */
function refusedAt(value: unknown): string | undefined {
  let path: string | undefined;
  assert.throws(
    () => canonicalize(value as Json),
    (error) => {
      assert.ok(error instanceof Refusal && error.code === 'invalid');
      path = error.path;
      return true;
    },
  );
  return path;
}

test('an integer that another reader could round has no canonical form', () => {
  verifies('core.canonical.numbers');
  const { cases } = ownVector<{ cases: { text: string; path: string }[] }>('canonical-json/refused.json');
  for (const { text, path } of cases) assert.equal(refusedAt(parseJson(text)), path);
  assert.equal(canonicalize([9007199254740991, -9007199254740991]), '[9007199254740991,-9007199254740991]');
  assert.equal(refusedAt([9007199254740992]), '$[0]');
  assert.equal(refusedAt(Number.NaN), '$');
  assert.equal(refusedAt({ a: Number.POSITIVE_INFINITY }), '$.a');
  assert.equal(refusedAt({ a: Number.NEGATIVE_INFINITY }), '$.a');
});

test('what is no JSON is refused with its path, not dropped', () => {
  verifies('core.canonical.refusals');
  const cases: readonly (readonly [unknown, string])[] = [
    [undefined, '$'],
    [{ a: undefined }, '$.a'],
    [[1, undefined], '$[1]'],
    [{ a: [() => 1] }, '$.a[0]'],
    [{ a: Symbol('x') }, '$.a'],
    [10n, '$'],
    [new Map([['a', 1]]), '$'],
    [{ at: new Date(0) }, '$.at'],
    [new Uint8Array(2), '$'],
    [{ s: new String('x') }, '$.s'],
    // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested.
    [[1, , 2], '$[1]'],
    [{ toJSON: () => 1 }, '$.toJSON'],
    [{ b: 1, a: { z: undefined } }, '$.a.z'],
  ];
  for (const [value, path] of cases) assert.equal(refusedAt(value), path);
});

test('lone surrogates are refused in values and keys, short and long', () => {
  verifies('core.canonical.surrogates');
  for (const text of ['\ud800', 'a\udc00', `${'x'.repeat(100)}\ud83d`, `"\udfff`, '\ud83d\ud83d\ude00']) {
    assert.equal(refusedAt(text), '$');
    assert.equal(refusedAt({ a: [text] }), '$.a[0]');
    assert.equal(refusedAt({ a: { [text]: 1 } }), '$.a');
  }
  assert.equal(canonicalize({ '😀"': '😀\n' }), '{"😀\\"":"😀\\n"}');
});

test('64 levels have a canonical form, 65 and cycles have none', () => {
  verifies('core.canonical.depth');
  const nested = (levels: number): Json =>
    levels === 0 ? 1 : levels % 2 === 0 ? [nested(levels - 1)] : { a: nested(levels - 1) };
  assert.equal(typeof canonicalize(nested(63)), 'string');
  assert.equal(typeof canonicalize(nested(64)), 'string');
  refusedAt(nested(65));
  refusedAt(nested(5_000));
  const cycle: unknown[] = [];
  cycle.push(cycle, cycle);
  refusedAt(cycle);
  const loop: Record<string, unknown> = {};
  loop['self'] = { loop };
  refusedAt(loop);
});

test('every code unit is quoted as `JSON.stringify` quotes it', () => {
  verifies('core.canonical.jcs');
  for (let unit = 0; unit < 0x10000; unit += 1) {
    if (unit >= 0xd800 && unit < 0xe000) continue;
    const text = String.fromCharCode(unit);
    for (const tested of [text, text.padStart(80, 'a')]) {
      if (canonicalize(tested) !== JSON.stringify(tested)) assert.fail(`U+${unit.toString(16)}`);
    }
  }
});

test('many keys are in order, however they were set', () => {
  verifies('core.canonical.jcs');
  for (const count of [23, 24, 25, 26, 1_000]) {
    const keys = Array.from({ length: count }, (_, index) => `k${(index * 7_919) % 10_007}`);
    const value = Object.fromEntries(keys.map((key) => [key, 1]));
    assert.equal(
      canonicalize(value),
      `{${[...keys]
        .sort()
        .map((key) => `"${key}":1`)
        .join(',')}}`,
    );
  }
});

test('an object without a prototype, `__proto__` as a key and a repeated part are plain data', () => {
  verifies('core.canonical.jcs');
  assert.equal(canonicalize(Object.assign(Object.create(null), { b: 1, a: 2 })), '{"a":2,"b":1}');
  assert.equal(canonicalize(parseJson('{"a":0,"__proto__":{"x":1}}')), '{"__proto__":{"x":1},"a":0}');
  const part = { x: 1 };
  assert.equal(canonicalize([part, part]), '[{"x":1},{"x":1}]');
});
