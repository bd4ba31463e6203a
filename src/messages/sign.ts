/**
 * Signatures of messages: pure Ed25519 over the canonical bytes with the signer set and the signature absent.
 *
 * A good signature proves possession of the key that stands in the message; whose key that is, `isTrusted` is told. A
 * message without signature is `unsigned` and never good, whatever else it says, and no field chooses how it is
 * verified. Keys that verify forged signatures (of small order, with torsion, oddly spelled) are refused before they
 * are used.
 * Source: spec messages (sign, verify); reliability T8, T9.
 */
import {
  admitKey,
  assert,
  bytesToHex,
  hexToBytes,
  LIMITS,
  type PrivateKey,
  type PublicKey,
  publicKeyBytes,
  signBytes,
  utf8Encode,
  verifyBytes,
} from '../core/index.js';
import { signedText, withSignature } from './canonical.js';
import { type Message, UNKNOWN_FIELDS } from './schema.js';
import { validateMessage } from './validate.js';

/** What is known of a message's signature. Only `good` says that the signer wrote it. */
export type SignatureVerdict = 'good' | 'unsigned' | 'bad_signature' | 'unverifiable_unknown_fields';

/** A private key with the public half as messages spell it, worked out once. */
export interface Signer {
  readonly key: PrivateKey;
  /** 64 lower-case hex digits. */
  readonly name: string;
}

export function signerOf(key: PrivateKey): Signer {
  return { key, name: bytesToHex(publicKeyBytes(key)) };
}

/** The message signed by `key`; a signature that it had is replaced. Refuses `invalid` when the unsigned form is. */
export function signMessage(key: PrivateKey, message: Message): Message {
  const { signer: _, signature: __, [UNKNOWN_FIELDS]: ___, ...unsigned } = message;
  const refusal = validateMessage(unsigned);
  if (refusal !== undefined) throw refusal;
  const { name } = signerOf(key);
  return { ...unsigned, signer: name, signature: signatureOf(key, signedText(unsigned, name)) };
}

/** The canonical text of `message`, signed. For messages that we make ourselves: it is not validated. */
export function signedCanonical(signer: Signer, message: Message): string {
  const text = signedText(message, signer.name);
  return withSignature(text, signatureOf(signer.key, text));
}

function signatureOf(key: PrivateKey, text: string): string {
  const bytes = utf8Encode(text);
  assert(bytes !== undefined, 'canonical text is well-formed');
  return bytesToHex(signBytes(key, bytes));
}

/** Public keys by their hex digits, each admitted once: the check of a key costs more than that of a signature. */
export class AdmittedKeys {
  readonly #keys = new Map<string, PublicKey | undefined>();

  /** The key of 64 lower-case hex digits; undefined for anything else and for a key that must not be trusted. */
  get(hex: string): PublicKey | undefined {
    if (this.#keys.has(hex)) return this.#keys.get(hex);
    const raw = hexToBytes(hex);
    const key = raw === undefined ? undefined : admitKey(raw);
    if (this.#keys.size >= LIMITS.cachedRecordsMax) this.#keys.clear();
    this.#keys.set(hex, key);
    return key;
  }
}

/**
 * Checks the signature against the key in the message. A message that is not valid has no good signature. It never
 * throws. `admitted` spares a caller with many messages the check of the same keys.
 */
export function verifySignature(message: Message, admitted: AdmittedKeys = new AdmittedKeys()): SignatureVerdict {
  const { signer, signature } = message;
  if (!signer && !signature) return 'unsigned';
  if (!signer || !signature || validateMessage(message) !== undefined) return 'bad_signature';
  const key = admitted.get(signer);
  const proof = hexToBytes(signature);
  const bytes = utf8Encode(signedText(message, signer));
  if (key === undefined || proof === undefined || bytes === undefined) return 'bad_signature';
  if (verifyBytes(key, bytes, proof)) return 'good';
  return message[UNKNOWN_FIELDS] === true ? 'unverifiable_unknown_fields' : 'bad_signature';
}

/** Whether the message has a good signature by one of `keys`, each 64 lower-case hex digits. */
export function isTrusted(message: Message, keys: Iterable<string>): boolean {
  const trusted: ReadonlySet<string> = keys instanceof Set ? keys : new Set(keys);
  return message.signer !== undefined && trusted.has(message.signer) && verifySignature(message) === 'good';
}
