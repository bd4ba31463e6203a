/**
 * What people decide about an outcome, as an audit of the log sees it: a finding and a replacement stand on a receipt
 * for exactly that, of somebody who may approve the action, and use it up.
 * Source: spec authority (human acts: finding, assume_duplicate).
 */
import {
  type ActionContent,
  type ActionState,
  methodsOfResolution,
  type Resolution,
  resolutionDigest,
} from '../actions/index.js';
import { resolversOf } from '../approvals/index.js';
import { contentRef } from '../core/index.js';
import type { LedgerEvent } from '../ledger/index.js';
import type { AuditWorld } from './audit-world.js';
import type { RequestInspection } from './request-inspection.js';

/** INVARIANT: what people decide about an outcome stands on their signature (audit.resolution-authority). */
export function resolutionDefect(
  world: AuditWorld,
  requests: RequestInspection,
  { type, data, record }: LedgerEvent,
  { content }: ActionState,
): readonly string[] {
  const kind = kindOf(type, data['settled_by']);
  if (kind === undefined) return [];
  const missing = [`no receipt of kind ${kind} stands behind this`];
  const found = requests.signed(data['request_id'] as string | undefined);
  const act = found?.act as unknown as Resolution | null | undefined;
  if (found === undefined || !act || act.kind !== kind || act.action_id !== record.id) return missing;
  const { receipt } = found;
  const { request } = receipt;
  if (request.kind !== kind || request.subject !== record.id || request.digest !== resolutionDigest(act))
    return missing;
  requests.use(request.request_id);
  const { config } = world;
  const subject = { ...content, factsUnknown: content.flags.includes('facts_unknown') };
  const methods = config === undefined ? [] : methodsOfResolution(config, content);
  const resolvers =
    config === undefined ? [] : resolversOf(config, subject, content.approvers, world.people(), methods);
  if (requests.lapse(receipt) !== undefined || !resolvers.includes(request.approver)) return missing;
  if (!methods.includes(receipt.method)) return ['this was signed in a way that does not count'];
  if (act.kind === 'assume_duplicate') return [];
  const says =
    act.outcome === data['outcome'] &&
    request.approver === data['by'] &&
    contentRef(act.evidence) === data['evidence_ref'];
  return says ? [] : missing;
}

function kindOf(type: string, settledBy: unknown): Resolution['kind'] | undefined {
  if (type === 'action-replaced') return 'assume_duplicate';
  return settledBy === 'human' || type === 'late-result-settled' ? 'finding' : undefined;
}

/** Whether an action was put in the place of this one. */
export function isReplacement({ action_id }: ActionContent, first: ActionState | undefined): boolean {
  return first?.replaced_by === action_id;
}
