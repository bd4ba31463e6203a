import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { canonicalize } from '../canonical.js';
import { sameJson } from './same.js';
import type { Json } from './types.js';

describe('sameJson', () => {
  it('answers as the canonical texts do', () => {
    const value = fc.jsonValue({ maxDepth: 4 }).filter((v) => {
      try {
        canonicalize(v as Json);
        return true;
      } catch {
        return false;
      }
    });
    const check = (a: Json, b: Json) => assert.equal(sameJson(a, b), canonicalize(a) === canonicalize(b));
    fc.assert(
      fc.property(value, value, (a, b) => {
        check(a as Json, b as Json);
        check(a as Json, JSON.parse(canonicalize(a as Json)) as Json);
      }),
    );
  });

  it('tells apart what only looks alike', () => {
    const pairs: readonly [Json, Json][] = [
      [{}, []],
      [{ a: null }, {}],
      [{ a: 1 }, { b: 1 }],
      [['a'], { 0: 'a' }],
      [null, {}],
      ['1', 1],
      [{ toString: 1 }, { valueOf: 1 }],
    ];
    for (const [a, b] of pairs) {
      assert.equal(sameJson(a, b), false);
      assert.equal(sameJson(b, a), false);
    }
    assert.equal(sameJson({ a: 1, b: [-0] }, { b: [0], a: 1 }), true);
  });
});
