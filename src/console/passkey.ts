/**
 * Passkeys: making one behind a link, signing in with one, and signing exactly one request of the gate. What is signed
 * is hashed here, from the request as it was shown; no server says what its challenge is.
 */
import { startAuthentication, startRegistration, type WebAuthnError } from '@simplewebauthn/browser';
import { type AnswerOf, batchText, challengeText, type JsonObject, Refusal } from '../api/index.js';
import { call, type Identity } from './gate.js';

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** A gesture that was not made, as a refusal that says so. */
function refusedBy(error: unknown): Refusal {
  const { name, code } = error as WebAuthnError;
  if (error instanceof Refusal) return error;
  if (name === 'NotAllowedError' || name === 'AbortError' || code === 'ERROR_CEREMONY_ABORTED') {
    return new Refusal('user_presence', 'nothing was signed: the passkey was not used', { next: 'try again' });
  }
  if (name === 'InvalidStateError') {
    return new Refusal('invitation', 'this device holds a passkey for this already', { next: 'use another device' });
  }
  return new Refusal('method_refused', 'this browser could not use a passkey here', { next: 'use another browser' });
}

async function gestureOver(challenge: string, rpId: string, credentials: readonly string[]) {
  try {
    const made = await startAuthentication({
      optionsJSON: {
        challenge,
        rpId,
        userVerification: 'required',
        allowCredentials: credentials.map((id) => ({ id, type: 'public-key' })),
        timeout: 120_000,
      },
    });
    const { authenticatorData, clientDataJSON, signature } = made.response;
    const proof = { authenticator_data: authenticatorData, client_data: clientDataJSON, signature };
    return { credential: made.id, proof };
  } catch (error) {
    throw refusedBy(error);
  }
}

export async function signIn(): Promise<AnswerOf<'signIn'>> {
  const { challenge, state, rp_id } = await call('signInOptions', {});
  const { credential, proof } = await gestureOver(challenge, rp_id, []);
  return call('signIn', { body: { state, credential, proof } });
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

/** What a receipt of whoever is signed in holds besides its request: one gesture over these 32 bytes. */
async function signedBy(me: Identity, challenge: Uint8Array): Promise<JsonObject> {
  if (me.rp_id === undefined || me.passkeys === undefined || me.passkeys.length === 0) {
    throw new Refusal('unknown_authenticator', 'you have no passkey to sign with', { next: 'ask for an invitation' });
  }
  const known = me.passkeys.map(({ credential }) => credential);
  const { credential, proof } = await gestureOver(base64url(challenge), me.rp_id, known);
  const key = me.passkeys.find((one) => one.credential === credential);
  if (key === undefined) throw new Refusal('unknown_authenticator', 'this passkey is not registered here');
  return { v: 1, method: 'webauthn', credential_id: key.key_id, proof };
}

/** The receipt of a request: its signature by a passkey of whoever is signed in. */
export async function signRequest(request: JsonObject, me: Identity): Promise<JsonObject> {
  return { ...(await signedBy(me, await sha256(challengeText(request)))), request };
}

/** The receipts of several requests by one gesture: each names all of them, and which it is. */
export async function signBatch(requests: readonly JsonObject[], me: Identity): Promise<readonly JsonObject[]> {
  const hex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const hashes = await Promise.all(requests.map((request) => sha256(challengeText(request))));
  const challenges = hashes.map((hash) => `sha256:${hex(hash)}`);
  const common = await signedBy(me, await sha256(batchText(challenges)));
  return requests.map((request, index) => ({ ...common, request, batch: { challenges, index } }));
}

/** Makes the passkey of an invitation that was opened; answers the code that both sides show. */
export async function makePasskey(secret: string, opened: AnswerOf<'openInvitation'>): Promise<string> {
  const { challenge, rp_id, person, ledger, state } = opened;
  const name = `${person.slice('human:'.length)} at ${ledger.name}`;
  // A name of its own for each passkey: a second one of the same person stands beside the first.
  const id = base64url(crypto.getRandomValues(new Uint8Array(32)));
  try {
    const made = await startRegistration({
      optionsJSON: {
        challenge,
        rp: { id: rp_id, name: `Countersign: ${ledger.name}` },
        user: { id, name, displayName: name },
        pubKeyCredParams: [-7, -8].map((alg) => ({ alg, type: 'public-key' })),
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        attestation: 'none',
        timeout: 120_000,
      },
    });
    const { attestationObject, clientDataJSON } = made.response;
    const registration = { attestation_object: attestationObject, client_data: clientDataJSON, credential: made.id };
    return (await call('enrol', { body: { secret, state, registration } })).code;
  } catch (error) {
    if (error instanceof Refusal || (error as { code?: string }).code === 'internal') throw error;
    throw refusedBy(error);
  }
}
