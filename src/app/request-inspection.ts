/**
 * Requests and receipts as an audit of the log sees them: what was issued, and that what was signed was signed by an
 * active key of whom it asked, in time and in its epoch.
 * Source: spec authority (request and receipt).
 */
import { challengeOf, ProofVerifier, type Receipt, type RequestDocument } from '../approvals/index.js';
import type { Json } from '../core/index.js';
import { keyKind, personKind } from '../identity/index.js';
import type { LedgerEvent } from '../ledger/index.js';
import type { AuditWorld } from './audit-world.js';

interface Opened {
  readonly request: RequestDocument;
  readonly act: Json;
}

/** It keeps what is open, or signed and not used up. */
export class RequestInspection {
  receipts = 0;
  readonly #world: AuditWorld;
  readonly #opened = new Map<string, Opened>();
  readonly #signed = new Map<string, Receipt>();
  readonly #proofs = new ProofVerifier();

  constructor(world: AuditWorld) {
    this.#world = world;
  }

  /** What is wrong with an event of a request; undefined where nothing is. */
  async see(event: LedgerEvent): Promise<string | undefined> {
    switch (event.type) {
      case 'request-opened': {
        const opened = event.data as unknown as Opened;
        this.#opened.set(opened.request.request_id, { request: opened.request, act: opened.act });
        return undefined;
      }
      case 'request-withdrawn':
      case 'request-expired':
        this.#opened.delete(event.record.id);
        return undefined;
      case 'request-signed': {
        const { receipt } = event.data as unknown as { receipt: Receipt };
        this.receipts += 1;
        const wrong = await this.#defectOf(event, receipt);
        if (wrong === undefined) this.#signed.set(receipt.request.request_id, receipt);
        return wrong;
      }
      default:
        return undefined;
    }
  }

  /** A good receipt that was not used up, with what it authorizes; null for an action. */
  signed(requestId: string | undefined): { readonly receipt: Receipt; readonly act: Json } | undefined {
    const receipt = this.#signed.get(requestId ?? '');
    if (receipt === undefined) return undefined;
    return { receipt, act: this.#opened.get(receipt.request.request_id)?.act ?? null };
  }

  /** Uses a receipt up. */
  use(requestId: string): void {
    this.#signed.delete(requestId);
    this.#opened.delete(requestId);
  }

  /** Another epoch: everything before is void. */
  clear(): void {
    this.#signed.clear();
    this.#opened.clear();
  }

  /** Why a receipt that was good when it was signed counts no more; undefined where it counts. */
  lapse({ request, credential_id }: Receipt): string | undefined {
    if (this.#world.state(keyKind, credential_id)?.state !== 'active') return 'whose key was revoked';
    if (this.#world.state(personKind, request.approver)?.state !== 'active') return 'of somebody who was removed';
    return undefined;
  }

  async #defectOf(event: LedgerEvent, receipt: Receipt): Promise<string | undefined> {
    const { request } = receipt;
    const key = this.#world.state(keyKind, receipt.credential_id);
    const opened = this.#opened.get(request.request_id)?.request;
    if (opened === undefined || !sameBytes(challengeOf(opened), challengeOf(request))) {
      return 'the receipt is for a request that was not issued';
    }
    if (request.aud.epoch !== this.#world.epoch) return 'the receipt is from another epoch';
    if (key?.state !== 'active') return 'the key of the receipt was not active';
    if (key.person !== request.approver) return "the key of the receipt is somebody else's";
    if (this.#world.state(personKind, request.approver)?.state !== 'active') return 'the signer was not registered';
    const wrong = await this.#proofs.verify(receipt, key, this.#world.config?.webauthn);
    if (wrong !== undefined) return 'the signature of the receipt does not verify';
    return event.at >= request.exp ? 'the receipt came after its request had expired' : undefined;
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
