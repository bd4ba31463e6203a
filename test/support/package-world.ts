/**
 * Packages over a ledger in memory, without a gate: the bare library, a clock that is set, and envelopes that a test writes
 * in one line.
 */
import { systemRandom } from '../../src/app/random.js';
import { LocalLedger, type LocalStore, MemoryStore, registerKinds } from '../../src/ledger/index.js';
import {
  type ActionName,
  type Applied,
  applyEnvelope,
  createPackage,
  loadPackage,
  ManifestMemo,
  type PackageServices,
  type PackageState,
  packageKind,
} from '../../src/packages/index.js';
import { FakeClock, LEDGER_ID } from './gate-world.js';

export const ID = 'pkg_demo_001';

/** An envelope as it goes over the wire. */
export interface Written {
  readonly protocol_version: string;
  readonly action_id: string;
  readonly package_id: string;
  readonly expected_revision: number;
  readonly action: string;
  readonly basis: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Payloads that are accepted where their action is. */
export const PAYLOADS: Readonly<Record<ActionName, Readonly<Record<string, unknown>>>> = {
  record_input: { input_id: 'in-1', kind: 'text', content: 'hello', source: 'operator', disposition: 'incorporated' },
  set_objective: { statement: 'notes are out', desired_outcomes: ['people know'] },
  prepare_summary: {},
  confirm_summary: {},
  revise_intake: {},
  record_draft_artifact: {
    artifact_id: 'draft-1',
    kind: 'document',
    logical_path: 'docs/notes.md',
    content: '# Notes\n',
  },
  cancel: {},
};

let serial = 0;

/** An envelope for a revision; each has a fresh action_id unless one is given. */
export function envelope(action: ActionName, expected_revision: number, changes: Partial<Written> = {}): Written {
  serial += 1;
  return {
    protocol_version: '0.1',
    action_id: `act_${serial}`,
    package_id: ID,
    expected_revision,
    action,
    basis: action === 'confirm_summary' ? { summary_sha256: '0'.repeat(64) } : {},
    payload: PAYLOADS[action],
    ...changes,
  };
}

export interface PackageWorld {
  readonly services: PackageServices;
  readonly clock: FakeClock;
  apply(input: unknown): Promise<Applied>;
  state(id?: string): Promise<PackageState>;
  /** Applies an action at the present revision, with the digest of the summary where it needs one. */
  step(action: ActionName, payload?: Readonly<Record<string, unknown>>): Promise<Applied>;
}

export async function packageWorld(
  store: LocalStore = new MemoryStore(LEDGER_ID),
  intent = 'write the notes',
): Promise<PackageWorld> {
  const clock = new FakeClock();
  clock.wall = Date.parse('2026-08-07T00:00:00Z');
  const kinds = registerKinds([packageKind]);
  const services = {
    ledger: new LocalLedger({ store, kinds, clock, random: systemRandom }),
    manifests: new ManifestMemo(),
  };
  await createPackage(services, 'agent:bot', { package_id: ID, intent });
  const state = async (id = ID) => (await loadPackage(services, id)).state;
  const apply = (input: unknown) => applyEnvelope(services, 'agent:bot', input);
  const step = async (action: ActionName, payload = PAYLOADS[action]) => {
    const { manifest } = await state();
    const basis =
      action === 'confirm_summary' ? { summary_sha256: manifest.summary?.canonical_sha256 ?? '0'.repeat(64) } : {};
    clock.advance(1_000);
    return apply(JSON.stringify(envelope(action, manifest.revision, { basis, payload })));
  };
  return { services, clock, apply, state, step };
}

/** The steps that lead to each state. */
export const PATHS = {
  INTAKE: [],
  SUMMARY_PENDING: ['set_objective', 'prepare_summary'],
  AUTHORING_AUTHORIZED: ['set_objective', 'prepare_summary', 'confirm_summary'],
  DRAFT_READY: ['set_objective', 'prepare_summary', 'confirm_summary', 'record_draft_artifact'],
  CANCELLED: ['cancel'],
} as const satisfies Readonly<Record<string, readonly ActionName[]>>;

/** A world whose package stands in a state. */
export async function worldIn(state: keyof typeof PATHS, store?: LocalStore): Promise<PackageWorld> {
  const world = await packageWorld(store);
  for (const action of PATHS[state]) await world.step(action);
  return world;
}
