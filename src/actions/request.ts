/**
 * The gate asks a person: a request over exactly this action, its conditions and the summary as it is now.
 * It is issued only for a record that can use it, and only to somebody who could approve it.
 * Source: spec authority (request and receipt).
 */
import { FREEZE_RECORD, frozenIn, openRequest, type RequestDocument } from '../approvals/index.js';
import type { Operation } from '../connectors/index.js';
import { base64urlEncode, LIMITS, Refusal } from '../core/index.js';
import { LEDGER_RECORD, ledgerKind, personKind } from '../identity/index.js';
import type { View } from '../ledger/index.js';
import { CONFIG_RECORD, configKind } from '../policy/index.js';
import { equalBarrier, equalLookups, equalRecords } from './equal.js';
import { actionKind } from './evolve.js';
import { currentSummary, type LoadedAction, loadAction, pinnedOperation } from './load.js';
import { retryBarrier, retryWindow, standingBarrier } from './machine-people.js';
import type { Summary } from './render.js';
import type { ActionContent } from './schema.js';
import { type Caller, type Services, STALE, STALE_TRUST, withFreshFacts } from './services.js';

export interface RequestInput {
  /** `human:NAME`; the first of the action's approvers when absent. */
  readonly approver?: string;
  readonly decision?: 'approve' | 'deny';
  /** At most a day; 15 minutes when absent. */
  readonly ttlMs?: number;
}

export interface IssuedRequest {
  readonly request: RequestDocument;
  readonly summary: readonly string[];
}

/** The action's policy version is the active one; else nothing is approved or launched. */
export function policyBarrier(services: Services, loaded: LoadedAction): Refusal | undefined {
  if (loaded.content.policy_version === services.trust().version) return undefined;
  return new Refusal('policy_changed', 'the trust configuration changed since the proposal');
}

/** Why an action of an earlier epoch is approved no more: it could never be launched. */
export function epochBarrier(view: View, { epoch }: Pick<ActionContent, 'epoch'>): Refusal | undefined {
  if (view.get(ledgerKind, LEDGER_RECORD.id)?.state.epoch === epoch) return undefined;
  return new Refusal('decision_required', 'the store was restored since the proposal', {
    next: 'look at what became of it; ask anew with `countersign action propose --like`',
  });
}

/** The summary as a person would sign it now, checked against the stored action and the code that would run. */
export async function readSummary(services: Services, actionId: string): Promise<Summary> {
  const loaded = await loadAction(services, actionId);
  return currentSummary(services, loaded);
}

export function requestApproval(
  services: Services,
  caller: Caller,
  actionId: string,
  input: RequestInput = {},
): Promise<IssuedRequest> {
  const met: string[] = [];
  return withFreshFacts(services, () => issue(services, caller, actionId, input, met));
}

