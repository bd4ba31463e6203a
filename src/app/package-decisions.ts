/**
 * Summaries of packages that wait for a person whom nobody has asked yet: rows of the inbox.
 * Source: spec actions (decisions: package confirmations).
 */
import { requestKind } from '../approvals/index.js';
import type { Ledger, ListRow } from '../ledger/index.js';
import { packageKind } from '../packages/index.js';
import type { DecisionRow } from './decisions.js';

/** At most `max` rows. A package for which a request is open is listed by that request. */
export async function confirmationRows(ledger: Ledger, now: number, max: number): Promise<readonly DecisionRow[]> {
  const rows: DecisionRow[] = [];
  for (let after: string | undefined; rows.length < max; ) {
    const page = await ledger.list({ kind: 'package', waiting: true, ...(after === undefined ? {} : { after }) });
    for (const row of page.rows) {
      const found = await confirmationRow(ledger, row, now);
      if (found !== undefined) rows.push(found);
    }
    if (page.next === undefined) break;
    after = page.next;
  }
  return rows;
}

/** The row of one package; undefined where somebody was asked already. */
export async function confirmationRow(
  ledger: Ledger,
  { id, due = 0 }: ListRow,
  now: number,
): Promise<DecisionRow | undefined> {
  return (await isAsked(ledger, id, now)) ? undefined : rowOf(id, due);
}

/** Whether a package waits for somebody to confirm its summary whom nobody has asked yet. */
export async function isUnasked(ledger: Ledger, id: string, now: number): Promise<boolean> {
  const state = (await ledger.read(packageKind, id))?.state;
  return state !== undefined && packageKind.columns(state).due !== undefined && !(await isAsked(ledger, id, now));
}

async function isAsked(ledger: Ledger, packageId: string, now: number): Promise<boolean> {
  for (const { id, status } of await ledger.lookup('request', packageId)) {
    const request = status === 'open' ? (await ledger.read(requestKind, id))?.state.request : undefined;
    if (request?.kind === 'summary' && now < request.exp) return true;
  }
  return false;
}

function rowOf(id: string, since: number): DecisionRow {
  return {
    what: 'confirmation',
    id,
    project: null,
    operation: 'confirm_summary',
    target: id,
    class: null,
    approvals: 0,
    quorum: 1,
    approvers: [],
    due: since,
    next: `countersign package confirm ${id}`,
  };
}
