/**
 * Whether a receipt is a person's signature over exactly this. It takes values and never fetches; the checks stand
 * in the order of the specification, and the first failure is the code. Hostile input yields a verdict, never an
 * exception.
 * Source: spec authority (request and receipt).
 */
import { type Json, LIMITS, Refusal, sameJson } from '../core/index.js';
import type { KeyState, LedgerState, PersonState } from '../identity/index.js';
import type { WebauthnSettings } from './client-data.js';
import type { Receipt, RequestDocument, RequestKind, RequestState } from './schema.js';

/** What the receipt has to be for. */
export interface Expected {
  readonly kind: RequestKind;
  readonly subject: string;
  readonly digest: string;
  readonly binding?: string;
  readonly summaryDigest: string;
  readonly decision?: 'approve' | 'deny';
  /** When the record was made: a request dated before it is for something else. */
  readonly notBefore: number;
  readonly methods: readonly string[];
  /** Who may sign. */
  readonly approvers: readonly string[];
  /** Who may not, though named: the proposer, its owner. */
  readonly excluded: readonly string[];
}

/** What the registry and the ledger say of it. */
export interface Known {
  readonly ledger: LedgerState;
  readonly request: RequestState | undefined;
  readonly person: PersonState | undefined;
  readonly key: KeyState | undefined;
  /** Of the trust configuration; undefined: no passkey counts. */
  readonly webauthn: WebauthnSettings | undefined;
  /** The gate's time. */
  readonly now: number;
}

/** The first check that fails, or undefined. What the signature covers is `ProofVerifier`'s to say. */
export function checkReceipt(receipt: Receipt, expected: Expected, known: Known): Refusal | undefined {
  return checkRequest(receipt.request, receipt.method, expected, known) ?? checkSigner(receipt, expected, known);
}

function checkRequest(
  request: RequestDocument,
  method: string,
  expected: Expected,
  { ledger, request: stored, webauthn, now }: Known,
): Refusal | undefined {
  const isOpen = method !== 'webauthn' || webauthn !== undefined;
  if (!isOpen || !expected.methods.includes(method))
    return new Refusal('method_refused', 'no rule allows this way of signing');
  if (request.aud.ledger_id !== ledger.ledger_id) return new Refusal('audience', 'the receipt is for another ledger');
  if (request.aud.epoch !== ledger.epoch) return new Refusal('audience', 'the receipt is of an earlier epoch');
  if (request.kind !== expected.kind) return new Refusal('kind', `the receipt is of kind ${request.kind}`);
  if (stored === undefined || !sameJson(stored.request as Json, request as Json)) {
    return new Refusal('unknown_request', 'this gate did not issue the request');
  }
  // INVARIANT: a passkey has one try at a request (receipts.webauthn.one-try).
  if (stored.state === 'withdrawn') return new Refusal('unknown_request', 'the request ended with a failed try');
  if (request.subject !== expected.subject) return new Refusal('subject_mismatch', 'the receipt is for another record');
  if (request.digest !== expected.digest) return new Refusal('digest_mismatch', 'the receipt is for other content');
  if (request.kind === 'action' && request.binding !== expected.binding) {
    return new Refusal('binding_mismatch', 'the receipt is for other conditions');
  }
  if (request.summary_digest !== expected.summaryDigest) {
    return new Refusal('summary_mismatch', 'the receipt is for another summary');
  }
  if (request.kind === 'action' && request.decision !== expected.decision) {
    return new Refusal('decision', `the receipt says ${request.decision}`);
  }
  // The deadline bounds the signing: a receipt that reached the gate in time stays good.
  if (now >= request.exp && stored.signed_at === null) {
    return new Refusal('expired', 'the request has expired', { next: 'ask for a new request' });
  }
  if (request.iat > now + LIMITS.iatFutureMsMax) return new Refusal('iat_future', 'the request is dated in the future');
  if (request.iat < expected.notBefore) return new Refusal('iat_past', 'the request is older than its record');
  if (request.exp - request.iat > LIMITS.requestTtlMsMax) return new Refusal('ttl', 'the request lives too long');
  return undefined;
}

function checkSigner(receipt: Receipt, expected: Expected, known: Known): Refusal | undefined {
  const { request, credential_id } = receipt;
  const { person, key } = known;
  if (person?.state !== 'active') return new Refusal('unknown_approver', 'no such person is registered');
  if (key === undefined || key.key_id !== credential_id || key.method !== receipt.method) {
    return new Refusal('unknown_authenticator', 'no such key is registered');
  }
  if (key.state === 'revoked') return new Refusal('revoked_authenticator', 'the key was revoked');
  if (key.person !== request.approver || person.person !== request.approver) {
    return new Refusal('foreign_authenticator', 'the key belongs to somebody else');
  }
  // INVARIANT: a person without the role approves nothing, whoever names them (authority.receipt.role).
  const hasRole = request.kind !== 'action' || person.roles.includes('approver');
  if (!hasRole || !expected.approvers.includes(request.approver)) {
    return new Refusal('approver_not_allowed', `${request.approver} may not sign this`);
  }
  if (expected.excluded.includes(request.approver)) {
    return new Refusal('self_approval', `${request.approver} proposed it or owns the agent that did`);
  }
  return undefined;
}
