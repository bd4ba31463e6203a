/**
 * How a package is folded from its events: the same `advance` that decided them, and the digest that each event
 * names. A digest is compared where a package is loaded, not while it is folded.
 */
import { Fault } from '../core/index.js';
import type { Kind, LedgerEvent } from '../ledger/index.js';
import { advance, createdManifest, waitingSince } from './machine.js';
import type { AcceptedData, CreatedData, PackageState } from './schema.js';

export const CREATED = 'package-created';
export const ACCEPTED = 'envelope-accepted';

export const packageKind: Kind<PackageState> = {
  name: 'package',
  version: 1,
  evolve: (state, event) => evolve(state, event),
  columns: ({ manifest, waiting_since }) => ({
    status: manifest.state,
    ...(waiting_since === null ? {} : { due: waiting_since }),
  }),
};

function evolve(state: PackageState | undefined, event: LedgerEvent): PackageState {
  if (event.type === CREATED) {
    const { package_id, intent, manifest_sha256 } = event.data as CreatedData;
    return { manifest: createdManifest({ package_id, intent }, event.at), manifest_sha256, waiting_since: null };
  }
  if (event.type !== ACCEPTED || state === undefined) throw new Fault('corrupt', 'no event of a package');
  const { envelope, manifest_sha256 } = event.data as AcceptedData;
  const manifest = advance(state, envelope, event.at);
  return { manifest, manifest_sha256, waiting_since: waitingSince(manifest, event.at) };
}
