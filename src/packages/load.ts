/**
 * A package read for a decision: its events checked again by the ledger, and its manifest's digest recomputed.
 *
 * INVARIANT: an envelope is judged on the manifest that was written (packages.load.recomputed).
 * Source: spec packages (manifest).
 */
import { LIMITS, Refusal } from '../core/index.js';
import type { Ledger, LedgerEvent, RecordRef, Snapshot } from '../ledger/index.js';
import { packageKind } from './evolve.js';
import type { PackageState } from './schema.js';
import type { PackageServices } from './services.js';

export function packageRecord(id: string): RecordRef {
  return { kind: 'package', id };
}

export function notFound(): Refusal {
  return new Refusal('PACKAGE_NOT_FOUND', 'there is no such package');
}

/** Refuses `PACKAGE_NOT_FOUND` and `MANIFEST_INVALID`; faults `corrupt`. */
export async function loadPackage(services: PackageServices, packageId: string): Promise<Snapshot<PackageState>> {
  const snapshot = await services.ledger.readVerified(packageKind, packageId);
  if (snapshot === undefined) throw notFound();
  const invalid = services.manifests.defectOf(snapshot.state, packageId);
  if (invalid !== undefined) throw invalid;
  return snapshot;
}

/** The events of a package, oldest first, each hashed again. */
export async function* eventsOf(ledger: Ledger, packageId: string): AsyncGenerator<LedgerEvent> {
  for (let from = 0; ; from += LIMITS.pageRowsMax) {
    const page = await ledger.events(packageRecord(packageId), from);
    yield* page;
    if (page.length < LIMITS.pageRowsMax) return;
  }
}

/**
 * The bytes of an input or a draft, by its 64 hex digits. Refuses `PACKAGE_NOT_FOUND`, and `not_found` for content
 * that the package does not name or that was erased; faults `corrupt`.
 */
export async function readContent(services: PackageServices, packageId: string, sha256: string): Promise<Uint8Array> {
  const { manifest } = (await loadPackage(services, packageId)).state;
  const isNamed =
    manifest.inputs.some((input) => input.content_sha256 === sha256) ||
    manifest.artifacts.some((artifact) => artifact.sha256 === sha256);
  const ref = `sha256:${sha256}`;
  if (isNamed) {
    for await (const { payloads, revision } of eventsOf(services.ledger, packageId)) {
      const bytes = payloads.includes(ref)
        ? await services.ledger.payload(packageRecord(packageId), revision, ref)
        : undefined;
      if (bytes !== undefined) return bytes;
    }
  }
  throw new Refusal('not_found', 'the package holds no such content');
}
