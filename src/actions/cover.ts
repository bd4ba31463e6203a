/**
 * Standing approvals in the place of a person's: which of them covers an action, and what a launch takes of it.
 * Source: spec authority (standing approvals).
 */
import {
  covers,
  FREEZE_RECORD,
  frozenIn,
  type GrantHold,
  type GrantState,
  grantIn,
  grantKey,
  grantKind,
  grantRecord,
  noRoom,
  reserveGrant,
  settleGrant,
} from '../approvals/index.js';
import { type JsonObject, LIMITS, Refusal } from '../core/index.js';
import type { NewEvent, RecordRef, View } from '../ledger/index.js';
import type { Attached } from './approve.js';
import { actionKind } from './evolve.js';
import { loadAction } from './load.js';
import { decideAction } from './machine.js';
import type { ActionContent, Attempt, Authorization } from './schema.js';
import { type Caller, type Services, STALE, withFreshFacts } from './services.js';

type Covered = Pick<
  ActionContent,
  | 'project'
  | 'proposed_by'
  | 'connector'
  | 'operation'
  | 'operation_digest'
  | 'target'
  | 'class'
  | 'amount'
  | 'currency'
  | 'flags'
  | 'replaces'
>;

/** The grants that may cover an action of this project and connector, by their ids: the commit looks at each again. */
export async function grantsFor({ ledger }: Services, content: Pick<Covered, 'project' | 'connector'>) {
  const rows = await ledger.lookup('grant', grantKey(content));
  return rows.slice(0, LIMITS.grantsLookedAtMax).map(({ id }) => grantRecord(id));
}

/** The first of these grants that covers the action and has room for it. */
export function coverIn(
  view: View,
  grants: readonly RecordRef[],
  content: Covered,
  args: JsonObject,
): string | undefined {
  return grants.find(({ id }) => uncovered(view.get(grantKind, id)?.state, content, args, view.now) === undefined)?.id;
}

function uncovered(
  state: GrantState | undefined,
  content: Covered,
  args: JsonObject,
  now: number,
): Refusal | undefined {
  const refused = noRoom(state, content.amount ?? 0, now);
  if (refused !== undefined || state === undefined) return refused;
  return covers(grantIn(state), content, args)
    ? undefined
    : new Refusal('no_cover', 'no standing approval covers this');
}

/** The record that a launch on this authority writes. */
export function coverRecords(authorization: Authorization | null | undefined): readonly RecordRef[] {
  return authorization?.kind === 'grant' ? [grantRecord(authorization.grant_id)] : [];
}

/** INVARIANT: a launch takes its part of the grant in its own commit, or is refused (authority.standing.reserved). */
export function takeCover(
  view: View,
  authorization: Authorization | null,
  content: ActionContent,
  args: JsonObject,
  attempt: number,
): readonly NewEvent[] | Refusal {
  if (authorization?.kind !== 'grant') return [];
  const state = view.get(grantKind, authorization.grant_id)?.state;
  const refused = uncovered(state, content, args, view.now);
  if (refused !== undefined) return refused;
  return [reserveGrant(authorization.grant_id, holdOf(content, attempt))];
}

/** What a certain outcome makes of what an attempt took of its grant. */
export function settleCover(
  content: ActionContent,
  { no, authorization }: Pick<Attempt, 'no' | 'authorization'>,
  outcome: 'confirmed' | 'failed',
): readonly NewEvent[] {
  return authorization.kind === 'grant' ? [settleGrant(authorization.grant_id, outcome, holdOf(content, no))] : [];
}

function holdOf(content: ActionContent, attempt: number): GrantHold {
  return { action_id: content.action_id, attempt, amount: content.amount ?? 0 };
}

/** Approves an action by the first standing approval that covers it. Refuses `no_cover` and as the machine does. */
export function approveByGrant(services: Services, caller: Caller, actionId: string): Promise<Attached> {
  return withFreshFacts(services, async () => {
    const { content, snapshot, args, state } = await loadAction(services, actionId);
    const grants = await grantsFor(services, content);
    const record = { kind: 'action', id: actionId } as const;
    const committed = await services.ledger.commit<Attached>({
      actor: caller.principal,
      reads: [FREEZE_RECORD, ...grants],
      writes: [record],
      decide: (view) => {
        if (view.get(actionKind, actionId)?.head !== snapshot.head) return STALE;
        const frozen = frozenIn(view, content);
        if (frozen !== undefined) return frozen;
        const grantId = coverIn(view, grants, content, args);
        if (grantId === undefined) return new Refusal('no_cover', 'no standing approval covers this');
        const decided = decideAction(state, { do: 'cover', grantId }, view.now);
        if (decided instanceof Refusal) return decided;
        const events = decided.map((event) => ({ record, ...event }));
        return { events, outcome: { action_id: actionId, state: 'approved', approvals: 0 } };
      },
    });
    return committed.outcome;
  });
}
