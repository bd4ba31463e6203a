/**
 * Standing approvals as people see them: what stands and what is left of it, and the narrowest one for an action.
 * Source: spec authority (standing approvals).
 */
import { loadAction, type Services } from '../actions/index.js';
import {
  covers,
  type Grant,
  type GrantState,
  grantIn,
  grantKind,
  grantLines,
  renderSummary,
} from '../approvals/index.js';
import { LIMITS, Refusal } from '../core/index.js';
import type { Ledger } from '../ledger/index.js';
import { epochOf, standingIn } from './epoch.js';

export interface StandingRow extends Omit<GrantState, 'grant' | 'state'> {
  /** `void`: of an earlier epoch, which covers nothing any more. */
  readonly state: GrantState['state'] | 'void';
  readonly grant_id: string;
  readonly grant: Grant;
  /** The lines that were signed. */
  readonly lines: readonly string[];
}

/** All standing approvals, the newest first, as many as the limit. */
export async function listGrants(ledger: Ledger): Promise<readonly StandingRow[]> {
  const epoch = await epochOf(ledger);
  const rows: StandingRow[] = [];
  for (let after: string | undefined; rows.length < LIMITS.grantRowsMax; ) {
    const page = await ledger.list({ kind: 'grant', ...(after === undefined ? {} : { after }) });
    for (const { id } of page.rows) {
      const state = (await ledger.readVerified(grantKind, id))?.state;
      if (state === undefined) continue;
      const grant = grantIn(state);
      const standing = standingIn(epoch, state);
      rows.push({ ...state, state: standing, grant_id: id, grant, lines: renderSummary(grantLines(id, grant)) });
    }
    if (page.next === undefined) break;
    after = page.next;
  }
  return rows;
}

/**
 * The narrowest grant that an action fits: its agent, its operation as it is, its target, its class, each of its
 * arguments exactly, and its money. Refuses `no_cover` for an action that no grant may cover.
 */
export async function narrowestGrant(
  services: Services,
  actionId: string,
  { count, until }: { readonly count: number; readonly until: number },
): Promise<Grant> {
  const { content, args } = await loadAction(services, actionId);
  if (content.flags.includes('facts_unknown')) {
    throw new Refusal('no_cover', 'the operation tells no facts: no standing approval may cover it');
  }
  const { amount, currency } = content;
  const grant: Grant = {
    project: content.project,
    agents: [content.proposed_by],
    connector: content.connector,
    operations: { [content.operation]: content.operation_digest },
    target: content.target,
    class: content.class,
    args: Object.fromEntries(Object.entries(args).map(([name, is]) => [name, { is: is as never }])),
    ...(amount === null || currency === null ? {} : { per_action: amount, total: amount * count, currency }),
    count,
    until,
  };
  if (covers(grant, { ...content, flags: [], replaces: null, edited_by: null }, args)) return grant;
  throw new Refusal('no_cover', 'no pattern can name the target of this action: no standing approval may cover it');
}
