/**
 * Verifies the proofs of receipts, by the method of the registered key, and each only once: a proof over the same bytes
 * by the same key is as good a moment later. The memory of it is bounded; whether the key may still sign is asked anew
 * every time.
 */
import {
  admitKey,
  base64urlDecode,
  canonicalize,
  hexToBytes,
  type Json,
  LIMITS,
  type PublicKey,
  Refusal,
  sha256Hex,
  verifyBytesAsync,
} from '../core/index.js';
import { type KeyState, type PasskeyAlgorithm, passkeyAlgorithm, type SoftwareKey } from '../identity/index.js';
import type { WebauthnSettings } from './client-data.js';
import { type Receipt, type SoftwareReceipt, signedBytes } from './schema.js';
import { verifyPasskey } from './webauthn.js';

export class ProofVerifier {
  readonly #keys = new Map<string, PublicKey>();
  readonly #passkeys = new Map<string, PasskeyAlgorithm>();
  readonly #good = new Set<string>();

  /** Undefined when the proof is good, else the first check that fails. Without `webauthn` no passkey counts. */
  async verify(receipt: Receipt, key: KeyState, webauthn?: WebauthnSettings): Promise<Refusal | undefined> {
    if (receipt.method === 'ed25519' && key.method === 'ed25519') return this.#software(receipt, key);
    if (receipt.method !== 'webauthn' || key.method !== 'webauthn') {
      return new Refusal('unknown_authenticator', 'no key of this method is registered');
    }
    if (webauthn === undefined) return new Refusal('method_refused', 'the configuration names no page for passkeys');
    const name = sha256Hex(canonicalize([receipt as Json, key.public_key, webauthn]));
    if (this.#good.has(name)) return undefined;
    const wrong = await verifyPasskey(receipt, key, webauthn, this.#algorithm(key.public_key));
    if (wrong === undefined) this.#remember(name);
    return wrong;
  }

  async #software(receipt: SoftwareReceipt, key: SoftwareKey): Promise<Refusal | undefined> {
    const challenge = signedBytes(receipt);
    if (challenge === undefined) return new Refusal('challenge_mismatch', 'the batch does not hold this request');
    const signature = base64urlDecode(receipt.proof.signature);
    if (signature === undefined) return new Refusal('bad_signature', 'the signature does not verify');
    const name = `${key.public_key} ${Buffer.from(challenge).toString('latin1')} ${receipt.proof.signature}`;
    if (this.#good.has(name)) return undefined;
    const publicKey = this.#key(key.public_key);
    if (publicKey === undefined) return new Refusal('unknown_authenticator', 'the registered key is not a valid one');
    if (!(await verifyBytesAsync(publicKey, challenge, signature))) {
      return new Refusal('bad_signature', 'the signature does not verify');
    }
    this.#remember(name);
    return undefined;
  }

  /** Whether a key is sound is looked at once for each process: it costs as much as many signatures. */
  #algorithm(hex: string): PasskeyAlgorithm | undefined {
    const known = this.#passkeys.get(hex);
    if (known !== undefined) return known;
    const algorithm = passkeyAlgorithm(hex);
    if (algorithm === undefined) return undefined;
    if (this.#passkeys.size >= LIMITS.cachedRecordsMax) this.#passkeys.clear();
    this.#passkeys.set(hex, algorithm);
    return algorithm;
  }

  #remember(name: string): void {
    if (this.#good.size >= LIMITS.cachedRecordsMax) this.#good.clear();
    this.#good.add(name);
  }

  #key(hex: string): PublicKey | undefined {
    const known = this.#keys.get(hex);
    if (known !== undefined) return known;
    const raw = hexToBytes(hex);
    const key = raw === undefined ? undefined : admitKey(raw);
    if (key === undefined) return undefined;
    if (this.#keys.size >= LIMITS.cachedRecordsMax) this.#keys.clear();
    this.#keys.set(hex, key);
    return key;
  }
}
