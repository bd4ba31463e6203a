/** People whose keys are at hand: a key file that a ceremony reads, and that costs nothing to make because nobody opens it. */
import { bytesToHex, canonicalize, importPrivateKey, publicKeyBytes } from '../../src/core/index.js';
import type { UnlockedKey } from '../../src/identity/index.js';

export interface Person {
  readonly key: UnlockedKey;
  readonly keyText: string;
}

export function personWithKey(person: string, seedByte: number): Person {
  const privateKey = importPrivateKey(new Uint8Array(32).fill(seedByte));
  if (privateKey === undefined) throw new Error('no key');
  const publicKey = bytesToHex(publicKeyBytes(privateKey));
  return { key: { person, publicKey, privateKey }, keyText: keyFileFor(person, publicKey) };
}

/** The file of a public key, as `readKeyFile` reads it. */
export function keyFileFor(person: string, publicKey: string): string {
  const kdf = { name: 'scrypt', log_n: 17, salt: 'AAAA' };
  const file = { format: 'countersign-key/1', person, public_key: publicKey, kdf, iv: 'AAAA', sealed: 'AAAA' };
  return `${canonicalize(file)}\n`;
}

export const ALICE = personWithKey('human:alice', 1);
export const BOB = personWithKey('human:bob', 2);
