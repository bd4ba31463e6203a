/**
 * The primitives of `node:crypto` that the product stands on, and nothing else: hash, HMAC, Ed25519, scrypt, AES-GCM.
 * Salts, IVs and seeds are arguments: nothing here is random. Nothing here throws on hostile input: it answers
 * `undefined` or `false`. Keys are `PublicKey`/`PrivateKey` handles, imported once and kept, because importing an SPKI
 * costs as much as a verification.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPrivateKey,
  createPublicKey,
  hash,
  type KeyObject,
  scrypt,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';

declare const brand: unique symbol;

/**
 * An imported Ed25519 public key: opaque, so that folders without Node's types hold it as safely as those with them.
 */
export interface PublicKey {
  readonly [brand]: 'ed25519-public';
}
/** An imported Ed25519 private key. */
export interface PrivateKey {
  readonly [brand]: 'ed25519-private';
}

function publicHandle(key: KeyObject): PublicKey {
  return key as unknown as PublicKey;
}
function privateHandle(key: KeyObject): PrivateKey {
  return key as unknown as PrivateKey;
}
function keyObject(key: PublicKey | PrivateKey): KeyObject {
  return key as unknown as KeyObject;
}

/** SHA-256 of bytes, or of a string's UTF-8, as 64 lower-case hex digits. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** SHA-256 as 32 bytes. */
export function sha256(data: string | Uint8Array): Uint8Array {
  return hash('sha256', data, 'buffer');
}

/** HMAC-SHA-256 of a string's UTF-8, as 32 bytes. */
export function hmacSha256(key: Uint8Array, text: string): Uint8Array {
  return createHmac('sha256', key).update(text, 'utf8').digest();
}

/** Compares two byte strings without telling where they differ. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Imports 32 raw bytes as an Ed25519 public key. It does not check the point: see `admitKey` of core. */
export function importPublicKey(raw: Uint8Array): PublicKey | undefined {
  if (raw.length !== 32) return undefined;
  try {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(raw).toString('base64url') };
    return publicHandle(createPublicKey({ key: jwk, format: 'jwk' }));
  } catch {
    return undefined;
  }
}

/** Whether two 32-byte coordinates are a point of P-256: each below the field's prime, together on the curve. */
export function isP256Point(x: Uint8Array, y: Uint8Array): boolean {
  if (x.length !== 32 || y.length !== 32) return false;
  try {
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
    createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: text(x), y: text(y) }, format: 'jwk' });
    return true;
  } catch {
    return false;
  }
}

const PKCS8_PREFIX = Uint8Array.from(Buffer.from('302e020100300506032b657004220420', 'hex'));

/** Imports a 32-byte Ed25519 seed as a private key. */
export function importPrivateKey(seed: Uint8Array): PrivateKey | undefined {
  if (seed.length !== 32) return undefined;
  try {
    const der = Buffer.concat([PKCS8_PREFIX, seed]);
    return privateHandle(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  } catch {
    return undefined;
  }
}

/** Reads a PKCS#8 PEM that holds an Ed25519 private key. */
export function importPrivateKeyPem(pem: string): PrivateKey | undefined {
  try {
    const key = createPrivateKey({ key: pem, format: 'pem' });
    return key.asymmetricKeyType === 'ed25519' ? privateHandle(key) : undefined;
  } catch {
    return undefined;
  }
}

/** The 32 raw bytes of the public half of either key. */
export function publicKeyBytes(key: PublicKey | PrivateKey): Uint8Array {
  const object = keyObject(key);
  const half = object.type === 'private' ? createPublicKey(object) : object;
  return Uint8Array.from(Buffer.from(half.export({ format: 'jwk' }).x ?? '', 'base64url'));
}

/** Pure Ed25519 signature, 64 bytes. */
export function signBytes(key: PrivateKey, data: Uint8Array): Uint8Array {
  return sign(null, data, keyObject(key));
}

/** Pure Ed25519 verification on the calling thread. */
export function verifyBytes(key: PublicKey, data: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64) return false;
  try {
    return verify(null, data, keyObject(key), signature);
  } catch {
    return false;
  }
}

/** Pure Ed25519 verification in the thread pool. */
export function verifyBytesAsync(key: PublicKey, data: Uint8Array, signature: Uint8Array): Promise<boolean> {
  if (signature.length !== 64) return Promise.resolve(false);
  return new Promise((resolve) => {
    verify(null, data, keyObject(key), signature, (error, good) => resolve(error === null && good));
  });
}

/** scrypt with N = 2^`logN`, r = 8, p = 1: 32 bytes. Takes about 128 * 8 * 2^logN bytes of memory. */
export function deriveKey(passphrase: string, salt: Uint8Array, logN: number): Promise<Uint8Array | undefined> {
  const N = 2 ** logN;
  return new Promise((resolve) => {
    scrypt(passphrase.normalize('NFC'), salt, 32, { N, r: 8, p: 1, maxmem: 256 * N * 8 }, (error, key) =>
      resolve(error === null ? key : undefined),
    );
  });
}

/** AES-256-GCM: ciphertext followed by the 16-byte tag. The IV has 12 bytes and must never repeat under one key. */
export function seal(key: Uint8Array, iv: Uint8Array, plain: Uint8Array, aad: string): Uint8Array {
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  cipher.setAAD(Buffer.from(aad, 'utf8'));
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** The reverse of `seal`; `undefined` when the key, the IV, the text or the associated data is another one. */
export function unseal(key: Uint8Array, iv: Uint8Array, sealed: Uint8Array, aad: string): Uint8Array | undefined {
  if (key.length !== 32 || iv.length !== 12 || sealed.length < 16) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, iv);
    decipher.setAAD(Buffer.from(aad, 'utf8'));
    decipher.setAuthTag(sealed.subarray(sealed.length - 16));
    return Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - 16)), decipher.final()]);
  } catch {
    return undefined;
  }
}