async function issue(
  services: Services,
  caller: Caller,
  actionId: string,
  input: RequestInput,
  met: string[],
): Promise<IssuedRequest> {
  const { decision = 'approve', ttlMs = LIMITS.requestTtlMsDefault } = input;
  if (decision !== 'approve' && decision !== 'deny') {
    throw new Refusal('invalid', 'a request is to approve or to deny', { path: 'decision' });
  }
  if (!Number.isSafeInteger(ttlMs) || ttlMs > LIMITS.requestTtlMsMax || ttlMs < 1) {
    throw new Refusal('ttl', 'a request lives a day at most');
  }
  const { head } = services.trust();
  const loaded = await loadAction(services, actionId);
  const { content, snapshot } = loaded;
  const approver = input.approver ?? content.approvers[0];
  if (approver === undefined) throw new Refusal('approvers', 'nobody may approve this action');
  if (!content.approvers.includes(approver)) {
    throw new Refusal('approver_not_allowed', `${approver} may not approve this`);
  }
  const barrier = policyBarrier(services, loaded);
  if (barrier !== undefined && decision === 'approve') throw barrier;
  if (loaded.state.state === 'unknown' && decision === 'approve') {
    const operation = await pinnedOperation(services, content);
    const closed = retryWindow(loaded.state.attempts, dedupeWindowOf(operation), services.clock.now());
    if (closed !== undefined) throw closed;
  }
  const summary = await currentSummary(services, loaded);
  const request_id = services.ids.mint('req');
  const nonce = base64urlEncode(services.random.bytes(32));
  const committed = await services.ledger.commit({
    actor: caller.principal,
    reads: [
      LEDGER_RECORD,
      CONFIG_RECORD,
      FREEZE_RECORD,
      { kind: 'person', id: approver },
      { kind: 'action', id: actionId },
      ...equalRecords(content, met),
    ],
    writes: [{ kind: 'request', id: request_id }],
    lookups: equalLookups(content),
    decide: (view) => {
      if (view.get(actionKind, actionId)?.head !== snapshot.head) return STALE;
      if (view.get(configKind, CONFIG_RECORD.id)?.head !== head && decision === 'approve') return STALE_TRUST;
      if (view.get(personKind, approver)?.state.state !== 'active') {
        return new Refusal('unknown_approver', 'no such person is registered');
      }
      const frozen = decision === 'approve' ? (epochBarrier(view, content) ?? frozenIn(view, content)) : undefined;
      if (frozen !== undefined) return frozen;
      const epoch = view.get(ledgerKind, LEDGER_RECORD.id)?.state.epoch ?? 0;
      const refused = requestBarrier(loaded, view.now, decision);
      if (refused !== undefined) return refused;
      // INVARIANT: nobody signs for what could not be launched any more (actions.request.equal).
      const equal =
        decision === 'approve' ? equalBarrier(view, content, view.lookup('action', content.effect), met) : undefined;
      if (equal !== undefined) return equal;
      const request: RequestDocument = {
        v: 1,
        kind: 'action',
        aud: { ledger_id: content.ledger_id, epoch },
        request_id,
        approver,
        subject: actionId,
        digest: content.digest,
        binding: content.binding,
        summary_digest: summary.digest,
        decision,
        requested_by: caller.principal,
        nonce,
        iat: view.now,
        exp: view.now + ttlMs,
      };
      return { events: [openRequest(request, null)], outcome: request };
    },
  });
  return { request: committed.outcome, summary: summary.rendered };
}

/** How long an operation knows a repeated call, in milliseconds; undefined where it does not. */
export function dedupeWindowOf({ dedupe }: Operation): number | undefined {
  if (dedupe === 'none') return undefined;
  return dedupe.windowMs === 'forever' ? Number.POSITIVE_INFINITY : dedupe.windowMs;
}

/** A request that no record could use is not issued. */
function requestBarrier({ state, content }: LoadedAction, now: number, decision: string): Refusal | undefined {
  const details = { state: state.state };
  if (state.state === 'launched') return new Refusal('launched', 'the action is running', { details });
  if (state.state === 'unknown' && decision === 'deny') {
    return new Refusal('decision_required', 'the outcome is unknown', { details });
  }
  const usable =
    state.state === 'proposed' ||
    state.state === 'approved' ||
    state.state === 'unknown' ||
    (state.state === 'failed' && decision === 'approve');
  if (!usable) {
    const code = state.closed?.how === 'expired' ? 'expired' : 'state';
    return new Refusal(code, `the action is ${state.state}`, { details });
  }
  const barrier = state.state === 'unknown' ? retryBarrier(state) : standingBarrier(state);
  if (barrier !== undefined) return barrier;
  // An approved action can be denied until it is launched, whether or not it could still be approved.
  const until = decision === 'deny' && state.state === 'approved' ? (state.launch_by ?? 0) : content.approve_by;
  return now >= until ? new Refusal('expired', 'the time to decide it has passed') : undefined;
}
