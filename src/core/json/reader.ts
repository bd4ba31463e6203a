/**
 * The tokenizer of strict JSON: one pass over a well-formed text, which checks and builds at once.
 *
 * It promises RFC 8259 and no more, each key once, numbers that a double can hold, nesting within a bound, and time
 * linear in the text. It refuses at the first defect and remembers where that was. Lone surrogates that stand raw in
 * the text are the caller's to refuse beforehand; escaped ones are refused here.
 * Source: spec core (strict JSON in).
 */
import type { Json, JsonReason } from './types.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LOWER_U = 0x75;

/** What stands behind a backslash, and what it means. */
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** An integer of so many digits is safe without looking at it. */
const SAFE_DIGITS = 15;

const hasOwn = Object.prototype.hasOwnProperty;

/** Reads one text, once. A method answers `undefined` after it has noted a defect; no JSON value is `undefined`. */
export class Reader {
  /** Keys and indexes from the root to the place that is being read; the first `depth` entries count. */
  readonly path: (string | number)[] = [];
  depth = 0;
  reason: JsonReason | undefined;
  /** Offset of the defect in UTF-16 code units. */
  offset = 0;
  readonly #text: string;
  readonly #depthMax: number;
  readonly #integersOnly: boolean;
  #at = 0;

  constructor(text: string, depthMax: number, integersOnly: boolean) {
    this.#text = text;
    this.#depthMax = depthMax;
    this.#integersOnly = integersOnly;
  }

  /** The value of the whole text. */
  document(): Json | undefined {
    const value = this.#value(this.#skip());
    if (value === undefined) return undefined;
    this.#skip();
    return this.#at < this.#text.length ? this.#fail('trailing_data', this.#at) : value;
  }

