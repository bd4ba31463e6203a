/**
 * An action: one effect on the outside world, as the gate holds it. Pure.
 * Arguments, results and evidence stand apart as payloads; here are their addresses.
 * Source: seeds actions-and-the-gate; spec actions (the action).
 */
import * as z from 'zod';
import type { Approval } from '../approvals/index.js';
import type { ActionClass } from '../connectors/index.js';
import { ACTION_CLASSES, type Json, type JsonObject, LIMITS, PATTERNS } from '../core/index.js';
import type { Decision, Reserved } from '../policy/index.js';

export type ActionStateName = 'proposed' | 'approved' | 'launched' | 'confirmed' | 'failed' | 'unknown' | 'cancelled';

/** Everything that digest and binding cover, and what the gate needs to find it again. Never changes. */
export type ActionContent = {
  readonly action_id: string;
  readonly ledger_id: string;
  readonly epoch: number;
  readonly project: string;
  readonly work_item: string | null;
  readonly proposed_by: string;
  readonly on_behalf_of: readonly string[];
  readonly connector: string;
  readonly operation: string;
  readonly target: string;
  /** Address of the canonical bytes of the arguments, a payload of revision 0. */
  readonly args_ref: string;
  /** Address of the operation's own summary lines, where it lives in one process alone; else null. */
  readonly own_lines_ref: string | null;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly class: ActionClass;
  readonly policy_version: string;
  readonly digest: string;
  readonly binding: string;
  readonly effect: string;
  readonly approvers: readonly string[];
  readonly quorum: number;
  /** Title of the approval rule that stood; null where policy allows it without one. */
  readonly rule: string | null;
  readonly approve_by: number;
  readonly launch_within_ms: number;
  readonly operation_digest: string;
  readonly preconditions: Readonly<Record<string, string>> | null;
  readonly provenance: Json;
  readonly flags: readonly Flag[];
  /** Equal actions that may have happened when this was proposed: whoever signs sees them. */
  readonly duplicates: readonly string[];
  /** How often the effect had been launched, by whichever action, when this was proposed. */
  readonly launches_seen: number;
  /** Set for a copy that a person made: who, of which action, and the paths that they changed. */
  readonly edited_by: string | null;
  readonly revised_from: string | null;
  readonly changed_paths: readonly string[];
  /** Set for an action that takes the place of one whose outcome is unknown. */
  readonly replaces: string | null;
};

export type Flag =
  | 'possible_duplicate'
  | 'previously_denied'
  | 'facts_unknown'
  | 'non_ascii_target'
  | 'high_entropy_args';

/** On what authority a launch stands. */
export type Authorization =
  | { readonly kind: 'receipts'; readonly request_ids: readonly string[] }
  | { readonly kind: 'policy'; readonly decision_id: string }
  | { readonly kind: 'grant'; readonly grant_id: string };

export type AttemptOutcome = 'confirmed' | 'failed' | 'unknown';
export type SettledBy = 'connector' | 'connector-late' | 'reconcile' | 'recover' | 'human';

export type Attempt = {
  readonly no: number;
  readonly authorization: Authorization;
  readonly decision: Decision;
  readonly launched_by: string;
  readonly launched_at: number;
  /** The answer of the connector counts as certain until then. */
  readonly deadline: number;
  /** The first byte of the call leaves before then, or never. */
  readonly send_by: number;
  /** What `prepare` made. */
  readonly prepared: Json;
  /** What the launch took of the bounds of policy; absent where nothing bounds it. */
  readonly reserved?: readonly Reserved[];
  readonly finished_at: number | null;
  readonly outcome: AttemptOutcome | null;
  readonly code: string | null;
  readonly external_ref: string | null;
  readonly evidence_ref: string | null;
  readonly settled_by: SettledBy | null;
};

export type Closing = 'withdrawn' | 'denied' | 'changes_requested' | 'expired' | 'superseded';

export type Retry = Pick<ActionState, 'approvals' | 'authorization' | 'launch_by'>;

export type ActionState = {
  readonly content: ActionContent;
  readonly state: ActionStateName;
  readonly proposed_at: number;
  readonly decision: Decision;
  readonly approvals: readonly Approval[];
  /** Set with `approved`. */
  readonly authorization: Authorization | null;
  readonly launch_by: number | null;
  readonly attempts: readonly Attempt[];
  readonly closed: { readonly how: Closing; readonly by: string; readonly words: string | null } | null;
  /** A result that contradicts the settled one: blocks further launches until a person looked at it. */
  readonly late_result: {
    readonly attempt: number;
    readonly outcome: AttemptOutcome;
    readonly code: string | null;
  } | null;
  /** Such results of further attempts, which come up one behind the other. */
  readonly late_more: readonly NonNullable<ActionState['late_result']>[];
  /** Set by a restore: what this action did since the backup is not known. */
  readonly interrupted: boolean;
  /** Approvals of another attempt while the outcome of the last one is unknown; the state stays unknown until then. */
  readonly retry: Retry | null;
  /** The action that a person let run in the place of this one, whose outcome is unknown. */
  readonly replaced_by: string | null;
  /** The copy that a person made of it. */
  readonly superseded_by: string | null;
};

/** A column of a page of text, without controls: names that people read in one line. */
const line = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]*$/u);

/** An object as JSON has them: an instance of a class would be read as an empty one. */
function isPlainObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function isContent(value: unknown): boolean {
  return value instanceof Uint8Array && value.length <= LIMITS.contentBytesMax;
}

/** What a caller proposes. Who proposes is never in here: it comes from the authenticated caller. */
export const Proposal = z.strictObject({
  project: z.string().regex(PATTERNS.project),
  work_item: line(LIMITS.workItemCharsMax).optional(),
  connector: z.string().regex(PATTERNS.project),
  operation: z.string().regex(PATTERNS.operation),
  target: line(LIMITS.targetCharsMax).refine(
    (text) => !/[\p{Default_Ignorable_Code_Point}\p{Cn}]/u.test(text) && text.normalize('NFC') === text,
  ),
  /** Read in full by the operation's own schema. */
  args: z.custom<JsonObject>(isPlainObject).default({}),
  amount: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  currency: z.string().regex(PATTERNS.currency).optional(),
  class: z.enum(ACTION_CLASSES).optional(),
  /** Narrows who may approve; never widens it. */
  approvers: z.array(z.string().regex(PATTERNS.human)).min(1).max(LIMITS.approversMax).optional(),
  /** Asks for more approvals than the rule does; never for fewer. */
  quorum: z.int().min(1).max(LIMITS.quorumMax).optional(),
  approve_within_ms: z.int().min(1).max(LIMITS.approveWithinMsMax).optional(),
  launch_within_ms: z.int().min(1).max(LIMITS.launchWithinMsMax).optional(),
  on_behalf_of: z.array(z.string().regex(PATTERNS.principal)).max(LIMITS.onBehalfOfMax).optional(),
  idempotency_key: z
    .string()
    .regex(/^[!-~]{1,255}$/)
    .optional(),
  /** Content that the operation reads by its address: stored with the action. */
  content: z.array(z.custom<Uint8Array>(isContent)).max(16).optional(),
});
export type Proposal = z.input<typeof Proposal>;
