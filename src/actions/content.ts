/**
 * The digests of an action: what a person signs, under which conditions, and which effect it is. Pure.
 *
 * digest covers the call; binding covers who may approve it, until when, and what code runs it; effect is the call
 * without its id, so that the same effect asked for twice is noticed.
 * Source: seeds actions-and-the-gate (the digest holds exactly); spec actions.
 */
import { canonicalize, digest, digestBytes } from '../core/index.js';
import type { ActionContent } from './schema.js';

export type DigestFields = Pick<
  ActionContent,
  'action_id' | 'project' | 'connector' | 'operation' | 'target' | 'amount' | 'currency' | 'policy_version'
>;

/**
 * The digest of the source document, over exactly its nine fields. `argsText` is canonical already and enters as it
 * is.
 */
export function actionDigest(fields: DigestFields, argsText: string): string {
  const { action_id, project, connector, operation, target, amount, currency, policy_version } = fields;
  const before = canonicalize({ action_id, amount }).slice(0, -1);
  const after = canonicalize({ connector, currency, operation, policy_version, project, target }).slice(1);
  return digestBytes('ameesh-action/1', `${before},"args":${argsText},${after}`);
}

/** The same effect asked for again has the same digest, whoever asks. */
export function effectDigest(fields: Omit<DigestFields, 'action_id' | 'policy_version'>, argsText: string): string {
  const { project, connector, operation, target, amount, currency } = fields;
  const before = canonicalize({ amount }).slice(0, -1);
  const after = canonicalize({ connector, currency, operation, project, target }).slice(1);
  return digestBytes('countersign-effect/1', `${before},"args":${argsText},${after}`);
}

/** The conditions. Fields of parts that are still to come are null, as they are for an action without them. */
export function actionBinding(content: Omit<ActionContent, 'binding'>): string {
  return digest('countersign-binding/1', {
    digest: content.digest,
    class: content.class,
    work_item: content.work_item,
    proposed_by: content.proposed_by,
    on_behalf_of: content.on_behalf_of,
    approvers: content.approvers,
    quorum: content.quorum,
    approve_by: content.approve_by,
    launch_within_ms: content.launch_within_ms,
    operation_digest: content.operation_digest,
    preconditions: content.preconditions,
    provenance: content.provenance,
    flags: content.flags,
    edited_by: content.edited_by,
    pipeline_digest: null,
    ledger_id: content.ledger_id,
  });
}
