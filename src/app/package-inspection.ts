/**
 * Packages as an audit sees them: each one replayed from its first event, and each confirmation of a summary with the
 * signature of a person behind it, who approved then. One package is held at a time.
 * Source: spec packages (manifest: verify; who may confirm), ledger (verify).
 */
import { personKind } from '../identity/index.js';
import type { Defect, Ledger, LedgerEvent } from '../ledger/index.js';
import {
  ACCEPTED,
  type AcceptedData,
  placeOf,
  replayPackage,
  SummaryAct,
  summaryActDigest,
} from '../packages/index.js';
import type { AuditWorld } from './audit-world.js';
import type { RequestInspection } from './request-inspection.js';

/**
 * What is wrong with the signature behind a confirmation; undefined for other events. The receipt is used up then.
 * INVARIANT: no summary is confirmed without a person's receipt over it (audit.package-authority).
 */
export function confirmationDefect(
  world: AuditWorld,
  requests: RequestInspection,
  event: LedgerEvent,
): string | undefined {
  if (event.type !== ACCEPTED) return undefined;
  const { envelope, authorization } = event.data as AcceptedData;
  if (!placeOf(envelope.action).isHuman) return undefined;
  const missing = 'no receipt of kind summary stands behind this';
  const found = requests.signed(authorization?.request_id);
  const act = SummaryAct.safeParse(found?.act).data;
  if (found === undefined || act === undefined) return missing;
  const { request } = found.receipt;
  requests.use(request.request_id);
  const isFor =
    envelope.action === 'confirm_summary' &&
    request.kind === 'summary' &&
    summaryActDigest(act) === request.digest &&
    act.package_id === event.record.id &&
    act.revision === envelope.expected_revision &&
    act.summary_sha256 === envelope.basis.summary_sha256;
  if (!isFor || requests.lapse(found.receipt) !== undefined) return missing;
  if (request.approver !== `human:${envelope.payload.operator_id}`) return 'the operator is not who signed';
  const mayApprove = world.state(personKind, request.approver)?.roles.includes('approver') === true;
  return mayApprove ? undefined : 'who signed this could not approve';
}

/** Every package replayed. Faults `corrupt` where an event is not the one that was written. */
export async function inspectPackages(
  ledger: Ledger,
): Promise<{ readonly packages: number; readonly defects: readonly Defect[] }> {
  const defects: Defect[] = [];
  let packages = 0;
  for (let after: string | undefined; ; ) {
    const page = await ledger.list({ kind: 'package', ...(after === undefined ? {} : { after }) });
    for (const { id } of page.rows) {
      packages += 1;
      const { defect } = await replayPackage(ledger, id);
      if (defect !== undefined) defects.push({ where: `package/${id}#${defect.revision}`, what: defect.what });
    }
    if (page.next === undefined) return { packages, defects };
    after = page.next;
  }
}
