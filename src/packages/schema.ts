/**
 * The action envelope of protocol 0.1, and the manifest of a package. Pure.
 *
 * One table holds the fields of each action: what is accepted, what a prompt shows and what a tool declares all come
 * from it. Source: seeds action-envelope (names and fields hold exactly); spec packages.
 */
import * as z from 'zod';
import { type JsonObject, LIMITS, PATTERNS } from '../core/index.js';
import { form, gated, line, list, name, noted, oneOf, optional, text, word } from './fields.js';

export const PROTOCOL_VERSION = '0.1';

/** The first characters of every package's id are `pkg_`. */
const packageId = form(PATTERNS.package, '`pkg_` and 1 to 63 of the characters A-Za-z0-9_-', 'pkg_demo_001');
const actionId = word(1, LIMITS.envelopeActionIdCharsMax, 'act_01');
const id = (example: string) => name('A-Za-z0-9_-', LIMITS.packageNamesCharsMax, example);
const reason = (example?: string) => line(0, LIMITS.reasonCharsMax, example);

/** The fields of `basis` and `payload` of every action, in the order in which they are checked. */
export const FIELDS = {
  record_input: {
    basis: {},
    payload: {
      input_id: id('input-1'),
      kind: oneOf(['text', 'url', 'file-reference', 'constraint']),
      content: text(LIMITS.envelopeContentCharsMax, 'what the input says'),
      source: oneOf(['operator', 'adapter']),
      disposition: oneOf(['incorporated', 'excluded']),
      exclusion_reason: noted(optional(reason()), 'an excluded input needs one'),
    },
  },
  set_objective: {
    basis: {},
    payload: {
      statement: noted(line(0, LIMITS.statementCharsMax, 'what shall be reached'), 'not blank'),
      desired_outcomes: optional(list(line(0, LIMITS.statementCharsMax, 'what is true then'), LIMITS.outcomesMax)),
    },
  },
  prepare_summary: { basis: {}, payload: {} },
  confirm_summary: {
    basis: { summary_sha256: word(1, LIMITS.envelopeActionIdCharsMax, '0'.repeat(64)) },
    payload: { operator_id: optional(name('A-Za-z0-9._-', LIMITS.packageNamesCharsMax)) },
  },
  revise_intake: { basis: {}, payload: {} },
  record_draft_artifact: {
    basis: {},
    payload: {
      artifact_id: id('draft-1'),
      kind: line(1, LIMITS.packageNamesCharsMax, 'document'),
      logical_path: gated(
        LIMITS.logicalPathCharsMax,
        'a relative path of plain segments, at most 255 characters, without `..`, a backslash, `%` or `.git`',
        'docs/draft.md',
      ),
      content: text(LIMITS.envelopeContentCharsMax, 'the whole draft'),
    },
  },
  cancel: { basis: {}, payload: { reason: optional(reason('no longer needed')) } },
} as const;

export type ActionName = keyof typeof FIELDS;
export const ACTION_NAMES = Object.keys(FIELDS) as readonly ActionName[];

export type Part<Name extends ActionName, Of extends 'basis' | 'payload'> = z.infer<
  z.ZodObject<(typeof FIELDS)[Name][Of], z.core.$strict>
>;

/** The fields that every envelope has, in the order in which they are checked; `basis` and `payload` come after. */
export const HEAD_FIELDS = {
  protocol_version: z.literal(PROTOCOL_VERSION).meta({ description: `"${PROTOCOL_VERSION}"` }),
  action_id: actionId,
  package_id: packageId,
  expected_revision: z.int().min(0).meta({ description: 'a whole number, 0 or more' }),
  action: oneOf(ACTION_NAMES as readonly [ActionName, ...ActionName[]]),
} as const;

export const BODY_FIELDS = ['basis', 'payload'] as const;

type EnvelopeOf<Name extends ActionName> = {
  readonly protocol_version: typeof PROTOCOL_VERSION;
  readonly action_id: string;
  readonly package_id: string;
  readonly expected_revision: number;
  readonly action: Name;
  readonly basis: Part<Name, 'basis'>;
  readonly payload: Part<Name, 'payload'>;
};

/** An envelope that was read in full. */
export type Envelope = { [Name in ActionName]: EnvelopeOf<Name> }[ActionName];

