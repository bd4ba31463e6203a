/**
 * A software key: an Ed25519 seed in a file that a passphrase encrypts (scrypt, N = 2^17, r = 8, p = 1, then
 * AES-256-GCM).
 * It promises that a file opens under its own passphrase alone and that a changed byte is noticed. Pure: the file's
 * text goes in and out, salt, IV and seed are arguments.
 */

import * as z from 'zod';
import {
  admitKey,
  base64urlDecode,
  base64urlEncode,
  bytesToHex,
  canonicalize,
  deriveKey,
  Fault,
  hexToBytes,
  importPrivateKey,
  type PrivateKey,
  publicKeyBytes,
  Refusal,
  readJson,
  seal,
  unseal,
} from '../core/index.js';

const SCRYPT_LOG_N = 17;

const KeyFile = z.strictObject({
  format: z.literal('countersign-key/1'),
  person: z.string().regex(/^human:[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
  public_key: z.string().regex(/^[0-9a-f]{64}$/),
  kdf: z.strictObject({ name: z.literal('scrypt'), log_n: z.int().min(14).max(20), salt: z.string() }),
  iv: z.string(),
  sealed: z.string(),
});

export interface UnlockedKey {
  readonly person: string;
  readonly publicKey: string;
  readonly privateKey: PrivateKey;
}

/** The associated data of the encryption: a file whose person or public key was changed does not open. */
function associated(person: string, publicKey: string): string {
  return `countersign-key/1 ${person} ${publicKey}`;
}

/** Encrypts a 32-byte seed. `salt` has 16 random bytes, `iv` 12. */
export async function lockKey(
  person: string,
  passphrase: string,
  random: { readonly seed: Uint8Array; readonly salt: Uint8Array; readonly iv: Uint8Array },
): Promise<{ text: string; publicKey: string }> {
  if (passphrase.length < 8) throw new Refusal('invalid', 'the passphrase has fewer than 8 characters');
  const privateKey = importPrivateKey(random.seed);
  const key = await deriveKey(passphrase, random.salt, SCRYPT_LOG_N);
  if (privateKey === undefined || key === undefined) throw new Fault('internal', 'the key could not be made');
  const publicKey = bytesToHex(publicKeyBytes(privateKey));
  const file = {
    format: 'countersign-key/1',
    person,
    public_key: publicKey,
    kdf: { name: 'scrypt', log_n: SCRYPT_LOG_N, salt: base64urlEncode(random.salt) },
    iv: base64urlEncode(random.iv),
    sealed: base64urlEncode(seal(key, random.iv, random.seed, associated(person, publicKey))),
  };
  return { text: `${canonicalize(file)}\n`, publicKey };
}

/** Whose key a file holds, without opening it. Refuses `format`. */
export function readKeyFile(text: string): { person: string; publicKey: string } {
  const file = parseKeyFile(text);
  return { person: file.person, publicKey: file.public_key };
}

function parseKeyFile(text: string): z.infer<typeof KeyFile> {
  const json = readJson(text.trimEnd(), { bytesMax: 65_536 });
  const parsed = KeyFile.safeParse(json.ok ? json.value : undefined);
  if (!parsed.success) throw noKeyFile();
  return parsed.data;
}

function noKeyFile(): Refusal {
  const next = 'put your copy of the key file back; where every key is lost: `countersign approver recover NAME`';
  return new Refusal('format', 'this is no key file, or a damaged one', { next });
}

/** Opens a key file. Refuses `format` for another file and `forbidden` for another passphrase or a changed file. */
export async function unlockKey(text: string, passphrase: string): Promise<UnlockedKey> {
  const file = parseKeyFile(text);
  const [salt, iv, sealed] = [file.kdf.salt, file.iv, file.sealed].map(base64urlDecode);
  const publicBytes = hexToBytes(file.public_key);
  if (!salt || !iv || !sealed || !publicBytes) throw noKeyFile();
  if (admitKey(publicBytes) === undefined) throw new Refusal('unknown_authenticator', 'the key file holds a weak key');
  const key = await deriveKey(passphrase, salt, file.kdf.log_n);
  const seed = key && unseal(key, iv, sealed, associated(file.person, file.public_key));
  const privateKey = seed && importPrivateKey(seed);
  if (!privateKey) throw new Refusal('forbidden', 'the passphrase does not open this key', { next: 'type it again' });
  if (bytesToHex(publicKeyBytes(privateKey)) !== file.public_key) throw noKeyFile();
  return { person: file.person, publicKey: file.public_key, privateKey };
}
