/**
 * What a package can do: one row for each action of the vocabulary, with the states it is legal in, the state it
 * leads to, its gate, and the change that it makes to the manifest. Pure, and the same when it is replayed.
 *
 * INVARIANT: checks stand in this order: revision, legality, gate (packages.order). What is refused changes nothing.
 * Source: seeds action-envelope (vocabulary, gates, error semantics); spec packages.
 */
import { LIMITS, Refusal } from '../core/index.js';
import { isBlank } from './fields.js';
import { eventId, isLogicalPath, manifestDigest, utcTime } from './manifest.js';
import {
  ACTION_NAMES,
  type ActionName,
  type Confirmation,
  type Intent,
  type Manifest,
  type PackageState,
  type PackageStateName,
  type StoredEnvelope,
} from './schema.js';
import { canonicalDigest, renderCanonical } from './summary.js';

type Of<Name extends ActionName> = Extract<StoredEnvelope, { action: Name }>;

interface Row<Name extends ActionName> {
  readonly from: readonly PackageStateName[];
  readonly to: PackageStateName;
  /** True for what at every door only a person's signature does. */
  readonly isHuman?: true;
  /** What is missing, before anything is written. */
  gate?(manifest: Manifest, envelope: Of<Name>): Refusal | undefined;
  /** What it changes beside revision, state and times. `now` is the text of the one clock reading. */
  change?(manifest: Manifest, envelope: Of<Name>, now: string): Partial<Manifest>;
}

const PENDING: Confirmation = {
  status: 'pending',
  confirmed_at: null,
  operator_id: null,
  confirmed_summary_sha256: null,
};

const OPEN: readonly PackageStateName[] = ['INTAKE', 'SUMMARY_PENDING', 'AUTHORING_AUTHORIZED', 'DRAFT_READY'];

const ROWS: { readonly [Name in ActionName]: Row<Name> } = {
  record_input: {
    from: ['INTAKE'],
    to: 'INTAKE',
    gate: ({ inputs }, { payload: { input_id, disposition, exclusion_reason } }) => {
      if (inputs.some((known) => known.input_id === input_id)) {
        return new Refusal('INVALID_PAYLOAD', 'an input of this input_id is there already', {
          path: '$.payload.input_id',
        });
      }
      if (disposition === 'excluded' && isBlank(exclusion_reason ?? '')) {
        const path = '$.payload.exclusion_reason';
        return new Refusal('INVALID_PAYLOAD', 'an excluded input needs an exclusion_reason', { path });
      }
      if (inputs.length < LIMITS.packageInputsMax) return undefined;
      return new Refusal('INVALID_PAYLOAD', `a package has at most ${LIMITS.packageInputsMax} inputs`, {
        path: '$.payload',
      });
    },
    change: ({ inputs }, { payload }) => {
      const { input_id, kind, source, disposition, exclusion_reason = null, content_sha256, content_size } = payload;
      const content_path = `inputs/${input_id}.txt`;
      const input = {
        input_id,
        kind,
        source,
        disposition,
        exclusion_reason,
        content_sha256,
        content_size,
        content_path,
      };
      return { inputs: [...inputs, input] };
    },
  },
  set_objective: {
    from: ['INTAKE'],
    to: 'INTAKE',
    gate: (_manifest, { payload }) =>
      isBlank(payload.statement)
        ? new Refusal('INVALID_PAYLOAD', 'the statement is blank', { path: '$.payload.statement' })
        : undefined,
    change: (_manifest, { payload: { statement, desired_outcomes } }) => ({
      objective: { statement, desired_outcomes: desired_outcomes ?? [] },
    }),
  },
  prepare_summary: {
    from: ['INTAKE'],
    to: 'SUMMARY_PENDING',
    gate: ({ intent, objective }) => {
      if (isBlank(intent.clarified ?? intent.raw)) return new Refusal('GATE_UNSATISFIED', 'the package has no intent');
      return objective === null
        ? new Refusal('GATE_UNSATISFIED', 'the package has no objective: set_objective')
        : undefined;
    },
    change: (manifest, _envelope, now) => {
      const content = renderCanonical(manifest);
      return {
        summary: { content, canonical_sha256: canonicalDigest(content), presented_at: now, confirmation: PENDING },
      };
    },
  },
  confirm_summary: {
    from: ['SUMMARY_PENDING'],
    to: 'AUTHORING_AUTHORIZED',
    isHuman: true,
    gate: ({ summary }, { basis }) =>
      summary?.canonical_sha256 === basis.summary_sha256
        ? undefined
        : new Refusal('STALE_ACTION', 'the summary is another one', {
            path: '$.basis.summary_sha256',
            details: { actual_summary_sha256: summary?.canonical_sha256 ?? 'none' },
          }),
    change: ({ summary }, { payload }, now) => {
      if (summary === null) throw new Refusal('MANIFEST_INVALID', 'there is no summary');
      const confirmation: Confirmation = {
        status: 'confirmed',
        confirmed_at: now,
        operator_id: payload.operator_id ?? 'operator',
        confirmed_summary_sha256: summary.canonical_sha256,
      };
      return { summary: { ...summary, confirmation } };
    },
  },
  revise_intake: {
    from: ['SUMMARY_PENDING', 'AUTHORING_AUTHORIZED'],
    to: 'INTAKE',
    change: () => ({ summary: null }),
  },
  record_draft_artifact: {
    from: ['AUTHORING_AUTHORIZED'],
    to: 'DRAFT_READY',
    gate: ({ summary }, { payload }) => {
      const confirmed = summary?.confirmation.status === 'confirmed';
      if (!confirmed || summary.confirmation.confirmed_summary_sha256 !== summary.canonical_sha256) {
        return new Refusal('GATE_UNSATISFIED', 'the summary that stands now is not confirmed');
      }
      if (isLogicalPath(payload.logical_path)) return undefined;
      const what = 'must be a relative path of plain segments, at most 255 characters, outside of `.git`';
      return new Refusal('INVALID_PAYLOAD', `\`logical_path\` ${what}`, { path: '$.payload.logical_path' });
    },
    change: ({ artifacts }, { payload }) => {
      const { artifact_id, kind, logical_path, content_sha256, content_size } = payload;
      const status = 'draft' as const;
      const artifact = { artifact_id, kind, logical_path, sha256: content_sha256, byte_count: content_size, status };
      return { artifacts: [...artifacts, artifact] };
    },
  },
  cancel: { from: OPEN, to: 'CANCELLED' },
};