/** The schema of one action's envelope as a whole. */
export function envelopeSchema(action: ActionName) {
  return z.strictObject({
    ...HEAD_FIELDS,
    action: z.literal(action),
    basis: z.strictObject(FIELDS[action].basis),
    payload: z.strictObject(FIELDS[action].payload),
  });
}

/** What a package begins with. */
export const Intent = z.strictObject({
  package_id: packageId,
  intent: line(0, LIMITS.intentCharsMax, 'write the release notes'),
});
export type Intent = z.infer<typeof Intent>;

/** What stands in the place of content that is kept apart: its bytes and their number. */
export type ContentAddress = { readonly content_sha256: string; readonly content_size: number };

type StoredPart<Payload> = Payload extends { readonly content: string }
  ? Omit<Payload, 'content'> & ContentAddress
  : Payload;

type StoredOf<Name extends ActionName> = Omit<EnvelopeOf<Name>, 'payload'> & {
  readonly payload: StoredPart<Part<Name, 'payload'>>;
};

/** An envelope as its event keeps it: content apart, under its digest. */
export type StoredEnvelope = { [Name in ActionName]: StoredOf<Name> }[ActionName];

export type PackageStateName = 'INTAKE' | 'SUMMARY_PENDING' | 'AUTHORING_AUTHORIZED' | 'DRAFT_READY' | 'CANCELLED';

export const PACKAGE_STATES: readonly PackageStateName[] = [
  'INTAKE',
  'SUMMARY_PENDING',
  'AUTHORING_AUTHORIZED',
  'DRAFT_READY',
  'CANCELLED',
];

export type Input = {
  readonly input_id: string;
  readonly kind: string;
  readonly source: string;
  readonly disposition: string;
  readonly exclusion_reason: string | null;
  readonly content_sha256: string;
  /** Bytes of UTF-8. */
  readonly content_size: number;
  readonly content_path: string;
};

export type Confirmation = {
  readonly status: 'pending' | 'confirmed';
  readonly confirmed_at: string | null;
  readonly operator_id: string | null;
  readonly confirmed_summary_sha256: string | null;
};

export type Summary = {
  readonly content: string;
  readonly canonical_sha256: string;
  readonly presented_at: string;
  readonly confirmation: Confirmation;
};

export type Artifact = {
  readonly artifact_id: string;
  readonly kind: string;
  readonly logical_path: string;
  readonly sha256: string;
  /** Bytes of UTF-8. */
  readonly byte_count: number;
  readonly status: 'draft';
};

/** A package at one revision: what its digest covers. Times are UTC in the form `2026-08-07T00:00:00+00:00`. */
export type Manifest = {
  readonly schema_version: '0.1';
  readonly package_id: string;
  readonly revision: number;
  readonly state: PackageStateName;
  readonly created_at: string;
  readonly updated_at: string;
  /** 64 hex digits; null at revision 0. */
  readonly previous_manifest_sha256: string | null;
  readonly intent: { readonly raw: string; readonly clarified: string | null };
  readonly inputs: readonly Input[];
  readonly objective: { readonly statement: string; readonly desired_outcomes: readonly string[] } | null;
  readonly summary: Summary | null;
  readonly artifacts: readonly Artifact[];
  readonly transition: { readonly last_event_id: string; readonly last_action_id: string | null };
};

/** A package as its record holds it. */
export type PackageState = {
  readonly manifest: Manifest;
  /** The digest that the event of this revision names: 64 hex digits. */
  readonly manifest_sha256: string;
  /** Since when a summary waits for its confirmation: milliseconds since the epoch, else null. */
  readonly waiting_since: number | null;
};

/** What an accepted envelope did: recorded with its event, and told again when the same envelope comes back. */
export type Outcome = {
  readonly package_id: string;
  readonly action_id: string;
  readonly action: ActionName;
  readonly revision: number;
  readonly state: PackageStateName;
  readonly event_id: string;
  readonly manifest_sha256: string;
  /** Of the summary that stands now; null where there is none. */
  readonly summary_sha256: string | null;
};

/** The data of the events of a package. */
export type CreatedData = JsonObject & {
  readonly package_id: string;
  readonly intent: string;
  readonly manifest_sha256: string;
};
export type AcceptedData = JsonObject & {
  readonly envelope: StoredEnvelope;
  readonly manifest_sha256: string;
  /** The person's signature behind it; absent where nobody signed. */
  readonly authorization?: { readonly request_id: string; readonly approver: string };
};
