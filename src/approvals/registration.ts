/**
 * The registration of a passkey: what a browser and an authenticator say when one is made. A library makes the
 * protocol's checks; ours come first and last. No attestation is asked for: the code that people compare says whose it
 * is.
 * Hostile input yields a verdict, never an exception.
 * Source: spec authority (approvers and keys).
 */
import { base64urlEncode, bytesToHex, Fault, Refusal } from '../core/index.js';
import { passkeyAlgorithm } from '../identity/index.js';
import type { WebauthnSettings } from './client-data.js';

export interface Registration {
  /** Base64url, as the browser has them. */
  readonly attestation_object: string;
  readonly client_data: string;
  readonly credential: string;
}

export interface RegisteredPasskey {
  readonly public_key: string;
  readonly credential: string;
}

/** The passkey that was made over a challenge. Refuses `client_data` for what is no registration here. */
export async function readRegistration(
  registration: Registration,
  challenge: Uint8Array,
  settings: WebauthnSettings,
): Promise<RegisteredPasskey | Refusal> {
  const { attestation_object, client_data, credential } = registration;
  const library = await import('@simplewebauthn/server').catch((error: unknown) => {
    throw new Fault('internal', 'the library that verifies passkeys could not be loaded', error);
  });
  try {
    const { verified, registrationInfo } = await library.verifyRegistrationResponse({
      response: {
        ...{ id: credential, rawId: credential, type: 'public-key', clientExtensionResults: {} },
        response: { clientDataJSON: client_data, attestationObject: attestation_object },
      },
      expectedChallenge: base64urlEncode(challenge),
      expectedOrigin: settings.origins,
      expectedRPID: settings.rp_id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [-7, -8],
    });
    const found = registrationInfo?.credential;
    if (!verified || found === undefined || found.id !== credential) return refused();
    const public_key = bytesToHex(found.publicKey);
    if (passkeyAlgorithm(public_key) === undefined) return refused();
    return { public_key, credential };
  } catch {
    return refused();
  }
}

function refused(): Refusal {
  return new Refusal('client_data', 'this is no passkey that was made on this page');
}
