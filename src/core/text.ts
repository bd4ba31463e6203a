/**
 * Text that a person or a model will read: shown so that nothing in it hides and the original can be read back.
 *
 * What is hidden is decided by Unicode property and not by a list, so that a character assigned later is covered by the
 * platform's data. Nothing is cut here.
 * Source: spec core (text that a person or a model will read).
 */

/**
 * Controls, format characters, surrogates, private use, unassigned, line and paragraph separators, what renderers
 * ignore, direction controls, variation selectors, and every space but U+0020.
 */
const HIDDEN =
  '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}' +
  '\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\p{Variation_Selector}' +
  // White space that is no U+0020, spelled as ranges around it because a class can't subtract.
  '\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000';
const HAS_HIDDEN = new RegExp(`[${HIDDEN}]`, 'u');
const TO_ESCAPE = new RegExp(`[\\\\${HIDDEN}]`, 'gu');
const PLAIN_ASCII = /^[ -[\]-~]*$/;
const ESCAPE = /\\(?:\\|u\{([0-9a-f]{1,6})\})/g;

/**
 * `text` made safe for a terminal, a page and a log line: a hidden character becomes `\u{…}` with its code point in
 * lower-case hex, a backslash becomes two. `parseDisplayText` reads it back.
 */
export function displayText(text: string): string {
  if (PLAIN_ASCII.test(text)) return text;
  return text.replace(TO_ESCAPE, (character) =>
    character === '\\' ? '\\\\' : `\\u{${(character.codePointAt(0) as number).toString(16)}}`,
  );
}

/** The text that `displayText` was given; `undefined` for what it never answers. */
export function parseDisplayText(shown: string): string | undefined {
  const text = shown.replace(ESCAPE, (_escape, hex: string | undefined) => {
    if (hex === undefined) return '\\';
    const codePoint = Number.parseInt(hex, 16);
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : '';
  });
  return displayText(text) === shown ? text : undefined;
}

/** A value as JSON in which every character beyond printable ASCII is an escape: nothing in it hides on a terminal. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** What a reader should be told about a text: the closed list, in this order. */
export type TextFlag = 'non_ascii' | 'mixed_script' | 'not_nfc' | 'invisible';

/**
 * Marks of a text that can pass for another one: characters beyond ASCII, letters of scripts that are not written
 * together, a form that is not NFC, and characters that `displayText` has to make visible.
 */
export function textFlags(text: string): readonly TextFlag[] {
  const flags: TextFlag[] = [];
  const isAscii = /^[\u0000-\u007f]*$/.test(text);
  if (!isAscii) flags.push('non_ascii');
  if (!isAscii && isMixedScript(text)) flags.push('mixed_script');
  if (!isAscii && text.normalize('NFC') !== text) flags.push('not_nfc');
  if (HAS_HIDDEN.test(text)) flags.push('invisible');
  return flags;
}

/** Scripts in use today, and those whose letters look like another's. */
const SCRIPTS = [
  ...[
    'Latin',
    'Greek',
    'Cyrillic',
    'Armenian',
    'Hebrew',
    'Arabic',
    'Georgian',
    'Cherokee',
    'Coptic',
    'Lisu',
    'Deseret',
  ],
  ...['Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala'],
  ...['Thai', 'Lao', 'Tibetan', 'Myanmar', 'Khmer', 'Ethiopic', 'Mongolian', 'Syriac', 'Thaana', 'Nko', 'Tifinagh'],
  ...['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo', 'Yi', 'Vai', 'Canadian_Aboriginal', 'Gothic', 'Glagolitic'],
];

/** Scripts that are written together: those of Japan, Korea and China (UTS 39, augmented script sets). */
const WRITING_SYSTEMS = [
  ...SCRIPTS.map((script) => [script]),
  ['Han', 'Hiragana', 'Katakana'],
  ['Han', 'Hangul'],
  ['Han', 'Bopomofo'],
];

function lettersOf(scripts: readonly string[]): string {
  return ['Common', 'Inherited', ...scripts].map((script) => `\\p{Script_Extensions=${script}}`).join('');
}

interface ScriptTests {
  readonly inOneSystem: readonly RegExp[];
  readonly inAKnownScript: RegExp;
}

let made: ScriptTests | undefined;

/** Made when a text beyond ASCII is first judged: making them takes some milliseconds of every start otherwise. */
function scriptTests(): ScriptTests {
  made ??= {
    inOneSystem: WRITING_SYSTEMS.map((scripts) => new RegExp(`^[${lettersOf(scripts)}]*$`, 'u')),
    inAKnownScript: new RegExp(`[${SCRIPTS.map((script) => `\\p{Script=${script}}`).join('')}]`, 'u'),
  };
  return made;
}

/** Whether no one writing system holds every letter. A text wholly in scripts beyond the list is not judged. */
function isMixedScript(text: string): boolean {
  const letters = text.match(/[\p{L}\p{M}]+/gu)?.join('') ?? '';
  const { inAKnownScript, inOneSystem } = scriptTests();
  return inAKnownScript.test(letters) && !inOneSystem.some((system) => system.test(letters));
}
