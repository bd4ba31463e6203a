/** The file of a key that signs messages. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import { ownVector } from '../../vectors/read.js';
import { bytesToHex, Refusal } from '../core/index.js';
import { formatThreadKey, readThreadKey } from './key-file.js';
import { signerOf } from './sign.js';

interface KeyFiles {
  readonly cases: readonly { readonly text: string; readonly signer: string | null }[];
}

const isFormat = (error: unknown) => error instanceof Refusal && error.code === 'format';

test('a key file is 128 hex digits whose halves belong together, and nothing else', () => {
  verifies('messages.key-file');
  for (const { text, signer } of ownVector<KeyFiles>('messages/key-file.json').cases) {
    if (signer === null) assert.throws(() => readThreadKey(text), isFormat, text);
    else assert.equal(signerOf(readThreadKey(text)).name, signer);
  }
});

test('a written key file is read back, and no changed one is', () => {
  verifies('messages.key-file');
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.nat(127),
      fc.integer({ min: 1, max: 15 }),
      (seed, at, by) => {
        const text = formatThreadKey(seed);
        assert.match(text, /^[0-9a-f]{128}\n$/);
        assert.ok(text.startsWith(bytesToHex(seed)));
        assert.equal(signerOf(readThreadKey(text)).name, text.slice(64, 128));
        const digit = (Number.parseInt(text.charAt(at), 16) ^ by).toString(16);
        assert.throws(() => readThreadKey(text.slice(0, at) + digit + text.slice(at + 1)), isFormat);
      },
    ),
  );
});

test('a PKCS#8 PEM of an Ed25519 key is read, and no other PEM', () => {
  verifies('messages.key-file');
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  const name = Buffer.from(publicKey.export({ format: 'jwk' }).x as string, 'base64url').toString('hex');
  assert.equal(signerOf(readThreadKey(pem)).name, name);
  const others = [
    publicKey.export({ format: 'pem', type: 'spki' }),
    privateKey.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' }),
    generateKeyPairSync('x25519').privateKey.export({ format: 'pem', type: 'pkcs8' }),
    generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' }),
    pem.slice(0, 60),
    pem.replace('PRIVATE KEY', 'OPENSSH PRIVATE KEY'),
    pem + ' '.repeat(5_000),
  ] as string[];
  for (const text of others) assert.throws(() => readThreadKey(text), isFormat, text);
});

test('a refusal of a key file holds nothing of it', () => {
  verifies('messages.key-file');
  const text = formatThreadKey(new Uint8Array(32).fill(9));
  for (const broken of [text.slice(1), `${text.slice(0, 64)}${'0'.repeat(64)}`]) {
    assert.throws(
      () => readThreadKey(broken),
      (error) =>
        error instanceof Refusal && !JSON.stringify([error.message, error.details]).includes(text.slice(8, 24)),
    );
  }
});
