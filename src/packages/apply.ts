/**
 * A package is created; an envelope is accepted, told again, or refused with nothing changed.
 *
 * The checks stand in the order of the protocol: parse and fields (parse.ts) → the package loads and verifies →
 * idempotency (the claim of the commit) → revision, legality, gate (machine.ts) → one commit. Who signs a
 * confirmation is no matter of this file: it records what the envelope says, which proves nothing. The doors ask for
 * a receipt (confirm.ts). Source: seeds action-envelope; spec packages.
 */

import { FREEZE_RECORD } from '../approvals/index.js';
import { Refusal } from '../core/index.js';
import type { RecordRef, View, Work } from '../ledger/index.js';
import { ACCEPTED, CREATED, packageKind } from './evolve.js';
import { loadPackage, notFound, packageRecord } from './load.js';
import { createdManifest, decide } from './machine.js';
import { manifestDigest } from './manifest.js';
import { parseEnvelope, parseIntent } from './parse.js';
import type { AcceptedData, Envelope, Outcome, PackageState } from './schema.js';
import type { PackageServices } from './services.js';
import { CLAIM_SCOPE, envelopeDigest, setApart } from './stored.js';

export type Created = {
  readonly package_id: string;
  readonly revision: number;
  readonly state: PackageState['manifest']['state'];
  readonly manifest_sha256: string;
  /** False where the package was there already, with the same intent. */
  readonly created: boolean;
};

export type Applied = Outcome & {
  /** True where the same envelope was accepted before: nothing was written now. */
  readonly replayed: boolean;
};

/** Refuses `INVALID_ENVELOPE`, `PACKAGE_EXISTS`, `MANIFEST_INVALID`; faults `store`, `corrupt`. */
export async function createPackage(services: PackageServices, actor: string, input: unknown): Promise<Created> {
  const intent = parseIntent(input);
  const { package_id } = intent;
  const { outcome } = await services.ledger.commit<Created>({
    actor,
    reads: brakeOf(services),
    writes: [packageRecord(package_id)],
    decide: (view) => {
      const known = view.get(packageKind, package_id)?.state;
      if (known !== undefined) return { events: [], outcome: sameCreated(services, known, intent) };
      const frozen = services.frozen?.(view, actor);
      if (frozen !== undefined) return frozen;
      const manifest = createdManifest(intent, view.now);
      const manifest_sha256 = manifestDigest(manifest);
      const data = { ...intent, manifest_sha256 };
      const created = { package_id, revision: 0, state: manifest.state, manifest_sha256, created: true };
      return { events: [{ record: packageRecord(package_id), type: CREATED, data }], outcome: created };
    },
  });
  return outcome;
}

/** INVARIANT: one id, one intent (packages.create.same). Throws the refusal. */
function sameCreated(
  { manifests }: PackageServices,
  known: PackageState,
  { package_id, intent }: { package_id: string; intent: string },
): Created {
  const invalid = manifests.defectOf(known, package_id);
  if (invalid !== undefined) throw invalid;
  const { manifest, manifest_sha256 } = known;
  if (manifest.intent.raw !== intent) {
    throw new Refusal('PACKAGE_EXISTS', 'there is a package of this id with another intent', { path: '$.intent' });
  }
  const { revision, state } = manifest;
  return { package_id, revision, state, manifest_sha256, created: false };
}

/**
 * Applies an envelope, given as text, bytes or an object. Refuses with the codes of the protocol; faults `store`,
 * `corrupt`.
 */
export async function applyEnvelope(services: PackageServices, actor: string, input: unknown): Promise<Applied> {
  return acceptEnvelope(services, actor, parseEnvelope(input));
}

/** The same, of an envelope that was read before. */
export function acceptEnvelope(services: PackageServices, actor: string, envelope: Envelope): Promise<Applied> {
  return accepted(services, actor, envelope, (work) => services.ledger.commit({ ...work, actor }));
}

/** What an envelope would do. */
export type Checked = { readonly package_id: string; readonly action: Envelope['action']; readonly replayed: boolean };

/** Whether an envelope would be accepted now, or told again. Writes nothing; refuses as `applyEnvelope` does. */
export async function checkEnvelope(services: PackageServices, input: unknown): Promise<Checked> {
  const envelope = parseEnvelope(input);
  const { package_id, action } = envelope;
  const { state, headAt } = await loadPackage(services, package_id);
  const known = await recorded(services, envelope);
  const decided = known === undefined ? decide(state, setApart(envelope).stored, headAt) : undefined;
  if (decided instanceof Refusal) throw decided;
  return { package_id, action, replayed: known !== undefined };
}

