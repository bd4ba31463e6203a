/**
 * The confirmation of a summary at a door: a human act. A person is asked, sees every line, signs exactly this
 * revision, and the envelope is accepted in the commit that uses the signature up.
 *
 * It promises that who is recorded as operator is who signed; it refuses an operator_id of somebody else, and a
 * summary that changed since. Source: spec packages (who may confirm).
 */
import {
  type ActServices,
  carryOutPartAct,
  FREEZE_RECORD,
  type IssuedAct,
  partActDocument,
  partActSummary,
  type Receipt,
  requestPartAct,
} from '../approvals/index.js';
import { Refusal } from '../core/index.js';
import type { View } from '../ledger/index.js';
import { type Applied, accepted, recorded } from './apply.js';
import { packageKind } from './evolve.js';
import { loadPackage, packageRecord } from './load.js';
import { decide } from './machine.js';
import { type Envelope, type PackageState, PROTOCOL_VERSION } from './schema.js';
import type { PackageServices } from './services.js';
import { partActOf, SummaryAct, summaryActOf } from './summary-act.js';

type ConfirmServices = PackageServices & ActServices;
type Confirming = Extract<Envelope, { action: 'confirm_summary' }>;

/**
 * Asks `person`, or the first approver. Refuses as the envelope would be refused now, `approvers`,
 * `approver_not_allowed`.
 */
export async function requestConfirmation(
  services: ConfirmServices,
  requestedBy: string,
  packageId: string,
  person?: string,
): Promise<IssuedAct> {
  const { state, head } = await loadPackage(services, packageId);
  demandWaiting(state, services.clock.now());
  const act = partActOf(summaryActOf(state), state.manifest);
  const guard = {
    reads: [packageRecord(packageId), FREEZE_RECORD],
    holds: (view: View) => {
      const frozen = services.frozen?.(view, requestedBy);
      if (frozen !== undefined) return frozen;
      const stands = view.get(packageKind, packageId)?.head === head;
      return stands ? undefined : new Refusal('busy', 'the package changed meanwhile');
    },
  };
  return requestPartAct(services, requestedBy, act, guard, person);
}

/** Refuses as the machine refuses a confirmation of what stands now. */
function demandWaiting(state: PackageState, now: number): void {
  const { package_id, revision, summary } = state.manifest;
  const refused = decide(state, envelopeFor(package_id, revision, summary?.canonical_sha256 ?? 'none', 'act_'), now);
  if (refused instanceof Refusal) throw refused;
}

function envelopeFor(
  package_id: string,
  expected_revision: number,
  summary_sha256: string,
  action_id: string,
): Confirming {
  return {
    protocol_version: PROTOCOL_VERSION,
    action_id,
    package_id,
    expected_revision,
    action: 'confirm_summary',
    basis: { summary_sha256 },
    payload: {},
  };
}

/**
 * The act of a request with its lines as they are now. Refuses `unknown_request`, `kind`, and `STALE_ACTION` once it
 * is over.
 */
export async function readConfirmation(services: PackageServices, requestId: string) {
  const parsed = SummaryAct.safeParse(await partActDocument(services.ledger, requestId, 'summary'));
  if (!parsed.success) throw new Refusal('unknown_request', 'the request holds no confirmation');
  const { state } = await loadPackage(services, parsed.data.package_id);
  const { revision } = state.manifest;
  if (state.manifest_sha256 !== parsed.data.manifest_sha256) {
    const details = { expected_revision: parsed.data.revision, actual_revision: revision };
    const next = `ask again with \`countersign package confirm ${parsed.data.package_id}\``;
    throw new Refusal('STALE_ACTION', `the package is at revision ${revision}: ask again`, { details, next });
  }
  const act = partActOf(parsed.data, state.manifest);
  return { confirmation: parsed.data, act, summary: await partActSummary(services.ledger, act) };
}

/**
 * Carries a signed confirmation out. Without an envelope of its own the action_id is that of the request; one that
 * comes along keeps its action_id, and the operator_id is added to it before it is hashed.
 */
export async function confirmSummary(services: ConfirmServices, receipt: Receipt, given?: Envelope): Promise<Applied> {
  const { request_id, approver } = receipt.request;
  if (given !== undefined) demandFor(given, receipt);
  const known = given === undefined ? undefined : await recorded(services, signedBy(given as Confirming, approver));
  if (known !== undefined) return known;
  const { confirmation, act } = await readConfirmation(services, request_id);
  const { package_id, revision, summary_sha256 } = confirmation;
  const action_id = `act_${request_id.slice('req_'.length)}`;
  const envelope = given ?? envelopeFor(package_id, revision, summary_sha256, action_id);
  const signed = signedBy(envelope as Confirming, approver);
  const authorization = { request_id, approver };
  return accepted(
    services,
    approver,
    signed,
    (work) => carryOutPartAct(services, receipt, act, { ...work, actor: approver }),
    authorization,
  );
}

/** Refuses a receipt that is for another envelope, and an operator_id that is not the name of who signed. */
function demandFor(given: Envelope, { request }: Receipt): void {
  if (given.action !== 'confirm_summary')
    throw new Refusal('invalid', 'a receipt goes with confirm_summary alone', { path: 'receipt' });
  if (request.subject !== given.package_id) throw new Refusal('subject_mismatch', 'the receipt is for another package');
  const { operator_id = null } = given.payload;
  // INVARIANT: who is recorded as operator is who signed (packages.confirm.operator).
  if (operator_id === null || operator_id === nameOf(request.approver)) return;
  throw new Refusal('forbidden', 'the operator_id is not the name of who signed', { path: '$.payload.operator_id' });
}

function signedBy(envelope: Confirming, approver: string): Confirming {
  return { ...envelope, payload: { ...envelope.payload, operator_id: nameOf(approver) } };
}

function nameOf(approver: string): string {
  return approver.slice('human:'.length);
}
