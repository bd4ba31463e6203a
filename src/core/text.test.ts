/** Displayable text: our vectors, every code point, and the public collections of hostile strings. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import { ownVector, ownVectors, publicSuite } from '../../vectors/read.js';
import { displayText, parseDisplayText, textFlags } from './text.js';

interface Shown {
  readonly about: string;
  readonly cases: readonly { readonly text: string; readonly shown: string }[];
}
const SPECIAL = ['lone-surrogate.json', 'not-an-output.json'];

for (const { name, content } of ownVectors<Shown>('display-text').filter((file) => !SPECIAL.includes(file.name))) {
  test(`displayed text: ${content.about}`, () => {
    verifies('core.text.hidden');
    for (const { text, shown } of content.cases) {
      assert.equal(displayText(text), shown, name);
      assert.equal(parseDisplayText(shown), text, name);
    }
  });
}

test('half of a surrogate pair is shown and read back', () => {
  verifies('core.text.round-trip');
  const { cases } = ownVector<{ cases: { units: number[]; shown: string }[] }>('display-text/lone-surrogate.json');
  for (const { units, shown } of cases) {
    assert.equal(displayText(String.fromCharCode(...units)), shown);
    assert.equal(parseDisplayText(shown), String.fromCharCode(...units));
  }
});

test('what is never displayed is not read', () => {
  verifies('core.text.inverse');
  const { cases } = ownVector<{ cases: { shown: string }[] }>('display-text/not-an-output.json');
  for (const { shown } of cases) assert.equal(parseDisplayText(shown), undefined, JSON.stringify(shown));
});

test('over all code points no hidden one is displayed raw, and each is read back', () => {
  verifies('core.text.hidden');
  verifies('core.text.round-trip');
  // Spelled apart from the code under test: what may stay raw rather than what may not.
  const visible = /^(?:[\p{L}\p{M}\p{N}\p{P}\p{S}]| )$/u;
  const ignorable = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Variation_Selector}]/u;
  let raw = 0;
  for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
    const text = String.fromCodePoint(codePoint);
    const shown = displayText(text);
    const isRaw = shown === text;
    if (isRaw) raw += 1;
    const expected = visible.test(text) && !ignorable.test(text) && text !== '\\';
    if (isRaw !== expected) assert.fail(`U+${codePoint.toString(16)} is ${isRaw ? '' : 'not '}raw`);
    if (!isRaw && text !== '\\' && shown !== `\\u{${codePoint.toString(16)}}`)
      assert.fail(`U+${codePoint.toString(16)}`);
    if (parseDisplayText(shown) !== text) assert.fail(`U+${codePoint.toString(16)} is not read back`);
  }
  assert.ok(raw > 140_000);
});

const piece = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\\', '\\u{a}', '{', '}', 'u', '\ud83d', '\ude00', '\u202e', '\n', 'a'),
);

test('displaying is reversible and no two texts look the same', () => {
  verifies('core.text.round-trip');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('');
      assert.equal(parseDisplayText(displayText(text)), text);
    }),
    { numRuns: 10_000 },
  );
});

test('whatever is read back is displayed as it was', () => {
  verifies('core.text.inverse');
  const shown = fc.array(fc.constantFrom('\\', '\\\\', '\\u{', '}', 'a', 'd83d', '0', '202e', '\\u{de00}', 'x', '\n'), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(shown, (pieces) => {
      const text = parseDisplayText(pieces.join(''));
      if (text !== undefined) assert.equal(displayText(text), pieces.join(''));
    }),
    { numRuns: 10_000 },
  );
});

test('a mebibyte of hidden characters or backslashes is displayed in linear time', () => {
  verifies('core.text.hidden');
  const startedAt = performance.now();
  for (const text of ['\u202e', '\\', '\\u{', '\n']) {
    const long = text.repeat(300_000);
    assert.equal(parseDisplayText(displayText(long)), long);
  }
  assert.ok(performance.now() - startedAt < 5_000);
});

test('flags tell of what can pass for another text', () => {
  verifies('core.text.flags');
  assert.deepEqual(textFlags('deploy/web-1'), []);
  assert.deepEqual(textFlags('größe'), ['non_ascii']);
  assert.deepEqual(textFlags('p\u0430ypal'), ['non_ascii', 'mixed_script']);
  assert.deepEqual(textFlags('\u0420\u043e\u0441\u0441\u0438\u044f'), ['non_ascii']);
  assert.deepEqual(textFlags('\u0391pple'), ['non_ascii', 'mixed_script']);
  assert.deepEqual(textFlags('\u6771\u4eac\u30bf\u30ef\u30fc\u306e'), ['non_ascii']);
  assert.deepEqual(textFlags('\u6771\u4eac and Tokyo'), ['non_ascii', 'mixed_script']);
  assert.deepEqual(textFlags('\ud55c\uad6d \u97d3\u570b'), ['non_ascii']);
  assert.deepEqual(textFlags('e\u0301'), ['non_ascii', 'not_nfc']);
  assert.deepEqual(textFlags('a\u200bb'), ['non_ascii', 'invisible']);
  assert.deepEqual(textFlags('a\nb'), ['invisible']);
  assert.deepEqual(textFlags('\u{10480}\u{10481}'), ['non_ascii']);
  assert.deepEqual(textFlags('\u{10480}a'), ['non_ascii', 'mixed_script']);
});

const properties = publicSuite('unicode-bidi/invisible-props.txt');
test('each code point of the published property ranges is displayed', { skip: properties.skip }, () => {
  verifies('core.text.hidden');
  let ranges = 0;
  for (const line of readFileSync(properties.path, 'utf8').split('\n')) {
    const match = /^([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;/.exec(line);
    if (match === null) continue;
    ranges += 1;
    const first = Number.parseInt(match[1] as string, 16);
    for (let codePoint = first; codePoint <= Number.parseInt(match[2] ?? (match[1] as string), 16); codePoint += 1) {
      const text = String.fromCodePoint(codePoint);
      if (codePoint !== 0x20) assert.notEqual(displayText(text), text, line);
    }
  }
  assert.ok(ranges >= 60);
});

const naughty = publicSuite('blns/blns.json');
test('515 naughty strings are displayed safely and read back', { skip: naughty.skip }, () => {
  verifies('core.text.round-trip');
  const texts = JSON.parse(readFileSync(naughty.path, 'utf8')) as string[];
  assert.equal(texts.length, 515);
  for (const text of texts) {
    const shown = displayText(text);
    assert.equal(parseDisplayText(shown), text);
    assert.doesNotMatch(shown, /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
  }
});

const trojan = publicSuite('trojan-source');
test('the trojan sources can not turn their direction', { skip: trojan.skip }, () => {
  verifies('core.text.hidden');
  const { cases } = JSON.parse(readFileSync(join(trojan.path, 'cases.json'), 'utf8')) as { cases: { text: string }[] };
  assert.equal(cases.length, 18);
  for (const { text } of cases) {
    assert.equal(parseDisplayText(displayText(text)), text);
    assert.doesNotMatch(displayText(text), /[\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\n]/u);
    assert.notDeepEqual(textFlags(text), []);
  }
});
