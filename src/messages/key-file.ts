/**
 * The file of a key that signs messages: 128 hex digits, the seed and behind it the public half; or a PKCS#8 PEM.
 *
 * It promises that a file whose halves do not belong together is refused, because a seed that signs for another public
 * key gives itself away. Pure: texts go in and out; who writes a file gives it mode 0600.
 * Source: spec messages (sign, verify, thread).
 */
import {
  assert,
  bytesToHex,
  hexToBytes,
  importPrivateKey,
  importPrivateKeyPem,
  type PrivateKey,
  publicKeyBytes,
  Refusal,
} from '../core/index.js';

const SEED_HEX_CHARS = 64;
/** A PEM of one Ed25519 key has about 120 characters. */
const FILE_CHARS_MAX = 4_096;

/** The text of a key file for a seed of 32 bytes. */
export function formatThreadKey(seed: Uint8Array): string {
  const key = importPrivateKey(seed);
  assert(key !== undefined, 'a seed has 32 bytes');
  return `${bytesToHex(seed)}${bytesToHex(publicKeyBytes(key))}\n`;
}

/** The key of a file's text. Refuses `format` for another text, and for a public half that is not the seed's. */
export function readThreadKey(text: string): PrivateKey {
  if (text.length > FILE_CHARS_MAX) throw new Refusal('format', NO_KEY);
  if (text.startsWith('-----BEGIN PRIVATE KEY-----')) {
    const key = importPrivateKeyPem(text);
    if (key === undefined) throw new Refusal('format', NO_KEY);
    return key;
  }
  const bytes = hexToBytes(text.replace(/\r?\n$/, ''));
  if (bytes?.length !== SEED_HEX_CHARS) throw new Refusal('format', NO_KEY);
  const key = importPrivateKey(bytes.subarray(0, SEED_HEX_CHARS / 2));
  assert(key !== undefined, 'a seed has 32 bytes');
  if (bytesToHex(publicKeyBytes(key)) !== bytesToHex(bytes.subarray(SEED_HEX_CHARS / 2))) {
    throw new Refusal('format', 'the public half of the key file does not belong to its seed');
  }
  return key;
}

const NO_KEY = 'this is no key file: 128 lower-case hex digits, or a PKCS#8 PEM of an Ed25519 key';
