/**
 * The release of a package's draft: an action whose work item is the package, whose signed arguments name the draft
 * by its SHA-256, and which is launched only while the package stands at the revision at which it was asked for.
 *
 * INVARIANT: whatever carries a package's draft under its name is bound to its revision, however it was proposed
 * (packages.release.pinned).
 * Source: spec packages (release).
 */
import type { Proposal, Services, WorkItemFacts } from '../actions/index.js';
import { type Json, type JsonObject, PATTERNS, Refusal } from '../core/index.js';
import type { Ledger } from '../ledger/index.js';
import { loadPackage, type PackageServices, packageKind, packageRecord, readContent } from '../packages/index.js';

export type ReleaseServices = Services & PackageServices;

export interface ReleaseInput {
  readonly project: string;
  /** Where it goes, as the connector takes it: `alias#branch` of `git-local`. */
  readonly target: string;
  /** The commit's message; one that names the package unless given. */
  readonly message?: string;
  /** A connector with an operation `write` that takes path, content_sha256 and message; `git-local` unless given. */
  readonly connector?: string;
}

/**
 * The proposal that releases the newest draft. Refuses `GATE_UNSATISFIED`, `PACKAGE_NOT_FOUND`, `MANIFEST_INVALID`.
 */
export async function releaseProposal(
  services: ReleaseServices,
  packageId: string,
  input: ReleaseInput,
): Promise<Proposal> {
  const { manifest } = (await loadPackage(services, packageId)).state;
  const draft = manifest.artifacts.at(-1);
  if (manifest.state !== 'DRAFT_READY' || draft === undefined) {
    throw new Refusal('GATE_UNSATISFIED', `the package is in state ${manifest.state}: there is no draft to release`);
  }
  const message = input.message ?? `${packageId}: ${draft.artifact_id}`;
  return {
    project: input.project,
    work_item: packageId,
    connector: input.connector ?? 'git-local',
    operation: 'write',
    target: input.target,
    args: { path: draft.logical_path, content_sha256: draft.sha256, message },
    content: [await readContent(services, packageId, draft.sha256)],
  };
}

/**
 * What a package adds to an action that carries its draft: its revision and manifest, which must still stand at
 * launch.
 */
export function releaseFacts(ledger: Ledger) {
  return async (workItem: string | null, args: JsonObject): Promise<WorkItemFacts | undefined> => {
    if (workItem === null || !PATTERNS.package.test(workItem)) return undefined;
    const snapshot = await ledger.readVerified(packageKind, workItem);
    if (snapshot === undefined) return undefined;
    const { manifest, manifest_sha256 } = snapshot.state;
    const digests = new Set(manifest.artifacts.flatMap(({ sha256 }) => [sha256, `sha256:${sha256}`]));
    if (!namesOne(args, digests)) return undefined;
    if (manifest.state !== 'DRAFT_READY') {
      throw new Refusal('stale_precondition', `the package is ${manifest.state}: its draft is not released any more`);
    }
    return {
      preconditions: { package_revision: String(manifest.revision), package_manifest: manifest_sha256 },
      reads: [packageRecord(workItem)],
      holds: (view) => view.get(packageKind, workItem)?.head === snapshot.head,
    };
  };
}

/** Whether a string of the arguments, at any depth, is one of these. */
function namesOne(value: Json, digests: ReadonlySet<string>): boolean {
  if (typeof value === 'string') return digests.has(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value as JsonObject).some((part) => namesOne(part, digests));
}
