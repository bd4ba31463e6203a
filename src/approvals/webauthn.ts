/**
 * Verifies the gesture of a passkey: our own checks first, then a library that makes the protocol's own and verifies
 * the signature. The library loads with the first receipt that needs it.
 * Hostile input yields a verdict, never an exception.
 * Source: spec authority (request and receipt).
 */
import { base64urlDecode, base64urlEncode, Fault, hexToBytes, Refusal } from '../core/index.js';
import { type Passkey, type PasskeyAlgorithm, passkeyAlgorithm } from '../identity/index.js';
import { checkGesture, type WebauthnSettings } from './client-data.js';
import { type PasskeyReceipt, signedBytes } from './schema.js';

/** One use of a passkey. */
export type Gesture = Pick<PasskeyReceipt, 'proof'>;

type Library = typeof import('@simplewebauthn/server');

/**
 * Undefined where the gesture is good, else the first check that fails. `algorithm` is that of the key, where it was
 * looked at before.
 */
export async function verifyPasskey(
  receipt: PasskeyReceipt,
  key: Passkey,
  settings: WebauthnSettings,
  algorithm: PasskeyAlgorithm | undefined = passkeyAlgorithm(key.public_key),
): Promise<Refusal | undefined> {
  // INVARIANT: the algorithm is the registered key's, and the key is looked at again (receipts.webauthn.keys).
  if (algorithm === undefined) {
    return new Refusal('unknown_authenticator', 'the registered key is not a valid one');
  }
  return verifyGesture(receipt, signedBytes(receipt), key, settings, algorithm);
}

/** The same over any challenge; `challenge` is undefined where the receipt's own batch does not hold its request. */
export async function verifyGesture(
  gesture: Gesture,
  challenge: Uint8Array | undefined,
  key: Passkey,
  settings: WebauthnSettings,
  algorithm: PasskeyAlgorithm | undefined = passkeyAlgorithm(key.public_key),
): Promise<Refusal | undefined> {
  const wrong = checkGesture(gesture, challenge, settings);
  if (wrong !== undefined || challenge === undefined) return wrong;
  const isSpelled = algorithm === 'EdDSA' || isDerSignature(gesture.proof.signature);
  const isGood = isSpelled && (await isSigned(gesture, key, challenge, settings));
  return isGood ? undefined : new Refusal('bad_signature', 'the signature does not verify');
}

/**
 * Whether an ES256 signature is spelled as DER demands: two positive integers of minimal length, and nothing behind
 * them. The library reads over what is more.
 */
export function isDerSignature(text: string): boolean {
  const [tag, length, ...body] = base64urlDecode(text) ?? [];
  const behindR = tag === 0x30 && length === body.length ? behindInteger(body) : undefined;
  return behindR !== undefined && behindInteger(behindR)?.length === 0;
}

/** What stands behind an integer of P-256; undefined where there is none. */
function behindInteger([tag, length = 0, first = 0, ...rest]: readonly number[]): readonly number[] | undefined {
  const isMinimal = first !== 0 || length === 1 || (rest[0] ?? 0) >= 0x80;
  const fits = length >= 1 && length <= 33 && rest.length >= length - 1;
  return tag === 0x02 && first < 0x80 && isMinimal && fits ? rest.slice(length - 1) : undefined;
}

async function loadLibrary(): Promise<Library> {
  try {
    return await import('@simplewebauthn/server');
  } catch (error) {
    throw new Fault('internal', 'the library that verifies passkeys could not be loaded', error);
  }
}

/** Whether the library says so. */
export async function isSigned(
  { proof }: Gesture,
  key: Passkey,
  challenge: Uint8Array,
  settings: WebauthnSettings,
): Promise<boolean> {
  const { credential: id } = key;
  const { client_data: clientDataJSON, authenticator_data: authenticatorData, signature } = proof;
  const library = await loadLibrary();
  try {
    const { verified } = await library.verifyAuthenticationResponse({
      response: {
        ...{ id, rawId: id, type: 'public-key', clientExtensionResults: {} },
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: base64urlEncode(challenge),
      expectedOrigin: settings.origins,
      expectedRPID: settings.rp_id,
      requireUserVerification: true,
      credential: { id, publicKey: Uint8Array.from(hexToBytes(key.public_key) ?? []), counter: 0 },
    });
    return verified;
  } catch {
    // The library throws for what it refuses, and for a signature that is none: there is nothing else it could mean.
    return false;
  }
}
