/**
 * Requests that wait for a signature which could do nothing any more: what was asked is void, decided or done already.
 * Source: spec actions (decisions), authority (identity of the ledger).
 */
import { actionKind, isResolution } from '../actions/index.js';
import { type Act, ActBarrier, type RequestDocument, type RequestState } from '../approvals/index.js';
import { Refusal } from '../core/index.js';
import type { Ledger } from '../ledger/index.js';
import { packageKind } from '../packages/index.js';
import { epochOf } from './epoch.js';

/** One moment in which requests are looked at. */
export class Moot {
  readonly #ledger: Ledger;
  readonly #acts: ActBarrier;
  #epoch: Promise<number> | undefined;

  constructor(ledger: Ledger, now: number) {
    this.#ledger = ledger;
    this.#acts = new ActBarrier(ledger, now);
  }

  /**
   * Whether nothing follows from signing an open request.
   * INVARIANT: nobody is asked to sign in vain (app.inbox.moot).
   */
  async is({ request, act }: Pick<RequestState, 'request' | 'act'>): Promise<boolean> {
    const { kind, subject } = request;
    this.#epoch ??= epochOf(this.#ledger);
    if (request.aud.epoch !== (await this.#epoch)) return true;
    if (isResolution(kind)) return this.#isResolved(kind, subject);
    if (kind === 'summary') {
      const asked = (act as { readonly manifest_sha256?: unknown } | null)?.manifest_sha256;
      return (await this.#ledger.read(packageKind, subject))?.state.manifest_sha256 !== asked;
    }
    if (kind === 'action' || act === null) return false;
    return (await this.#acts.refusal(act as unknown as Act, request)) instanceof Refusal;
  }

  async #isResolved(kind: RequestDocument['kind'], actionId: string): Promise<boolean> {
    const action = (await this.#ledger.read(actionKind, actionId))?.state;
    if (action === undefined) return false;
    if (kind === 'assume_duplicate') return action.state !== 'unknown' || action.replaced_by !== null;
    return action.state !== 'unknown' && action.late_result === null;
  }
}