/** The row of an action, for those who ask about its place and not about its fields. */
export function placeOf(action: ActionName): {
  readonly from: readonly PackageStateName[];
  readonly to: PackageStateName;
  readonly isHuman: boolean;
} {
  const { from, to, isHuman = false } = ROWS[action];
  return { from, to, isHuman };
}

/** The actions that the table allows in a state. */
export function actionsFrom(state: PackageStateName): readonly ActionName[] {
  return ACTION_NAMES.filter((action) => ROWS[action].from.includes(state));
}

/** Revision 0: an intent, and nothing else. */
export function createdManifest({ package_id, intent }: Intent, now: number): Manifest {
  const at = utcTime(now);
  return {
    schema_version: '0.1',
    package_id,
    revision: 0,
    state: 'INTAKE',
    created_at: at,
    updated_at: at,
    previous_manifest_sha256: null,
    intent: { raw: intent, clarified: null },
    inputs: [],
    objective: null,
    summary: null,
    artifacts: [],
    transition: { last_event_id: eventId(package_id, 0), last_action_id: null },
  };
}

/** The manifest behind an envelope that was accepted. It checks nothing: `decide` did. */
export function advance({ manifest, manifest_sha256 }: PackageState, envelope: StoredEnvelope, now: number): Manifest {
  const row = ROWS[envelope.action] as Row<ActionName>;
  const at = utcTime(now);
  const revision = manifest.revision + 1;
  return {
    ...manifest,
    ...row.change?.(manifest, envelope, at),
    revision,
    state: row.to,
    updated_at: at,
    previous_manifest_sha256: manifest_sha256,
    transition: { last_event_id: eventId(manifest.package_id, revision), last_action_id: envelope.action_id },
  };
}

/** Revision, legality, gate; then the next manifest with its digest. `now` is the one clock reading. */
export function decide(state: PackageState, envelope: StoredEnvelope, now: number): PackageState | Refusal {
  const { manifest } = state;
  const row = ROWS[envelope.action] as Row<ActionName>;
  if (envelope.expected_revision !== manifest.revision) {
    const details = { expected_revision: envelope.expected_revision, actual_revision: manifest.revision };
    const expects = `the envelope expects ${envelope.expected_revision}`;
    const message = `the package is at revision ${manifest.revision}, ${expects}`;
    return new Refusal('STALE_ACTION', message, { path: '$.expected_revision', details });
  }
  if (!row.from.includes(manifest.state)) {
    const details = { state: manifest.state, action: envelope.action, legal: actionsFrom(manifest.state) };
    return new Refusal('ILLEGAL_TRANSITION', `${envelope.action} is not legal in ${manifest.state}`, {
      path: '$.action',
      details,
    });
  }
  const missing = row.gate?.(manifest, envelope);
  if (missing !== undefined) return missing;
  const next = advance(state, envelope, now);
  return { manifest: next, manifest_sha256: manifestDigest(next), waiting_since: waitingSince(next, now) };
}

/** A summary that stands unconfirmed waits for a person. */
export function waitingSince({ state }: Manifest, now: number): number | null {
  return state === 'SUMMARY_PENDING' ? now : null;
}
