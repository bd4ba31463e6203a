/**
 * The receipts that a launch stands on, as an audit of the log sees them: of people whom the rule of the day names, in
 * ways that count, for exactly this action, as many as it needs, each used up by this launch.
 * Source: spec authority (approval rules, request and receipt).
 */
import type { ActionContent, ActionState } from '../actions/index.js';
import { type Approval, approversOf, excludedOf, methodsOf, type Receipt, ruleFor } from '../approvals/index.js';
import type { JsonObject } from '../core/index.js';
import { personKind } from '../identity/index.js';
import type { LedgerEvent } from '../ledger/index.js';
import type { AuditWorld } from './audit-world.js';
import type { RequestInspection } from './request-inspection.js';

export function receiptsDefects(
  world: AuditWorld,
  requests: RequestInspection,
  event: LedgerEvent,
  before: ActionState,
  requestIds: readonly string[],
): readonly string[] {
  const { content } = before;
  const defects: string[] = [];
  const taken = noncesOf(event);
  const people = new Set<string>();
  const since = freshSince(before);
  for (const requestId of requestIds) {
    const receipt = requests.signed(requestId)?.receipt;
    const wrong = receipt === undefined ? 'that is not there' : approvalDefect(world, requests, receipt, content);
    if (receipt === undefined || wrong !== undefined) {
      defects.push(`a launch stands on a receipt ${wrong}`);
      continue;
    }
    if (receipt.request.iat < since)
      defects.push('a launch stands on a receipt from before its proposal, or its failure');
    if (!taken.has(receipt.request.nonce)) defects.push('a launch did not use up the nonce of its receipt');
    people.add(receipt.request.approver);
    requests.use(requestId);
  }
  const needed = Math.max(content.quorum, ruleOf(world, content)?.quorum ?? 1);
  if (people.size < needed) defects.push('a launch stands on too few approvals');
  return defects;
}

/** INVARIANT: after a failure only what was asked for since then counts (actions.machine.fresh-receipts). */
function freshSince({ proposed_at, attempts }: ActionState): number {
  return Math.max(proposed_at, ...attempts.map(({ finished_at }) => finished_at ?? 0));
}

/** What is wrong with an approval that begins to count; it is used up at the launch. */
export function approvalDefects(
  world: AuditWorld,
  requests: RequestInspection,
  { data }: LedgerEvent,
  before: ActionState,
): readonly string[] {
  const approval = (data['approvals'] as readonly Approval[] | undefined)?.at(-1);
  const receipt = requests.signed(approval?.request_id)?.receipt;
  const isSame =
    receipt?.request.nonce === approval?.nonce &&
    receipt?.credential_id === approval?.credential_id &&
    receipt?.request.approver === approval?.approver;
  if (receipt === undefined || !isSame) return ['an approval stands on a receipt that is not there'];
  const wrong = approvalDefect(world, requests, receipt, before.content);
  if (wrong !== undefined) return [`an approval stands on a receipt ${wrong}`];
  const isFresh = receipt.request.iat >= freshSince(before);
  return isFresh ? [] : ['an approval stands on a receipt from before its proposal, or its failure'];
}

function ruleOf({ config }: AuditWorld, content: ActionContent) {
  const factsUnknown = content.flags.includes('facts_unknown');
  return config === undefined ? undefined : ruleFor(config, { ...content, factsUnknown });
}

function approvalDefect(
  world: AuditWorld,
  requests: RequestInspection,
  receipt: Receipt,
  content: ActionContent,
): string | undefined {
  const { request } = receipt;
  if (request.kind !== 'action' || request.decision !== 'approve') return 'that approves nothing';
  const same = request.subject === content.action_id && request.digest === content.digest;
  if (!same || request.binding !== content.binding) return 'for something else';
  const lapse = requests.lapse(receipt);
  if (lapse !== undefined) return lapse;
  if (!content.approvers.includes(request.approver)) return 'of somebody who may not approve it';
  const rule = ruleOf(world, content);
  const { config } = world;
  if (rule === undefined || config === undefined) return 'that no rule lets count';
  if (!methodsOf(rule, content.class).includes(receipt.method)) return 'that was signed in a way that does not count';
  const isApprover = world.state(personKind, request.approver)?.roles.includes('approver') === true;
  const excluded = excludedOf(rule, config, content.proposed_by, content.on_behalf_of, content.edited_by);
  const named = approversOf(rule, config.groups, [request.approver], excluded, undefined);
  return isApprover && named.length === 1 ? undefined : 'of somebody who may not approve it';
}

/** The nonces that an event used up. */
export function noncesOf(event: LedgerEvent): ReadonlySet<string> {
  const taken = (event.data['claims'] as JsonObject | undefined)?.['taken'] as
    | readonly (readonly string[])[]
    | undefined;
  // A nonce is nobody's: taken in somebody's name it could be taken once more.
  const nonces = (taken ?? []).filter(([scope, principal]) => scope === 'nonce' && principal === '');
  return new Set(nonces.map(([, , key]) => key as string));
}
