/** Strict JSON in: our vectors, limits and hostile input. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifies } from '../../../test/support/verifies.js';
import { ownVectors } from '../../../vectors/read.js';
import { canonicalize } from '../canonical.js';
import { Fault, Refusal } from '../errors.js';
import { hexToBytes } from '../utf8.js';
import { JSON_REASONS, type JsonLimits, type JsonProblem, parseJson, parseTrusted, readJson } from './index.js';

interface Rejected {
  readonly about: string;
  readonly reason: keyof typeof JSON_REASONS;
  readonly limits?: JsonLimits;
  readonly cases: readonly (Omit<JsonProblem, 'reason'> & { readonly text?: string; readonly hex?: string })[];
}
interface Accepted {
  readonly cases: readonly { readonly text: string; readonly canonical: string }[];
}

function problemOf(input: string | Uint8Array, limits: JsonLimits = {}): JsonProblem | undefined {
  const result = readJson(input, limits);
  return result.ok ? undefined : result.problem;
}

const REQUIREMENT_OF: Partial<Record<keyof typeof JSON_REASONS, string>> = {
  duplicate_key: 'core.json.duplicate-keys',
  lone_surrogate: 'core.json.lone-surrogates',
  invalid_utf8: 'core.json.invalid-utf8',
  byte_order_mark: 'core.json.byte-order-mark',
  number_too_large: 'core.json.big-integers',
  number_overflow: 'core.json.number-range',
  number_underflow: 'core.json.number-range',
  number_not_integer: 'core.json.integer-mode',
  too_deep: 'core.json.depth',
  too_long: 'core.json.length',
  trailing_data: 'core.json.trailing-data',
};

for (const { name, content } of ownVectors<Rejected>('strict-json/reject')) {
  test(`strict JSON refuses ${name.replace('.json', '')}: ${content.about}`, () => {
    verifies(REQUIREMENT_OF[content.reason] ?? 'core.json.grammar');
    verifies('core.json.place');
    for (const { text, hex, ...place } of content.cases) {
      const input = text ?? (hexToBytes(hex as string) as Uint8Array);
      assert.deepEqual(
        problemOf(input, content.limits),
        { reason: content.reason, ...place },
        JSON.stringify(text ?? hex),
      );
      if (typeof input !== 'string') continue;
      const bytes = new TextEncoder().encode(input);
      if (input.isWellFormed()) assert.equal(problemOf(bytes, content.limits)?.reason, content.reason);
    }
  });
}

for (const { name, content } of ownVectors<Accepted>('strict-json/accept')) {
  test(`strict JSON reads ${name.replace('.json', '')}`, () => {
    verifies(name === 'prototype-keys.json' ? 'core.json.prototype-keys' : 'core.json.grammar');
    for (const { text, canonical } of content.cases) {
      assert.equal(canonicalize(parseJson(text)), canonical);
      assert.equal(canonicalize(parseJson(new TextEncoder().encode(text))), canonical);
    }
  });
}

test('a raw lone surrogate is refused, and an earlier defect is told first', () => {
  verifies('core.json.lone-surrogates');
  assert.deepEqual(problemOf('{"a":["\ud800"]}'), { reason: 'lone_surrogate', line: 1, column: 8, path: '$.a[0]' });
  assert.deepEqual(problemOf('"\ud800\\udc00"'), { reason: 'lone_surrogate', line: 1, column: 2, path: '$' });
  assert.equal(problemOf('{"a":1,"a":"\udc00"}')?.reason, 'duplicate_key');
  assert.equal(problemOf('{} \udc00')?.reason, 'lone_surrogate');
});

test('`__proto__` becomes an own key and no prototype changes', () => {
  verifies('core.json.prototype-keys');
  const value = parseJson(
    '{"__proto__":{"polluted":true},"a":{"constructor":{"prototype":{"polluted":true}}}}',
  ) as object;
  assert.deepEqual(Object.keys(value), ['__proto__', 'a']);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal((value as { polluted?: boolean }).polluted, undefined);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

test('a limit holds at n and refuses at n + 1', () => {
  verifies('core.json.depth');
  verifies('core.json.length');
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  for (const [levels, reason] of [
    [63, undefined],
    [64, undefined],
    [65, 'too_deep'],
  ] as const) {
    assert.equal(problemOf(nested(levels))?.reason, reason);
    assert.equal(problemOf(objects(levels))?.reason, reason);
    // A caller can ask for less and never for more.
    assert.equal(problemOf(nested(levels), { depthMax: 1_000 })?.reason, reason);
  }
  assert.deepEqual(
    [4, 5, 6].map((levels) => problemOf(nested(levels), { depthMax: 5 })?.reason),
    [undefined, undefined, 'too_deep'],
  );
  const twoMiB = 2 * 1024 * 1024;
  for (const [size, reason] of [
    [twoMiB - 1, undefined],
    [twoMiB, undefined],
    [twoMiB + 1, 'too_long'],
  ] as const) {
    const text = `"${'a'.repeat(size - 2)}"`;
    assert.equal(problemOf(text)?.reason, reason);
    assert.equal(problemOf(new TextEncoder().encode(text))?.reason, reason);
  }
  // Two bytes and four bytes of UTF-8 for each character.
  assert.deepEqual(
    [9, 10, 11].map((bytesMax) => problemOf('"éééé"', { bytesMax })?.reason),
    ['too_long', undefined, undefined],
  );
  assert.deepEqual(
    [9, 10, 11].map((bytesMax) => problemOf('"😀😀"', { bytesMax })?.reason),
    ['too_long', undefined, undefined],
  );
});

test('hostile input of a mebibyte costs linear time', () => {
  verifies('core.json.linear-time');
  const size = 1 << 20;
  const numbered = (count: number, step: number) =>
    `{${Array.from({ length: count }, (_, i) => `"${i * step}":1`).join(',')}}`;
  const rejected = ['[', '{"a":', '"', '\\', '1', '-', '{"', ' ', 'nul'].map((piece) =>
    piece.repeat(size / piece.length),
  );
  const accepted = [
    `"${'\\\\'.repeat(size / 2 - 1)}"`,
    `"${'\\u0041'.repeat(size / 6 - 1)}"`,
    `"${'\\ud83d\\ude00'.repeat(size / 12 - 1)}"`,
    `0.${'1'.repeat(size - 2)}`,
    `{${Array.from({ length: 80_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
    numbered(80_000, 1),
    numbered(60_000, 65_536),
    `[${'[],'.repeat(size / 3 - 2)}[]]`,
  ];
  const rejectedAt = performance.now();
  for (const text of rejected) assert.equal(readJson(text).ok, false, text.slice(0, 8));
  // Some milliseconds each on an idle machine; the bound is wide because tests share it.
  assert.ok(performance.now() - rejectedAt < 1_000);
  const acceptedAt = performance.now();
  for (const text of accepted) assert.equal(readJson(text).ok, true, text.slice(0, 8));
  assert.ok(performance.now() - acceptedAt < 4_000);
  // A defect at the very end is found in the same time.
  assert.equal(problemOf(`${numbered(80_000, 1).slice(0, -1)},"0":1}`)?.path, '$["0"]');
});

test('a refusal carries the code, the place and never the value', () => {
  verifies('core.json.place');
  verifies('core.json.no-echo');
  const secret = 'hunter2hunter2';
  const texts = [
    `{"a":"${secret}\n"}`,
    `{"a":${secret}}`,
    `{"a":"${secret}\\q"}`,
    `{"a":1}${secret}`,
    `["${secret}\ud800"]`,
  ];
  for (const text of texts) {
    assert.throws(
      () => parseJson(text),
      (error) => {
        assert.ok(error instanceof Refusal);
        assert.equal(error.code, 'invalid');
        assert.match(error.message, /, at line 1, column \d+$/);
        assert.ok(!JSON.stringify([error.message, error.path, error.details]).includes(secret));
        return true;
      },
    );
  }
  assert.throws(
    () => parseJson('{', { code: 'format' }),
    (error) => error instanceof Refusal && error.code === 'format',
  );
});

test('keys in a path are displayable and bounded', () => {
  verifies('core.json.no-echo');
  const long = 'k'.repeat(100_000);
  const path = problemOf(`{"\u202e\\u001b[2J":{"${long}":[x]}}`)?.path ?? '';
  assert.equal(path, `$["\\u{202e}\\u{1b}[2J"]["${'k'.repeat(64)}…"][0]`);
  const deep = problemOf(`${`{"${long.slice(0, 10_000)}":`.repeat(60)}x`)?.path ?? '';
  assert.ok(deep.length < 2_000);
});

test('words for reasons are one line, lower case, without a full stop', () => {
  for (const words of Object.values(JSON_REASONS)) assert.match(words, /^[a-z][^\n]*[^.\n]$/);
});

test('verified text that is no JSON is a fault of ours', () => {
  verifies('core.json.trusted');
  assert.deepEqual(parseTrusted('{"a":[1]}'), { a: [1] });
  assert.throws(
    () => parseTrusted('{'),
    (error) => error instanceof Fault && error.code === 'corrupt',
  );
});
