/**
 * The signer's side: a software key makes a receipt of a request. What the signature covers is the request alone, so
 * that whoever signs has to have seen the summary that the request names.
 */
import { base64urlEncode, signBytes } from '../core/index.js';
import { keyId, type UnlockedKey } from '../identity/index.js';
import { challengeOf, type Receipt, type RequestDocument } from './schema.js';

export function signWith(key: UnlockedKey, request: RequestDocument): Receipt {
  const signature = base64urlEncode(signBytes(key.privateKey, challengeOf(request)));
  return { v: 1, request, method: 'ed25519', credential_id: keyId(key.publicKey), proof: { signature } };
}
