/**
 * Requests and receipts as an audit of the log sees them: what was issued, and that what was signed was signed by an
 * active key of whom it asked, in time and in its epoch.
 * Source: spec authority (request and receipt).
 */
import type { ActionContent } from '../actions/index.js';
import { challengeOf, ProofVerifier, type Receipt, type RequestDocument } from '../approvals/index.js';
import { type Json, LIMITS } from '../core/index.js';
import { keyKind, personKind } from '../identity/index.js';
import type { LedgerEvent } from '../ledger/index.js';
import type { AuditWorld } from './audit-world.js';
import { noncesOf } from './receipt-authority.js';

interface Opened {
  readonly request: RequestDocument;
  readonly act: Json;
}

/** Requests that nobody signed in time are looked for whenever so many more are open. */
const SWEEP_AT = 1_024;

/** It keeps what is open, or signed and not used up, of actions that are not over. */
export class RequestInspection {
  receipts = 0;
  readonly #world: AuditWorld;
  readonly #opened = new Map<string, Opened>();
  readonly #signed = new Map<string, Receipt>();
  /** Nonces that were used up in the commit that signed a request. */
  readonly #taken = new Map<string, ReadonlySet<string>>();
  /** Signed denials by the action that they deny. */
  readonly #denials = new Map<string, Receipt[]>();
  readonly #proofs = new ProofVerifier();
  /** Requests about an action, until it is over. */
  readonly #about = new Map<string, Set<string>>();
  /** The action whose denial was signed: in that commit it ends. */
  #denying: string | undefined;
  #sweepAt = SWEEP_AT;

  constructor(world: AuditWorld) {
    this.#world = world;
  }

  /** What is wrong with an event of a request; undefined where nothing is. */
  async see(event: LedgerEvent): Promise<string | undefined> {
    switch (event.type) {
      case 'request-opened': {
        const { request, act } = event.data as unknown as Opened;
        const isFirst = event.revision === 0 && request.request_id === event.record.id;
        if (!isFirst) return 'a request was issued that is not a new one';
        this.#open({ request, act }, event.at);
        return undefined;
      }
      case 'request-used':
        this.#denies(this.#signed.get(event.record.id), event);
        return undefined;
      case 'request-withdrawn':
      case 'request-expired':
        this.#opened.delete(event.record.id);
        return undefined;
      case 'request-signed': {
        const { receipt } = event.data as unknown as { receipt: Receipt };
        this.receipts += 1;
        const wrong = await this.#defectOf(event, receipt);
        if (wrong !== undefined) return wrong;
        this.#keep(receipt, event);
        this.#denies(receipt, event);
        return undefined;
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

  /** INVARIANT: what somebody denied ends as denied, and not in other words (audit.denial-told). */
  unfinished(next?: LedgerEvent): string | undefined {
    const denying = this.#denying;
    this.#denying = undefined;
    if (denying === undefined) return undefined;
    const how = next?.type === 'action-cancelled' && next.record.id === denying ? next.data['how'] : undefined;
    return how === 'denied' || how === 'changes_requested' ? undefined : 'a signed denial did not end its action';
  }

  /** Whether this is where a denial counts: its nonce is used up with it. */
  #denies(receipt: Receipt | undefined, event: LedgerEvent): void {
    const request = receipt?.request;
    if (request?.kind !== 'action' || request.decision !== 'deny' || !noncesOf(event).has(request.nonce)) return;
    this.#denying = request.subject;
  }

  #open(opened: Opened, now: number): void {
    const { request_id, subject } = opened.request;
    this.#opened.set(request_id, opened);
    this.#about.set(subject, (this.#about.get(subject) ?? new Set()).add(request_id));
    if (this.#opened.size < this.#sweepAt) return;
    for (const [id, { request }] of this.#opened) {
      if (!this.#signed.has(id) && now - LIMITS.statementMsMax >= request.exp) this.#forgetOne(id, request.subject);
    }
    this.#sweepAt = this.#opened.size + SWEEP_AT;
  }

  /** An action is over: nothing that was signed for it can count any more. */
  forget(subject: string): void {
    for (const id of this.#about.get(subject) ?? []) this.use(id);
    this.#about.delete(subject);
    this.#denials.delete(subject);
  }

  #forgetOne(id: string, subject: string): void {
    this.use(id);
    const about = this.#about.get(subject);
    about?.delete(id);
    if (about?.size === 0) this.#about.delete(subject);
  }

  #keep(receipt: Receipt, event: LedgerEvent): void {
    const { request } = receipt;
    this.#signed.set(request.request_id, receipt);
    const taken = noncesOf(event);
    if (taken.size > 0) this.#taken.set(request.request_id, taken);
    if (request.kind !== 'action' || request.decision !== 'deny') return;
    this.#denials.set(request.subject, [...(this.#denials.get(request.subject) ?? []), receipt]);
  }

  /** Whether the commit that signed this request used up the nonces of all of these receipts. */
  usedUp(requestId: string | undefined, receipts: readonly Receipt[]): boolean {
    const taken = this.#taken.get(requestId ?? '');
    return receipts.every(({ request }) => taken?.has(request.nonce) === true);
  }

  /** Uses up a signed denial of exactly this action, by this person; whether there was one. */
  useDenial({ action_id, digest, binding }: ActionContent, by: string): boolean {
    const found = this.#denials.get(action_id)?.find((one) => {
      const { request } = one;
      const isSame = request.kind === 'action' && request.digest === digest && request.binding === binding;
      return isSame && request.approver === by && this.#signed.has(request.request_id) && this.lapse(one) === undefined;
    });
    this.#denials.delete(action_id);
    if (found !== undefined) this.use(found.request.request_id);
    return found !== undefined;
  }

  /** Uses a receipt up. */
  use(requestId: string): void {
    this.#signed.delete(requestId);
    this.#opened.delete(requestId);
    this.#taken.delete(requestId);
  }

  /** Another epoch: everything before is void. */
  clear(): void {
    this.#signed.clear();
    this.#opened.clear();
    this.#taken.clear();
    this.#denials.clear();
    this.#about.clear();
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
