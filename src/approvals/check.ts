/**
 * The checks of a receipt where it matters: over records that are read, with the signature itself, and again over
 * records that a commit holds.
 */
import { type Clock, Refusal } from '../core/index.js';
import { keyKind, LEDGER_RECORD, ledgerKind, personKind } from '../identity/index.js';
import type { Ledger, RecordRef, View } from '../ledger/index.js';
import { requestKind } from './machine.js';
import type { Receipt } from './schema.js';
import { checkReceipt, type Expected, type Known, type ProofVerifier } from './verify.js';

interface CheckServices {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly proofs: ProofVerifier;
}

/** The records that a receipt's checks look at, besides the ledger's own. */
export function receiptRecords(receipt: Receipt): readonly RecordRef[] {
  return [
    { kind: 'person', id: receipt.request.approver },
    { kind: 'key', id: receipt.credential_id },
    { kind: 'request', id: receipt.request.request_id },
  ];
}

/** The checks over records that the commit holds; the signature was verified before. */
export function checkInView(view: View, receipt: Receipt, expected: Expected): Refusal | undefined {
  const ledger = view.get(ledgerKind, LEDGER_RECORD.id)?.state;
  if (ledger === undefined) return notInitialized();
  return checkReceipt(receipt, expected, {
    ledger,
    request: view.get(requestKind, receipt.request.request_id)?.state,
    person: view.get(personKind, receipt.request.approver)?.state,
    key: view.get(keyKind, receipt.credential_id)?.state,
    now: view.now,
  });
}

/** The checks over records as they are read now, and the signature. Throws the first that fails. */
export async function verifyReceipt(services: CheckServices, receipt: Receipt, expected: Expected): Promise<void> {
  const { ledger, clock, proofs } = services;
  const [identity, request, person, key] = await Promise.all([
    ledger.readVerified(ledgerKind, LEDGER_RECORD.id),
    ledger.readVerified(requestKind, receipt.request.request_id),
    ledger.readVerified(personKind, receipt.request.approver),
    ledger.readVerified(keyKind, receipt.credential_id),
  ]);
  if (identity === undefined) throw notInitialized();
  const known: Known = {
    ledger: identity.state,
    request: request?.state,
    person: person?.state,
    key: key?.state,
    now: clock.now(),
  };
  const refused = checkReceipt(receipt, expected, known);
  if (refused !== undefined) throw refused;
  const bad = known.key === undefined ? undefined : await proofs.verify(receipt, known.key);
  if (bad !== undefined) throw bad;
}

function notInitialized(): Refusal {
  return new Refusal('not_initialized', 'the ledger was never set up');
}
