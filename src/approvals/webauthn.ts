/**
 * Verifies the gesture of a passkey: our own checks first, then a library that makes the protocol's own and verifies
 * the signature. The library loads with the first receipt that needs it.
 * Hostile input yields a verdict, never an exception.
 * Source: spec authority (request and receipt).
 */
import { base64urlEncode, Fault, hexToBytes, Refusal } from '../core/index.js';
import { type Passkey, passkeyAlgorithm } from '../identity/index.js';
import { checkGesture, type WebauthnSettings } from './client-data.js';
import { type PasskeyReceipt, signedBytes } from './schema.js';

type Library = typeof import('@simplewebauthn/server');

/** Undefined where the gesture is good, else the first check that fails. */
export async function verifyPasskey(
  receipt: PasskeyReceipt,
  key: Passkey,
  settings: WebauthnSettings,
): Promise<Refusal | undefined> {
  // INVARIANT: the algorithm is the registered key's, and the key is looked at again (receipts.webauthn.keys).
  if (passkeyAlgorithm(key.public_key) === undefined) {
    return new Refusal('unknown_authenticator', 'the registered key is not a valid one');
  }
  const challenge = signedBytes(receipt);
  const wrong = checkGesture(receipt, challenge, settings);
  if (wrong !== undefined || challenge === undefined) return wrong;
  const isGood = await isSigned(await loadLibrary(), receipt, key, challenge, settings);
  return isGood ? undefined : new Refusal('bad_signature', 'the signature does not verify');
}

async function loadLibrary(): Promise<Library> {
  try {
    return await import('@simplewebauthn/server');
  } catch (error) {
    throw new Fault('internal', 'the library that verifies passkeys could not be loaded', error);
  }
}

async function isSigned(
  library: Library,
  { proof }: PasskeyReceipt,
  key: Passkey,
  challenge: Uint8Array,
  settings: WebauthnSettings,
): Promise<boolean> {
  const { credential: id } = key;
  const { client_data: clientDataJSON, authenticator_data: authenticatorData, signature } = proof;
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
