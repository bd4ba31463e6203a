/**
 * The checks of a receipt where it matters: over records that are read, with the signature itself, and again over
 * records that a commit holds.
 */
import { type Clock, Refusal } from '../core/index.js';
import {
  type KeyState,
  keyKind,
  LEDGER_RECORD,
  type LedgerState,
  ledgerKind,
  type PersonState,
  personKind,
} from '../identity/index.js';
import type { Ledger, RecordRef, Snapshot, View } from '../ledger/index.js';
import { CONFIG_RECORD, type ConfigState, configKind, type TrustConfig } from '../policy/index.js';
import type { WebauthnSettings } from './client-data.js';
import { requestKind, withdrawRequest } from './machine.js';
import type { ProofVerifier } from './proof.js';
import type { Receipt, RequestState } from './schema.js';
import { checkReceipt, type Expected, type Known } from './verify.js';

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
    ...(receipt.method === 'webauthn' ? [CONFIG_RECORD] : []),
  ];
}

/** Where the active configuration lets passkeys be used. */
function webauthnOf(config: ConfigState | undefined): WebauthnSettings | undefined {
  return (config?.config as unknown as TrustConfig | undefined)?.webauthn;
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
    webauthn: receipt.method === 'webauthn' ? webauthnOf(view.get(configKind, CONFIG_RECORD.id)?.state) : undefined,
    now: view.now,
  });
}

/** What names the records that a receipt is held against. */
export interface ReceiptNames {
  readonly request_id: string;
  readonly approver: string;
  readonly credential_id: string;
}

export interface ReadForReceipt {
  readonly identity: Snapshot<LedgerState> | undefined;
  readonly request: Snapshot<RequestState> | undefined;
  readonly person: Snapshot<PersonState> | undefined;
  readonly key: Snapshot<KeyState> | undefined;
}

/** The records that a receipt is held against, read and checked at once. */
export async function readForReceipt(ledger: Ledger, names: ReceiptNames): Promise<ReadForReceipt> {
  const [identity, request, person, key] = await Promise.all([
    ledger.readVerified(ledgerKind, LEDGER_RECORD.id),
    ledger.readVerified(requestKind, names.request_id),
    ledger.readVerified(personKind, names.approver),
    ledger.readVerified(keyKind, names.credential_id),
  ]);
  return { identity, request, person, key };
}

export function namesIn({ request: { request_id, approver }, credential_id }: Receipt): ReceiptNames {
  return { request_id, approver, credential_id };
}

/**
 * The checks over records as they were just read, and the signature. Throws the first that fails. A passkey has one
 * try: where its proof fails, the open request ends with it.
 */
export async function verifyReceipt(
  services: CheckServices,
  receipt: Receipt,
  expected: Expected,
  read?: ReadForReceipt,
): Promise<void> {
  const { ledger, clock, proofs } = services;
  const isPasskey = receipt.method === 'webauthn';
  const [{ identity, request, person, key }, config] = await Promise.all([
    read ?? readForReceipt(ledger, namesIn(receipt)),
    isPasskey ? ledger.readVerified(configKind, CONFIG_RECORD.id) : undefined,
  ]);
  if (identity === undefined) throw notInitialized();
  const known: Known = {
    ledger: identity.state,
    request: request?.state,
    person: person?.state,
    key: key?.state,
    webauthn: webauthnOf(config?.state),
    // Requests are dated by the ledger, which a clock that was set back stands before.
    now: Math.max(clock.now(), request?.headAt ?? 0),
  };
  const refused = checkReceipt(receipt, expected, known);
  if (refused !== undefined) throw refused;
  const bad = known.key === undefined ? undefined : await proofs.verify(receipt, known.key, known.webauthn);
  if (bad === undefined) return;
  if (isPasskey) await endRequest(ledger, receipt.request.request_id, bad);
  throw bad;
}

async function endRequest(ledger: Ledger, requestId: string, { code }: Refusal): Promise<void> {
  await ledger.commit({
    actor: 'engine:gate',
    writes: [{ kind: 'request', id: requestId }],
    decide: (view) => {
      const event = withdrawRequest(view.get(requestKind, requestId)?.state, code);
      return { events: event === undefined ? [] : [event], outcome: null };
    },
  });
}

function notInitialized(): Refusal {
  return new Refusal('not_initialized', 'the ledger was never set up');
}
