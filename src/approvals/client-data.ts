/**
 * What a browser and an authenticator say of one gesture, and whether it is one that counts. Pure.
 *
 * The library that verifies passkeys lets a page inside another page's frame sign; these checks do not, and each has
 * its code. The client's data is read by the strict reader: a name that stands twice is no name.
 * Source: spec authority (request and receipt).
 */
import { base64urlDecode, base64urlEncode, type JsonObject, LIMITS, Refusal, readJson, sha256 } from '../core/index.js';
import type { TrustConfig } from '../policy/index.js';
import type { OriginGrade, PasskeyReceipt } from './schema.js';

/** Where passkeys are made and used. */
export type WebauthnSettings = NonNullable<TrustConfig['webauthn']>;

const LOOPBACK = /^http:\/\/(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$(?!\n)/;

/** Undefined for a page that is neither on this machine nor has a certificate. */
export function gradeOf(origin: string): OriginGrade | undefined {
  if (origin.startsWith('https://')) return 'https';
  return LOOPBACK.test(origin) ? 'loopback' : undefined;
}

/** Whether a browser would use a passkey of a domain on a page: the page belongs to it, and is graded. */
export function isUsable(origin: string, rpId: string): boolean {
  const host = origin.replace(/^https?:\/\//, '').replace(/:[0-9]+$/, '');
  return gradeOf(origin) !== undefined && (host === rpId || host.endsWith(`.${rpId}`));
}

/** The grade of the page on which a passkey made this receipt; undefined where it names none. */
export function originOf({ proof }: PasskeyReceipt): OriginGrade | undefined {
  const origin = clientDataOf(proof.client_data)?.origin;
  return typeof origin === 'string' ? gradeOf(origin) : undefined;
}

function clientDataOf(text: string): JsonObject | undefined {
  const bytes = base64urlDecode(text);
  const read = bytes === undefined ? undefined : readJson(bytes, { bytesMax: LIMITS.clientDataBytesMax });
  if (read?.ok !== true || typeof read.value !== 'object' || read.value === null) return undefined;
  return Array.isArray(read.value) ? undefined : (read.value as JsonObject);
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;

/**
 * The first thing that is wrong with a gesture, in the order of the specification; undefined where only the signature
 * is left to verify. `challenge` is undefined where the receipt's own batch does not hold its request.
 */
export function checkGesture(
  { proof }: Pick<PasskeyReceipt, 'proof'>,
  challenge: Uint8Array | undefined,
  settings: WebauthnSettings,
): Refusal | undefined {
  const client = clientDataOf(proof.client_data);
  const { type, challenge: signed, origin, crossOrigin = false, topOrigin } = client ?? {};
  if (type !== 'webauthn.get' || typeof signed !== 'string' || typeof origin !== 'string') {
    return new Refusal('client_data', 'what the browser signed for is no use of a passkey');
  }
  if (challenge === undefined || signed !== base64urlEncode(challenge)) {
    return new Refusal('challenge_mismatch', 'the passkey signed another challenge');
  }
  // INVARIANT: a page in somebody else's frame signs nothing (receipts.webauthn.cross-origin).
  if (crossOrigin !== false || topOrigin !== undefined) {
    return new Refusal('origin', 'the page stood inside another page');
  }
  if (!settings.origins.includes(origin) || gradeOf(origin) === undefined) {
    return new Refusal('origin', 'the passkey was used on a page that the configuration does not name');
  }
  const data = base64urlDecode(proof.authenticator_data) ?? new Uint8Array(0);
  if (!sha256(settings.rp_id).every((byte, at) => byte === data[at])) {
    return new Refusal('rp_id_mismatch', 'the passkey belongs to another domain');
  }
  const flags = data[32] ?? 0;
  if ((flags & USER_PRESENT) === 0) return new Refusal('user_presence', 'nobody touched the authenticator');
  if ((flags & USER_VERIFIED) === 0) return new Refusal('user_verification', 'the authenticator verified nobody');
  return undefined;
}
