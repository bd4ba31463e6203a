/**
 * The public key of a passkey, as an authenticator hands it over (COSE, RFC 9052). Pure.
 * Two forms are let in, each byte for byte: P-256 with ES256 and Ed25519 with EdDSA, spelled canonically, with a sound
 * point. Everything else is refused, so that a key has one spelling and one algorithm, and neither is a caller's
 * choice.
 * Source: spec authority (request and receipt), core (Ed25519 keys).
 */
import { admitKey, hexToBytes, isP256Point } from '../core/index.js';

export type PasskeyAlgorithm = 'ES256' | 'EdDSA';

/** {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: 32 bytes x, -3: 32 bytes y}. */
const ES256 = /^a5010203262001215820([0-9a-f]{64})225820([0-9a-f]{64})$(?!\n)/;
/** {1: 1 (OKP), 3: -8 (EdDSA), -1: 6 (Ed25519), -2: 32 bytes x}. */
const EDDSA = /^a4010103272006215820([0-9a-f]{64})$(?!\n)/;

/** The algorithm of a public key given as hex; undefined for one that must not be trusted. */
export function passkeyAlgorithm(coseHex: string): PasskeyAlgorithm | undefined {
  const [, x, y] = ES256.exec(coseHex) ?? [];
  if (x !== undefined && y !== undefined) return isP256Point(bytesOf(x), bytesOf(y)) ? 'ES256' : undefined;
  const [, raw] = EDDSA.exec(coseHex) ?? [];
  return raw !== undefined && admitKey(bytesOf(raw)) !== undefined ? 'EdDSA' : undefined;
}

function bytesOf(hex: string): Uint8Array {
  return hexToBytes(hex) ?? new Uint8Array(0);
}
