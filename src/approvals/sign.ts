/**
 * The signer's side: a software key makes receipts of requests. What a signature covers is the requests alone, so that
 * whoever signs has to have seen the summaries that they name.
 */
import { base64urlEncode, LIMITS, Refusal, signBytes } from '../core/index.js';
import { keyId, type UnlockedKey } from '../identity/index.js';
import { batchChallenge, challengeDigest, challengeOf, type RequestDocument, type SoftwareReceipt } from './schema.js';

export function signWith(key: UnlockedKey, request: RequestDocument): SoftwareReceipt {
  return { v: 1, request, ...proofOf(key, challengeOf(request)) };
}

/**
 * Signs several requests with one signature: each gets a receipt of its own, with the list of all and its place in it.
 * Refuses `invalid` for none, more than 50, or the same one twice.
 */
export function signBatch(key: UnlockedKey, requests: readonly RequestDocument[]): readonly SoftwareReceipt[] {
  const challenges = requests.map(challengeDigest);
  const isSound = challenges.length > 0 && new Set(challenges).size === challenges.length;
  if (!isSound || challenges.length > LIMITS.batchRequestsMax) {
    throw new Refusal('invalid', `one gesture signs 1 to ${LIMITS.batchRequestsMax} different requests`);
  }
  const signed = proofOf(key, batchChallenge(challenges));
  return requests.map((request, index) => ({ v: 1, request, ...signed, batch: { challenges, index } }));
}

function proofOf(key: UnlockedKey, challenge: Uint8Array) {
  const signature = base64urlEncode(signBytes(key.privateKey, challenge));
  return { method: 'ed25519', credential_id: keyId(key.publicKey), proof: { signature } } as const;
}