  #fail(reason: JsonReason, offset: number): undefined {
    this.reason = offset >= this.#text.length && reason !== 'too_deep' ? 'unexpected_end' : reason;
    this.offset = offset;
    return undefined;
  }

  /** As `#fail`, for a defect of the container itself rather than of the member that was read last. */
  #failOutside(reason: JsonReason): undefined {
    this.depth -= 1;
    return this.#fail(reason, this.#at);
  }

  /** Passes white space and answers the code unit behind it, NaN at the end. */
  #skip(): number {
    let unit = this.#text.charCodeAt(this.#at);
    while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) {
      this.#at += 1;
      unit = this.#text.charCodeAt(this.#at);
    }
    return unit;
  }

  #value(unit: number): Json | undefined {
    if (unit === QUOTE) return this.#string();
    if (unit === OPEN_OBJECT) return this.#object();
    if (unit === OPEN_ARRAY) return this.#array();
    if (unit === MINUS || (unit >= ZERO && unit <= NINE)) return this.#number();
    if (unit === 0x74) return this.#word('true', true);
    if (unit === 0x66) return this.#word('false', false);
    if (unit === 0x6e) return this.#word('null', null);
    return this.#fail('unexpected_character', this.#at);
  }

  #word(word: string, value: boolean | null): boolean | null | undefined {
    if (this.#text.startsWith(word, this.#at)) {
      this.#at += word.length;
      return value;
    }
    let at = this.#at;
    while (this.#text.charCodeAt(at) === word.charCodeAt(at - this.#at)) at += 1;
    return this.#fail('unexpected_character', at);
  }

  #object(): Json | undefined {
    if (this.depth >= this.#depthMax) return this.#fail('too_deep', this.#at);
    this.depth += 1;
    const level = this.depth - 1;
    this.#at += 1;
    const object: Record<string, Json> = {};
    let unit = this.#skip();
    if (unit === CLOSE_OBJECT) {
      this.#at += 1;
      this.depth = level;
      return object;
    }
    for (;;) {
      if (unit !== QUOTE) return this.#failOutside('unexpected_character');
      const keyAt = this.#at;
      const key = this.#string();
      if (key === undefined) {
        this.depth = level;
        return undefined;
      }
      this.path[level] = key;
      if (hasOwn.call(object, key)) return this.#fail('duplicate_key', keyAt);
      if (this.#skip() !== COLON) return this.#fail('unexpected_character', this.#at);
      this.#at += 1;
      const value = this.#value(this.#skip());
      if (value === undefined) return undefined;
      // A plain assignment would set the prototype.
      if (key === '__proto__') define(object, key, value);
      else object[key] = value;
      unit = this.#skip();
      if (unit === CLOSE_OBJECT) break;
      if (unit !== COMMA) return this.#failOutside('unexpected_character');
      this.#at += 1;
      unit = this.#skip();
    }
    this.#at += 1;
    this.depth = level;
    return object;
  }

  #array(): Json | undefined {
    if (this.depth >= this.#depthMax) return this.#fail('too_deep', this.#at);
    this.depth += 1;
    const level = this.depth - 1;
    this.#at += 1;
    const array: Json[] = [];
    let unit = this.#skip();
    if (unit === CLOSE_ARRAY) {
      this.#at += 1;
      this.depth = level;
      return array;
    }
    for (;;) {
      this.path[level] = array.length;
      const value = this.#value(unit);
      if (value === undefined) return undefined;
      array.push(value);
      unit = this.#skip();
      if (unit === CLOSE_ARRAY) break;
      if (unit !== COMMA) return this.#failOutside('unexpected_character');
      this.#at += 1;
      unit = this.#skip();
    }
    this.#at += 1;
    this.depth = level;
    return array;
  }

  /** A string whose opening quote stands at the present place; without escapes it is a slice of the text. */
  #string(): string | undefined {
    const text = this.#text;
    const start = this.#at + 1;
    for (let at = start; ; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) {
        this.#at = at + 1;
        return text.slice(start, at);
      }
      if (unit === BACKSLASH) return this.#escapedString(start, at);
      // The comparison is false for NaN, which stands for the end of the text.
      if (!(unit >= 0x20)) return this.#fail('control_character', at);
    }
  }

  #escapedString(start: number, firstEscape: number): string | undefined {
    const text = this.#text;
    let value = '';
    let copied = start;
    let at = firstEscape;
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) {
        this.#at = at + 1;
        return value + text.slice(copied, at);
      }
      if (!(unit >= 0x20)) return this.#fail('control_character', at);
      if (unit !== BACKSLASH) {
        at += 1;
        continue;
      }
      if (copied < at) value += text.slice(copied, at);
      if (text.charCodeAt(at + 1) === LOWER_U) {
        const first = this.#hex(at);
        if (first === undefined) return undefined;
        value += String.fromCharCode(first);
        if ((first & 0xf800) === 0xd800) {
          const second = this.#lowSurrogate(first, at);
          if (second === undefined) return undefined;
          value += String.fromCharCode(second);
          at += 6;
        }
        at += 6;
      } else {
        const meaning = ESCAPES[text.charAt(at + 1)];
        if (meaning === undefined) return this.#fail('invalid_escape', at + 1);
        value += meaning;
        at += 2;
      }
      copied = at;
    }
  }

  /** The four digits of the `\u` escape at `at`. */
  #hex(at: number): number | undefined {
    let value = 0;
    for (let digitAt = at + 2; digitAt < at + 6; digitAt += 1) {
      const unit = this.#text.charCodeAt(digitAt);
      const letter = unit | 0x20;
      if (unit >= ZERO && unit <= NINE) value = value * 16 + (unit - ZERO);
      else if (letter >= 0x61 && letter <= 0x66) value = value * 16 + (letter - 0x57);
      else return this.#fail('invalid_escape', digitAt);
    }
    return value;
  }

  /** The second half of the pair whose first half is escaped at `at`. */
  #lowSurrogate(first: number, at: number): number | undefined {
    const isPair = first < 0xdc00 && this.#text.charCodeAt(at + 6) === BACKSLASH;
    if (!isPair || this.#text.charCodeAt(at + 7) !== LOWER_U) return this.#fail('lone_surrogate', at);
    const second = this.#hex(at + 6);
    if (second === undefined) return undefined;
    return (second & 0xfc00) === 0xdc00 ? second : this.#fail('lone_surrogate', at);
  }

  #number(): number | undefined {
    const text = this.#text;
    const start = this.#at;
    const isNegative = text.charCodeAt(start) === MINUS;
    const first = isNegative ? start + 1 : start;
    let at = first;
    let value = 0;
    let unit = text.charCodeAt(at);
    while (unit >= ZERO && unit <= NINE) {
      value = value * 10 + (unit - ZERO);
      at += 1;
      unit = text.charCodeAt(at);
    }
    if (at === first) return this.#fail('number_syntax', at);
    if (at - first > 1 && text.charCodeAt(first) === ZERO) return this.#fail('number_syntax', first + 1);
    if (unit === POINT || (unit | 0x20) === 0x65) return this.#double(start, at);
    // Up to 15 digits the sum above is exact; beyond, it only has to tell whether the literal is too large.
    if (at - first > SAFE_DIGITS && !(Number(text.slice(first, Math.min(at, first + 17))) <= Number.MAX_SAFE_INTEGER)) {
      return this.#fail('number_too_large', start);
    }
    if (isNegative && value === 0 && this.#integersOnly) return this.#fail('number_not_integer', start);
    this.#at = at;
    return isNegative ? -value : value;
  }

  /** A number with a fraction or an exponent, which begins at `at`. */
  #double(start: number, at: number): number | undefined {
    if (this.#integersOnly) return this.#fail('number_not_integer', start);
    const text = this.#text;
    let end = at;
    if (text.charCodeAt(end) === POINT) {
      const digits = this.#digits(end + 1);
      if (digits === undefined) return undefined;
      end = digits;
    }
    const mantissaEnd = end;
    if ((text.charCodeAt(end) | 0x20) === 0x65) {
      const sign = text.charCodeAt(end + 1);
      const digits = this.#digits(sign === 0x2b || sign === MINUS ? end + 2 : end + 1);
      if (digits === undefined) return undefined;
      end = digits;
    }
    const value = Number(text.slice(start, end));
    if (value === Infinity || value === -Infinity) return this.#fail('number_overflow', start);
    if (value === 0 && /[1-9]/.test(text.slice(start, mantissaEnd))) return this.#fail('number_underflow', start);
    this.#at = end;
    return value;
  }

  /** The offset behind one digit or more, which begin at `at`. */
  #digits(at: number): number | undefined {
    let end = at;
    for (let unit = this.#text.charCodeAt(end); unit >= ZERO && unit <= NINE; unit = this.#text.charCodeAt(end))
      end += 1;
    return end === at ? this.#fail('number_syntax', at) : end;
  }
}

function define(object: object, key: string, value: Json): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