/** The signature that a confirmation stands on. */
export type Authorization = NonNullable<AcceptedData['authorization']>;

/** Loads, commits by `commit`, and tells what became of it. */
export async function accepted(
  services: PackageServices,
  actor: string,
  envelope: Envelope,
  commit: (work: Omit<Work<Outcome>, 'actor'>) => Promise<{ readonly outcome: Outcome; readonly replayed: boolean }>,
  authorization?: Authorization,
): Promise<Applied> {
  await loadPackage(services, envelope.package_id);
  try {
    const { outcome, replayed } = await commit(workOf(services, actor, envelope, authorization));
    if (!replayed) await keepInMind(services, outcome);
    return told(outcome, replayed);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'idempotency_reuse') throw error;
    throw new Refusal('ACTION_ID_REUSE', 'the action_id was used for another envelope', { path: '$.action_id' });
  }
}

/** The members in one order, however a store gave them back: the same answer is the same text. */
function told(outcome: Outcome, replayed: boolean): Applied {
  const { package_id, action_id, action, revision, state, event_id, manifest_sha256, summary_sha256 } = outcome;
  return { package_id, action_id, action, revision, state, event_id, manifest_sha256, summary_sha256, replayed };
}

/** Nothing is decided: what was recorded is all that is asked for. */
const UNKNOWN = new Refusal('not_found', 'the envelope was not accepted yet');

/** What an envelope was answered when it was accepted; undefined where it never was. Refuses `ACTION_ID_REUSE`. */
export async function recorded(services: PackageServices, envelope: Envelope): Promise<Applied | undefined> {
  try {
    const actor = 'engine:gate';
    return await accepted(services, actor, envelope, (work) =>
      services.ledger.commit({ ...work, actor, decide: () => UNKNOWN }),
    );
  } catch (error) {
    if (error === UNKNOWN) return undefined;
    throw error;
  }
}

/** What a commit looks at to know whether its actor is frozen. */
function brakeOf({ frozen }: PackageServices): readonly RecordRef[] {
  return frozen === undefined ? [] : [FREEZE_RECORD];
}

function workOf(
  services: PackageServices,
  actor: string,
  envelope: Envelope,
  authorization?: Authorization,
): Omit<Work<Outcome>, 'actor'> {
  const { package_id, action_id } = envelope;
  const { stored, payloads } = setApart(envelope);
  const record = packageRecord(package_id);
  return {
    // INVARIANT: an action_id stands for one content, in any later state (packages.idempotency.reuse).
    claim: { scope: CLAIM_SCOPE, principal: package_id, key: action_id, command: envelopeDigest(envelope) },
    reads: brakeOf(services),
    writes: [record],
    decide: (view: View) => {
      // A withdrawal goes on while everything else is frozen.
      const frozen = envelope.action === 'cancel' ? undefined : services.frozen?.(view, actor);
      if (frozen !== undefined) return frozen;
      const state = view.get(packageKind, package_id)?.state;
      if (state === undefined) return notFound();
      const invalid = services.manifests.defectOf(state, package_id);
      if (invalid !== undefined) return invalid;
      const next = decide(state, stored, view.now);
      if (next instanceof Refusal) return next;
      const { manifest_sha256 } = next;
      const data = { envelope: stored, manifest_sha256, ...(authorization === undefined ? {} : { authorization }) };
      return {
        events: [{ record, type: ACCEPTED, data: data as AcceptedData, payloads }],
        outcome: outcomeOf(envelope, next),
      };
    },
  };
}

function outcomeOf({ package_id, action_id, action }: Envelope, { manifest, manifest_sha256 }: PackageState): Outcome {
  const { revision, state, summary, transition } = manifest;
  const summary_sha256 = summary?.canonical_sha256 ?? null;
  return {
    package_id,
    action_id,
    action,
    revision,
    state,
    event_id: transition.last_event_id,
    manifest_sha256,
    summary_sha256,
  };
}

/** What this process has just decided need not be recomputed at the next envelope. */
async function keepInMind({ ledger, manifests }: PackageServices, outcome: Outcome): Promise<void> {
  const now = (await ledger.read(packageKind, outcome.package_id))?.state;
  if (now?.manifest_sha256 === outcome.manifest_sha256) manifests.keep(now);
}
