/**
 * Whether a receipt is genuine: by the registry of this ledger, or by a public key alone. It says what was signed;
 * whether it still counts for an action is the gate's to decide.
 */
import { parseReceipt } from '../actions/index.js';
import { challengeOf, type RequestDocument, requestKind } from '../approvals/index.js';
import {
  admitKey,
  base64urlDecode,
  canonicalize,
  hexToBytes,
  type Json,
  Refusal,
  verifyBytesAsync,
} from '../core/index.js';
import { keyId, keyKind } from '../identity/index.js';
import type { Gate } from './gate.js';

export interface CheckedReceipt {
  readonly verdict: 'good';
  readonly request: RequestDocument;
  readonly checked_against: 'registry' | 'public_key';
}

/** Refuses `format`, `unknown_authenticator`, `bad_signature`. */
export async function checkReceiptOffline(value: unknown, publicKeyHex: string): Promise<CheckedReceipt> {
  const receipt = parseReceipt(value);
  const raw = hexToBytes(publicKeyHex);
  const key = raw === undefined ? undefined : admitKey(raw);
  if (key === undefined || receipt.credential_id !== keyId(publicKeyHex)) {
    throw new Refusal('unknown_authenticator', 'the receipt is not of this key');
  }
  const signature = base64urlDecode(receipt.proof.signature) ?? new Uint8Array(0);
  if (!(await verifyBytesAsync(key, challengeOf(receipt.request), signature))) {
    throw new Refusal('bad_signature', 'the signature does not verify');
  }
  return { verdict: 'good', request: receipt.request, checked_against: 'public_key' };
}

/** Refuses `format`, `unknown_request`, `unknown_authenticator`, `foreign_authenticator`, `bad_signature`. */
export async function checkReceiptOnline(gate: Gate, value: unknown): Promise<CheckedReceipt> {
  const receipt = parseReceipt(value);
  const { request } = receipt;
  const stored = await gate.ledger.readVerified(requestKind, request.request_id);
  if (canonicalize((stored?.state.request ?? null) as Json) !== canonicalize(request as Json)) {
    throw new Refusal('unknown_request', 'this gate did not issue the request');
  }
  const key = await gate.ledger.readVerified(keyKind, receipt.credential_id);
  if (key === undefined) throw new Refusal('unknown_authenticator', 'no such key is registered');
  if (key.state.person !== request.approver) throw new Refusal('foreign_authenticator', "the key is somebody else's");
  const checked = await checkReceiptOffline(value, key.state.public_key);
  return { ...checked, checked_against: 'registry' };
}
