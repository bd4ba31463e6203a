/**
 * Whether a receipt is genuine: by the registry of this ledger, or by a public key alone. It says what was signed;
 * whether it still counts for an action is the gate's to decide.
 */
import { parseReceipt } from '../actions/index.js';
import {
  type OriginGrade,
  originOf,
  ProofVerifier,
  type Receipt,
  type RequestDocument,
  requestKind,
} from '../approvals/index.js';
import { canonicalize, type Json, type Principal, Refusal } from '../core/index.js';
import { type KeyState, keyId, keyKind } from '../identity/index.js';
import { atBorder } from './border.js';
import type { Gate } from './gate.js';

export interface CheckedReceipt {
  readonly verdict: 'good';
  readonly request: RequestDocument;
  readonly method: Receipt['method'];
  /** Of a passkey: where it was used. */
  readonly origin?: OriginGrade;
  readonly checked_against: 'registry' | 'public_key';
}

/** Refuses `format`, `unknown_authenticator`, `method_refused` for a passkey, `bad_signature`. */
export function checkReceiptOffline(value: unknown, publicKeyHex: string): Promise<CheckedReceipt> {
  return atBorder(undefined, { receipt: value, publicKeyHex }, (asked) =>
    checkByKey(asked.receipt, asked.publicKeyHex),
  );
}

async function checkByKey(value: unknown, publicKeyHex: string): Promise<CheckedReceipt> {
  const receipt = parseReceipt(value);
  const { credential_id, request } = receipt;
  if (receipt.method === 'webauthn') {
    const next = 'leave the key away: the registry of the ledger knows it';
    throw new Refusal('method_refused', 'what a passkey signed is checked by the pages of its ledger', { next });
  }
  if (credential_id !== keyId(publicKeyHex)) {
    throw new Refusal('unknown_authenticator', 'the receipt is not of this key');
  }
  const fixed = { method: 'ed25519', software_key: true, state: 'active', added_at: 0, revoked_at: null } as const;
  const key: KeyState = {
    ...{ key_id: credential_id, person: request.approver as Principal, public_key: publicKeyHex },
    ...fixed,
  };
  const wrong = await new ProofVerifier().verify(receipt, key);
  if (wrong !== undefined) throw wrong;
  return { verdict: 'good', request, method: receipt.method, checked_against: 'public_key' };
}

/**
 * Refuses `format`, `unknown_request`, `unknown_authenticator`, `foreign_authenticator`, and what a proof is
 * refused for.
 */
export function checkReceiptOnline(gate: Gate, value: unknown): Promise<CheckedReceipt> {
  return atBorder(gate.services.log, { receipt: value }, (asked) => checkByRegistry(gate, asked.receipt));
}

async function checkByRegistry(gate: Gate, value: unknown): Promise<CheckedReceipt> {
  const receipt = parseReceipt(value);
  const { request } = receipt;
  const stored = await gate.ledger.readVerified(requestKind, request.request_id);
  if (canonicalize((stored?.state.request ?? null) as Json) !== canonicalize(request as Json)) {
    throw new Refusal('unknown_request', 'this gate did not issue the request');
  }
  const key = await gate.ledger.readVerified(keyKind, receipt.credential_id);
  if (key === undefined) throw new Refusal('unknown_authenticator', 'no such key is registered');
  if (key.state.person !== request.approver) throw new Refusal('foreign_authenticator', "the key is somebody else's");
  const wrong = await gate.services.proofs.verify(receipt, key.state, gate.services.trust().config.webauthn);
  if (wrong !== undefined) throw wrong;
  const origin = receipt.method === 'webauthn' ? originOf(receipt) : undefined;
  const { method } = receipt;
  return { verdict: 'good', request, method, checked_against: 'registry', ...(origin === undefined ? {} : { origin }) };
}
