/**
 * What the services of packages are given. A program that embeds the protocol alone needs a ledger and a memory of
 * manifests and nothing else for `createPackage` and `applyEnvelope`.
 */
import { Refusal } from '../core/index.js';
import type { Ledger, View } from '../ledger/index.js';
import { manifestDigest } from './manifest.js';
import type { PackageState } from './schema.js';

export interface PackageServices {
  readonly ledger: Ledger;
  readonly manifests: ManifestMemo;
  /** Of a gate: why nothing of this actor is accepted at present, by the record of freezes that the commit holds. */
  frozen?(view: View, actor: string): Refusal | undefined;
}

/** States whose digest this process has compared, or decided itself, by the very object. */
export class ManifestMemo {
  readonly #sound = new WeakSet<PackageState>();

  keep(state: PackageState): void {
    this.#sound.add(state);
  }

  /** Why a state is not the one that its event names; undefined where it is. */
  defectOf(state: PackageState, packageId: string): Refusal | undefined {
    if (this.#sound.has(state)) return undefined;
    const { manifest, manifest_sha256 } = state;
    if (manifest.package_id !== packageId || manifestDigest(manifest) !== manifest_sha256) {
      return new Refusal('MANIFEST_INVALID', 'the manifest is not the one that its event names');
    }
    this.#sound.add(state);
    return undefined;
  }
}
