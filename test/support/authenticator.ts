/**
 * An authenticator in software, for tests: real keys of P-256 or Ed25519, and a browser's data around them. Every part
 * of a gesture can be made wrong by itself.
 */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Act, Receipt, RequestDocument } from '../../src/approvals/index.js';
import { batchChallenge, challengeDigest, challengeOf, type PasskeyReceipt } from '../../src/approvals/schema.js';
import { base64urlEncode, type Principal } from '../../src/core/index.js';
import { keyId, type Passkey, type Role } from '../../src/identity/index.js';

export const RP_ID = 'example.org';
export const ORIGIN = 'https://gate.example.org';

export interface Authenticator {
  readonly person: string;
  readonly algorithm: 'ES256' | 'EdDSA';
  readonly credential: string;
  /** COSE, as hex. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

export function authenticator(person: string, algorithm: Authenticator['algorithm'] = 'ES256'): Authenticator {
  const pair =
    algorithm === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
  const { x = '', y = '' } = pair.publicKey.export({ format: 'jwk' });
  const hex = (text: string) => Buffer.from(text, 'base64url').toString('hex');
  const publicKey =
    algorithm === 'ES256' ? `a5010203262001215820${hex(x)}225820${hex(y)}` : `a4010103272006215820${hex(x)}`;
  const credential = base64urlEncode(Buffer.from(keyId(publicKey)).subarray(7, 39));
  return { person, algorithm, credential, publicKey, privateKey: pair.privateKey };
}

/** What a test makes of a gesture; what it leaves out is as it should be. */
export interface Gesture {
  readonly type?: unknown;
  readonly challenge?: unknown;
  readonly origin?: unknown;
  /** Members that are added to the client's data, or take the place of others. */
  readonly client?: Readonly<Record<string, unknown>>;
  /** The whole of the client's data as text. */
  readonly clientText?: string | Uint8Array;
  readonly rpId?: string;
  readonly flags?: number;
  /** Bytes behind the 37 of the authenticator's data. */
  readonly more?: Uint8Array;
  readonly signature?: (good: Uint8Array) => Uint8Array;
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();

export function proofOver(by: Authenticator, challenge: Uint8Array, gesture: Gesture = {}): PasskeyReceipt['proof'] {
  const { type = 'webauthn.get', origin = ORIGIN, rpId = RP_ID, flags = 0x05, more = new Uint8Array(0) } = gesture;
  const client = {
    ...{
      type,
      challenge: gesture.challenge === undefined ? base64urlEncode(challenge) : gesture.challenge,
      origin,
      crossOrigin: false,
    },
    ...gesture.client,
  };
  const clientData = Buffer.from(gesture.clientText ?? JSON.stringify(client));
  const data = Buffer.concat([sha256(rpId), Buffer.from([flags]), Buffer.alloc(4), more]);
  const signed = Buffer.concat([data, sha256(clientData)]);
  const good = sign(by.algorithm === 'ES256' ? 'sha256' : null, signed, by.privateKey);
  return {
    authenticator_data: base64urlEncode(data),
    client_data: base64urlEncode(clientData),
    signature: base64urlEncode(gesture.signature?.(good) ?? good),
  };
}

export function passkeyReceipt(by: Authenticator, request: RequestDocument, gesture: Gesture = {}): PasskeyReceipt {
  const credential_id = keyId(by.publicKey);
  return { v: 1, request, method: 'webauthn', credential_id, proof: proofOver(by, challengeOf(request), gesture) };
}

/** One gesture for several requests. */
export function passkeyBatch(by: Authenticator, requests: readonly RequestDocument[]): readonly Receipt[] {
  const challenges = requests.map(challengeDigest);
  const proof = proofOver(by, batchChallenge(challenges));
  const common = { v: 1, method: 'webauthn', credential_id: keyId(by.publicKey), proof } as const;
  return requests.map((request, index) => ({ ...common, request, batch: { challenges, index } }));
}

export function addPasskeyAct(by: Authenticator, roles: Role[] = ['approver']): Act {
  const { person, credential, publicKey: public_key } = by;
  return { kind: 'registry', change: { change: 'add-passkey', person, roles, credential, public_key } };
}

/** The key as the registry holds it. */
export function passkeyState(by: Authenticator): Passkey {
  const { person, credential, publicKey: public_key } = by;
  return {
    ...{ key_id: keyId(public_key), person: person as Principal, method: 'webauthn', software_key: false },
    ...{ public_key, credential, state: 'active', added_at: 0, revoked_at: null },
  } as const;
}

/** What a browser hands over when this authenticator makes its passkey: an attestation object without a statement. */
export function registrationOver(by: Authenticator, challenge: Uint8Array, gesture: Gesture = {}) {
  const { type = 'webauthn.create', origin = ORIGIN, rpId = RP_ID, flags = 0x45 } = gesture;
  const client = { type, challenge: base64urlEncode(challenge), origin, crossOrigin: false, ...gesture.client };
  const id = Buffer.from(by.credential, 'base64url');
  const key = Buffer.from(by.publicKey, 'hex');
  const length = Buffer.from([id.length >> 8, id.length & 0xff]);
  const data = Buffer.concat([sha256(rpId), Buffer.from([flags]), Buffer.alloc(4), Buffer.alloc(16), length, id, key]);
  const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
  const attestation = Buffer.concat([
    ...[Buffer.from([0xa3]), text('fmt'), text('none'), text('attStmt'), Buffer.from([0xa0]), text('authData')],
    ...[Buffer.from([0x58, data.length]), data],
  ]);
  return {
    attestation_object: base64urlEncode(attestation),
    client_data: base64urlEncode(Buffer.from(JSON.stringify(client))),
    credential: by.credential,
  };
}
