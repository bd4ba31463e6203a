/**
 * The check that lets an Ed25519 public key in. The platform's verifier takes any point: with the identity as key, one
 * forged signature verifies for every message. So a key is refused here, at enrolment and at every load, unless it is
 * spelled canonically, is not of small order and has no torsion component.
 * Source: spec core (Ed25519 keys).
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { equalBytes, importPublicKey, type PublicKey } from './crypto/index.js';

/** The key of 32 raw bytes, or `undefined` when it must not be trusted. */
export function admitKey(raw: Uint8Array): PublicKey | undefined {
  return raw.length === 32 && isSoundPoint(raw) ? importPublicKey(raw) : undefined;
}

// INVARIANT: core.keys.small-order, core.keys.non-canonical, core.keys.torsion
function isSoundPoint(raw: Uint8Array): boolean {
  try {
    const point = ed25519.Point.fromBytes(raw, false);
    return equalBytes(point.toBytes(), raw) && !point.isSmallOrder() && point.isTorsionFree();
  } catch {
    // The library throws for bytes that are no point; there is nothing else that it could mean.
    return false;
  }
}
