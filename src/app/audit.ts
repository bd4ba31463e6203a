/**
 * The whole ledger, checked again: the store (hashes, links, states, claims, the log's order and what this gate remembers of
 * it), and then what the events mean: that every receipt was good by the registry as it stood at its place in the log, and
 * that every launch had its authority. Names the first bad record; repairs nothing.
 * Source: spec ledger (verify).
 */
import type { Attempt } from '../actions/index.js';
import { challengeOf, type Receipt } from '../approvals/index.js';
import {
  admitKey,
  base64urlDecode,
  hexToBytes,
  type JsonObject,
  type PublicKey,
  verifyBytesAsync,
} from '../core/index.js';
import type { Defect, Ledger, LedgerEvent, LogHead, VerifyReport } from '../ledger/index.js';

export interface AuditReport extends VerifyReport {
  readonly receipts: number;
  readonly launches: number;
}

const DEFECTS_MAX = 100;

/** Keys and nonces as they stand at one place of the log. Memory grows with keys and with approvals not yet launched. */
class Inspection {
  receipts = 0;
  launches = 0;
  readonly defects: Defect[] = [];
  readonly #keys = new Map<
    string,
    { readonly person: string; readonly key: PublicKey | undefined; revoked: boolean }
  >();
  readonly #signed = new Map<string, Receipt>();
  readonly #allowed = new Map<string, string>();

  async see(event: LedgerEvent): Promise<void> {
    const { id } = event.record;
    switch (event.type) {
      case 'key-added': {
        const { person, public_key } = event.data as { person: string; public_key: string };
        const raw = hexToBytes(public_key);
        this.#keys.set(id, { person, key: raw && admitKey(raw), revoked: false });
        return;
      }
      case 'key-revoked': {
        const key = this.#keys.get(id);
        if (key !== undefined) key.revoked = true;
        return;
      }
      case 'request-signed':
        return this.#receipt(event, (event.data as unknown as { receipt: Receipt }).receipt);
      case 'action-proposed':
      case 'action-cancelled':
        this.#allowed.delete(id);
        return;
      case 'action-approved': {
        const { authorization } = event.data as { authorization: JsonObject };
        if (authorization.kind === 'policy') this.#allowed.set(id, String(authorization.decision_id));
        return;
      }
      case 'action-launched':
        return this.#launch(event, (event.data as unknown as { attempt: Attempt }).attempt);
      default:
    }
  }

  async #receipt(event: LedgerEvent, receipt: Receipt): Promise<void> {
    this.receipts += 1;
    const known = this.#keys.get(receipt.credential_id);
    const { request } = receipt;
    if (known === undefined || known.revoked) return this.#defect(event, 'the key of the receipt was not active');
    if (known.person !== request.approver) return this.#defect(event, "the key of the receipt is somebody else's");
    const signature = base64urlDecode(receipt.proof.signature) ?? new Uint8Array(0);
    const good = known.key !== undefined && (await verifyBytesAsync(known.key, challengeOf(request), signature));
    if (!good) return this.#defect(event, 'the signature of the receipt does not verify');
    if (event.at >= request.exp) return this.#defect(event, 'the receipt came after its request had expired');
    this.#signed.set(request.request_id, receipt);
  }

  /** INVARIANT: a launch stands on receipts whose nonces it used up, or on a decision of policy (audit.launch-authority). */
  #launch(event: LedgerEvent, attempt: Attempt): void {
    this.launches += 1;
    const { authorization } = attempt;
    const { id } = event.record;
    if (authorization.kind === 'policy') {
      if (this.#allowed.get(id) !== authorization.decision_id) this.#defect(event, 'policy did not allow this launch');
      this.#allowed.delete(id);
      return;
    }
    const taken = nonces(event);
    for (const requestId of authorization.request_ids) {
      const receipt = this.#signed.get(requestId);
      const covers = receipt?.request.kind === 'action' && receipt.request.subject === id;
      const approves = covers && receipt.request.kind === 'action' && receipt.request.decision === 'approve';
      if (!approves) this.#defect(event, 'a launch stands on a receipt that is not there');
      else if (!taken.has(receipt.request.nonce))
        this.#defect(event, 'a launch did not use up the nonce of its receipt');
      this.#signed.delete(requestId);
    }
    if (authorization.request_ids.length === 0) this.#defect(event, 'a launch stands on nothing');
  }

  #defect(event: LedgerEvent, what: string): void {
    const where = `${event.record.kind}/${event.record.id}#${event.revision}`;
    if (this.defects.length < DEFECTS_MAX) this.defects.push({ where, what });
  }
}

function nonces(event: LedgerEvent): ReadonlySet<string> {
  const taken = (event.data.claims as JsonObject | undefined)?.taken as readonly (readonly string[])[] | undefined;
  return new Set((taken ?? []).filter(([scope]) => scope === 'nonce').map(([, , key]) => key as string));
}

/** `expected` is the head that the gate remembers. */
export async function auditLedger(ledger: Ledger, expected?: LogHead): Promise<AuditReport> {
  const report = await ledger.verify(expected);
  const inspection = new Inspection();
  // The meaning of events is looked at only where the events themselves are whole.
  if (report.defects.length === 0) {
    for (let after = 0; ; ) {
      const entries = await ledger.log(after);
      for (const { event } of entries) await inspection.see(event);
      const last = entries.at(-1);
      if (last === undefined) break;
      after = last.sequence;
    }
  }
  const { receipts, launches, defects } = inspection;
  return { ...report, receipts, launches, defects: [...report.defects, ...defects].slice(0, DEFECTS_MAX) };
}
