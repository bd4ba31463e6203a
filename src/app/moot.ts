/**
 * Requests that wait for a signature which could do nothing any more: what was asked is void, decided or done already.
 * Source: spec actions (decisions), authority (identity of the ledger).
 */
import { actionKind, isResolution } from '../actions/index.js';
import { type Act, actBarrier, type People, type RequestDocument, type RequestState } from '../approvals/index.js';
import { Refusal } from '../core/index.js';
import type { Ledger } from '../ledger/index.js';
import { packageKind } from '../packages/index.js';

export interface MootWorld {
  readonly epoch: number;
  readonly now: number;
  /** Read once for many requests. */
  readonly people?: People;
}

/**
 * Whether nothing follows from signing an open request.
 * INVARIANT: nobody is asked to sign in vain (app.inbox.moot).
 */
export async function isMoot(
  ledger: Ledger,
  { request, act }: Pick<RequestState, 'request' | 'act'>,
  { epoch, now, people }: MootWorld,
): Promise<boolean> {
  const { kind, subject } = request;
  if (request.aud.epoch !== epoch) return true;
  if (isResolution(kind)) return isResolved(ledger, kind, subject);
  if (kind === 'summary') {
    const asked = (act as { readonly manifest_sha256?: unknown } | null)?.manifest_sha256;
    return (await ledger.read(packageKind, subject))?.state.manifest_sha256 !== asked;
  }
  return (
    kind !== 'action' && act !== null && (await isRefused(ledger, act as unknown as Act, request, { now, people }))
  );
}

async function isRefused(
  ledger: Ledger,
  act: Act,
  request: RequestDocument,
  { now, people }: Pick<MootWorld, 'now'> & { readonly people: People | undefined },
): Promise<boolean> {
  return (await actBarrier(ledger, act, request, now, people)) instanceof Refusal;
}

async function isResolved(ledger: Ledger, kind: RequestDocument['kind'], actionId: string): Promise<boolean> {
  const action = (await ledger.read(actionKind, actionId))?.state;
  if (action === undefined) return false;
  if (kind === 'assume_duplicate') return action.state !== 'unknown' || action.replaced_by !== null;
  return action.state !== 'unknown' && action.late_result === null;
}
