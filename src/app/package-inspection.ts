/**
 * Packages as an audit sees them: each one replayed from its first event, and each confirmation of a summary with the
 * signature of a person behind it, who approved then. One package is held at a time.
 * Source: spec packages (manifest: verify; who may confirm), ledger (verify).
 */
import type { Receipt } from '../approvals/index.js';
import type { Json } from '../core/index.js';
import type { Defect, Ledger, LedgerEvent } from '../ledger/index.js';
import {
  ACCEPTED,
  type AcceptedData,
  placeOf,
  replayPackage,
  SummaryAct,
  summaryActDigest,
} from '../packages/index.js';

/**
 * What is wrong with the signature behind a confirmation; undefined for other events. The request is used up then.
 * INVARIANT: no summary is confirmed without a person's receipt over it (audit.package-authority).
 */
export function confirmationDefect(
  event: LedgerEvent,
  opened: Map<string, { readonly act: Json }>,
  signed: Map<string, Receipt>,
  mayApprove: (person: string) => boolean,
): string | undefined {
  if (event.type !== ACCEPTED) return undefined;
  const { envelope, authorization } = event.data as AcceptedData;
  if (!placeOf(envelope.action).isHuman) return undefined;
  const id = authorization?.request_id ?? '';
  const request = signed.get(id)?.request;
  const act = SummaryAct.safeParse(opened.get(id)?.act).data;
  signed.delete(id);
  opened.delete(id);
  const isFor =
    envelope.action === 'confirm_summary' &&
    request?.kind === 'summary' &&
    act !== undefined &&
    summaryActDigest(act) === request.digest &&
    act.package_id === event.record.id &&
    act.revision === envelope.expected_revision &&
    act.summary_sha256 === envelope.basis.summary_sha256;
  if (!isFor) return 'no receipt of kind summary stands behind this';
  if (request.approver !== `human:${envelope.payload.operator_id}`) return 'the operator is not who signed';
  return mayApprove(request.approver) ? undefined : 'who signed this could not approve';
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
