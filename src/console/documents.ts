/**
 * The documents of the gate as far as the console reads them. The gate made and checked them; here are the names of
 * their members.
 */
import type { JsonObject } from '../api/index.js';

interface Decided {
  readonly outcome: string;
  readonly reason: string;
  readonly determined_by: readonly string[];
  readonly decision_id: string;
}

export interface AttemptDocument {
  readonly no: number;
  readonly launched_by: string;
  readonly launched_at: number;
  readonly finished_at: number | null;
  readonly outcome: string | null;
  readonly code: string | null;
  readonly external_ref: string | null;
  readonly settled_by: string | null;
}

export interface ActionDocument {
  readonly content: {
    readonly action_id: string;
    readonly project: string;
    readonly work_item: string | null;
    readonly proposed_by: string;
    readonly on_behalf_of: readonly string[];
    readonly connector: string;
    readonly operation: string;
    readonly target: string;
    readonly class: string;
    readonly digest: string;
    readonly approvers: readonly string[];
    readonly quorum: number;
    readonly rule: string | null;
    readonly approve_by: number;
    readonly policy_version: string;
    readonly preconditions: Readonly<Record<string, string>> | null;
    readonly provenance: unknown;
    readonly flags: readonly string[];
    readonly replaces: string | null;
  };
  readonly state: string;
  readonly proposed_at: number;
  readonly decision: Decided;
  readonly approvals: readonly { readonly approver: string }[];
  readonly authorization: { readonly kind: string; readonly grant_id?: string } | null;
  readonly launch_by: number | null;
  readonly attempts: readonly AttemptDocument[];
  readonly closed: { readonly how: string; readonly by: string; readonly words: string | null } | null;
  readonly late_result: { readonly attempt: number; readonly outcome: string; readonly code: string | null } | null;
  readonly interrupted: boolean;
  readonly replaced_by: string | null;
}

export interface InboxRow {
  readonly what: string;
  readonly id: string;
  readonly project: string | null;
  readonly operation: string;
  readonly target: string;
  readonly class: string | null;
  readonly approvals: number;
  readonly quorum: number;
  readonly approvers: readonly string[];
  readonly due: number;
  readonly wanted?: { readonly by: number; readonly late: boolean };
  readonly awaited?: true;
}

export interface GrantRow {
  readonly grant_id: string;
  readonly state: string;
  readonly used: number;
  readonly spent: number;
  readonly holds: readonly { readonly amount?: number }[];
  readonly signers: readonly { readonly person: string }[];
  readonly lines: readonly string[];
  readonly grant: {
    readonly project: string;
    readonly agents: readonly string[];
    readonly connector: string;
    readonly operations: Readonly<Record<string, string>>;
    readonly target: string;
    readonly class: string;
    readonly total?: number;
    readonly currency?: string;
    readonly count: number;
    readonly until: number;
  };
}

export interface PackageRow {
  readonly id: string;
  readonly status: string;
  readonly intent: string;
  readonly updated: number;
  readonly revision: number;
}

/** A package at one revision. */
export interface ManifestDocument {
  readonly package_id: string;
  readonly revision: number;
  readonly state: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly intent: { readonly raw: string; readonly clarified: string | null };
  readonly objective: { readonly statement: string; readonly desired_outcomes: readonly string[] } | null;
  readonly inputs: readonly {
    readonly input_id: string;
    readonly kind: string;
    readonly source: string;
    readonly disposition: string;
    readonly exclusion_reason: string | null;
    readonly content_sha256: string;
    readonly content_size: number;
  }[];
  readonly summary: {
    readonly content: string;
    readonly canonical_sha256: string;
    readonly confirmation: {
      readonly status: string;
      readonly confirmed_at: string | null;
      readonly operator_id: string | null;
    };
  } | null;
  readonly artifacts: readonly {
    readonly artifact_id: string;
    readonly kind: string;
    readonly logical_path: string;
    readonly sha256: string;
    readonly byte_count: number;
  }[];
}

export interface EnvelopeRow {
  readonly revision: number;
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly action_id: string | null;
  readonly about: string | null;
}

/** For who may not see all of the action its id and state alone. */
export interface ReleaseRow {
  readonly action_id: string;
  readonly state: string;
  readonly connector?: string;
  readonly target?: string;
  readonly proposed_by?: string;
  readonly proposed_at?: number;
  readonly revision?: string;
}

export interface PersonRow {
  readonly person: string;
  readonly roles: readonly string[];
  readonly state: string;
  readonly added_at: number;
  readonly away: { readonly until: number; readonly delegate: string | null } | null;
}

export interface KeyRow {
  readonly key_id: string;
  readonly person: string;
  readonly method: string;
  readonly state: string;
  readonly added_at: number;
}

export interface TokenRow {
  readonly token_id: string;
  readonly agent: string;
  readonly scope: {
    readonly projects: readonly string[];
    readonly connectors: readonly string[];
    readonly verbs: readonly string[];
  };
  readonly expires: number;
  readonly state: string;
}

export interface PendingRow {
  readonly invitation_id: string;
  readonly person: string;
  readonly roles: readonly string[];
  readonly expires: number;
}

export interface FrozenRow {
  readonly scope: string;
  readonly name: string | null;
  readonly by: string;
  readonly at: number;
}

/** A request with the lines that are signed. */
export interface Issued {
  readonly request: JsonObject;
  readonly summary: readonly string[];
}

/** A document of an answer, by the members that are read here. */
export function asRead<Document>(value: unknown): Document {
  return value as Document;
}
