/**
 * Standing approvals in the place of a person's: which of them covers an action, and what a launch takes of it.
 * Source: spec authority (standing approvals).
 */
import {
  countingMethods,
  covers,
  coversContent,
  FREEZE_RECORD,
  frozenIn,
  type GrantHold,
  type GrantSigner,
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
import { keyKind, LEDGER_RECORD, ledgerKind, personKind } from '../identity/index.js';
import type { NewEvent, RecordRef, View } from '../ledger/index.js';
import { CONFIG_RECORD, configKind } from '../policy/index.js';
import type { Attached } from './approve.js';
import { actionKind } from './evolve.js';
import { loadAction } from './load.js';
import { decideAction } from './machine.js';
import { epochBarrier, policyBarrier } from './request.js';
import type { ActionContent, Attempt, Authorization } from './schema.js';
import { type Caller, type Services, STALE, STALE_TRUST, withFreshFacts } from './services.js';

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
  | 'edited_by'
  | 'approvers'
  | 'quorum'
>;

/** An action as a grant is held against it. */
export interface Covering {
  readonly content: Covered;
  /** Null where they are not known any more: then only the rest is held against the grant. */
  readonly args: JsonObject | null;
  /** Ways of signing that count for the action under the active configuration. */
  readonly methods: readonly string[];
}

export function coveringOf(services: Services, content: Covered, args: JsonObject): Covering {
  const factsUnknown = content.flags.includes('facts_unknown');
  return { content, args, methods: countingMethods(services.trust().config, { ...content, factsUnknown }) };
}

/** Grants that may cover an action; the commit looks at each again, with the people and keys that signed it. */
export interface Candidates {
  readonly grants: readonly RecordRef[];
  readonly reads: readonly RecordRef[];
}

/** The grants of this agent and operation that are not over, the first ones. */
export async function candidatesFor(
  { ledger, clock }: Services,
  content: Pick<Covered, 'project' | 'connector' | 'operation' | 'proposed_by'>,
): Promise<Candidates> {
  const [identity, known] = await Promise.all([
    ledger.read(ledgerKind, LEDGER_RECORD.id),
    ledger.lookup('grant', grantKey(content)),
  ]);
  const epoch = identity?.state.epoch;
  const grants: RecordRef[] = [];
  const reads: RecordRef[] = [LEDGER_RECORD];
  for (const { id } of known) {
    const state = (await ledger.read(grantKind, id))?.state;
    if (state === undefined || state.epoch !== epoch) continue;
    const { until, agents, operations } = grantIn(state);
    const isForIt = agents.includes(content.proposed_by) && Object.hasOwn(operations, content.operation);
    if (!isForIt || clock.now() >= until) continue;
    grants.push(grantRecord(id));
    reads.push(grantRecord(id), ...signerRecords(state));
    if (grants.length >= LIMITS.grantsLookedAtMax) break;
  }
  return { grants, reads };
}

function signerRecords({ signers }: GrantState): readonly RecordRef[] {
  return signers.flatMap(({ person, key_id }): RecordRef[] => [
    { kind: 'person', id: person },
    { kind: 'key', id: key_id },
  ]);
}

/** The first of these grants that covers the action and has room for it. */
export function coverIn(view: View, { grants }: Candidates, covering: Covering): string | undefined {
  return grants.find(({ id }) => uncovered(view, id, covering) === undefined)?.id;
}

function uncovered(view: View, id: string, { content, args, methods }: Covering): Refusal | undefined {
  const state = view.get(grantKind, id)?.state;
  const refused = noRoom(state, content.amount ?? 0, view.now);
  if (refused !== undefined || state === undefined) return refused;
  if (state.epoch !== view.get(ledgerKind, LEDGER_RECORD.id)?.state.epoch) {
    return new Refusal('no_cover', 'the standing approval is of an earlier epoch');
  }
  const grant = grantIn(state);
  const fits = args === null ? coversContent(grant, content) : covers(grant, content, args);
  if (!fits) return new Refusal('no_cover', 'no standing approval covers this');
  // INVARIANT: a standing approval stands for people who could approve this very action now, by the keys that they
  // signed it with, and as many as it needs (authority.standing.signers-stand).
  const standing = state.signers.filter(
    (signer) => content.approvers.includes(signer.person) && isInForce(view, signer, methods),
  );
  if (new Set(standing.map(({ person }) => person)).size >= content.quorum) return undefined;
  return new Refusal('no_cover', 'too few of those who signed the standing approval may approve this');
}

function isInForce(view: View, { person, key_id }: GrantSigner, methods: readonly string[]): boolean {
  const known = view.get(personKind, person)?.state;
  const key = view.get(keyKind, key_id)?.state;
  const isApprover = known?.state === 'active' && known.roles.includes('approver');
  return isApprover && key?.state === 'active' && key.person === person && methods.includes(key.method);
}

/** The records that the authority of a launch stands on, besides those that it writes. */
export async function coverReads(
  { ledger }: Services,
  authorization: Authorization | null | undefined,
): Promise<readonly RecordRef[]> {
  if (authorization?.kind !== 'grant') return [];
  const state = (await ledger.read(grantKind, authorization.grant_id))?.state;
  return state === undefined ? [] : signerRecords(state);
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
  attempt: number,
  covering: Covering,
): readonly NewEvent[] | Refusal {
  if (authorization?.kind !== 'grant') return [];
  const refused = uncovered(view, authorization.grant_id, covering);
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
    const { head } = services.trust();
    const loaded = await loadAction(services, actionId);
    const { content, snapshot, args, state } = loaded;
    // What the action itself refuses comes first: it is the plainest reason.
    const plain = decideAction(state, { do: 'cover', grantId: '' }, services.clock.now());
    if (plain instanceof Refusal) throw plain;
    const barrier = policyBarrier(services, loaded);
    if (barrier !== undefined) throw barrier;
    const candidates = await candidatesFor(services, content);
    const covering = coveringOf(services, content, args);
    const record = { kind: 'action', id: actionId } as const;
    const committed = await services.ledger.commit<Attached>({
      actor: caller.principal,
      reads: [CONFIG_RECORD, FREEZE_RECORD, ...candidates.reads],
      writes: [record],
      decide: (view) => {
        if (view.get(actionKind, actionId)?.head !== snapshot.head) return STALE;
        if (view.get(configKind, CONFIG_RECORD.id)?.head !== head) return STALE_TRUST;
        const frozen = epochBarrier(view, content) ?? frozenIn(view, content);
        if (frozen !== undefined) return frozen;
        const grantId = coverIn(view, candidates, covering);
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
