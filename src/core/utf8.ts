/**
 * Bytes and their spellings: UTF-8, hex, base64url. All strict: what would decode to the same bytes as another spelling
 * is no spelling here. Nothing throws on hostile input: it answers `undefined`.
 * Source: spec core (strict JSON in, digests).
 */
interface Decoder {
  decode(bytes: Uint8Array): string;
}
interface Encoder {
  encode(text: string): Uint8Array;
}
// The standard globals are named here by hand, because pure folders compile without the types of any platform.
const platform = globalThis as unknown as {
  readonly TextDecoder: new (label: 'utf-8', options: { fatal: true; ignoreBOM: true }) => Decoder;
  readonly TextEncoder: new () => Encoder;
};
const decoder = new platform.TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new platform.TextEncoder();

/** Whether `text` holds no lone surrogate, so that it has a UTF-8 form. */
export function isWellFormed(text: string): boolean {
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}

/** The UTF-8 bytes of `text`; `undefined` when it holds a lone surrogate, which has none. */
export function utf8Encode(text: string): Uint8Array | undefined {
  return isWellFormed(text) ? encoder.encode(text) : undefined;
}

/** The text of UTF-8 bytes, a byte order mark kept as U+FEFF; `undefined` when they are not UTF-8. */
export function utf8Decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** How many bytes `text` has in UTF-8; a lone surrogate counts as the three bytes that stand in for it. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    if (unit < 0x800) length += 1;
    else if ((unit & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      length += 2;
      at += 1;
    } else length += 2;
  }
  return length;
}

/** How many bytes at the start of `bytes` are whole, valid UTF-8 characters. */
export function utf8ValidPrefix(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const size = utf8CharacterSize(bytes, at);
    if (size === 0) return at;
    at += size;
  }
  return at;
}

/** Bytes of the character that starts at `at`; 0 when it is none: table 3-7 of the Unicode standard. */
function utf8CharacterSize(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  const second = bytes[at + 1] ?? 0;
  if (second < lowest || second > highest) return 0;
  for (let next = at + 2; next < at + size; next += 1) {
    if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return size;
}

const HEX = '0123456789abcdef';

/** Lower-case hex digits, two for each byte. */
export function bytesToHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX.charAt(byte >> 4) + HEX.charAt(byte & 15);
  return text;
}

/** The bytes of lower-case hex digits; `undefined` for an odd count, upper case or anything else. */
export function hexToBytes(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at += 1) {
    const high = HEX.indexOf(text.charAt(at * 2));
    const low = HEX.indexOf(text.charAt(at * 2 + 1));
    if (high < 0 || low < 0) return undefined;
    bytes[at] = high * 16 + low;
  }
  return bytes;
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** RFC 4648 base64url without padding. */
export function base64urlEncode(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += BASE64URL.charAt((held >> bits) & 63);
    }
  }
  if (bits > 0) text += BASE64URL.charAt((held << (6 - bits)) & 63);
  return text;
}

/**
 * The bytes of base64url without padding; `undefined` for padding, other characters, a length that no bytes have, and
 * non-zero bits behind the last byte, so that each byte string has exactly one spelling.
 */
export function base64urlDecode(text: string): Uint8Array | undefined {
  if (text.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((text.length * 6) / 8));
  let held = 0;
  let bits = 0;
  let at = 0;
  for (let index = 0; index < text.length; index += 1) {
    const sextet = BASE64URL.indexOf(text.charAt(index));
    if (sextet < 0) return undefined;
    held = ((held << 6) | sextet) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at] = (held >> bits) & 0xff;
      at += 1;
    }
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}
