/**
 * A launch: written down before the call, called at most once, settled by what is certain.
 *
 * 1. Outside the commit, as facts: the action recomputed from the store, its receipts verified, policy asked again, the
 *    outside world compared with what was approved, what `prepare` makes.
 * 2. One transaction: all of it checked again over locked records, the nonces used up, the launch appended.
 * 3. After that commit, just before the first byte: too late by either clock → no call.
 * 4. The call, and its settlement.
 * Source: seeds actions-and-the-gate (the protocol); spec actions (launch).
 */
import {
  checkInView,
  type Expected,
  FREEZE_RECORD,
  frozenIn,
  type Receipt,
  readForReceipt,
  receiptRecords,
  verifyReceipt,
} from '../approvals/index.js';
import type { Operation } from '../connectors/index.js';
import { ACTION_CLASSES, canonicalize, type Json, Refusal, traced } from '../core/index.js';
import { LEDGER_RECORD } from '../identity/index.js';
import type { LedgerEvent, LookupRow, NewEvent, RecordRef, View, Work } from '../ledger/index.js';
import {
  budgetRecords,
  CONFIG_RECORD,
  configKind,
  type Decision,
  overBound,
  refusalOf,
  takeRoom,
} from '../policy/index.js';
import { expectedFor } from './approve.js';
import { consult } from './consult.js';
import { type Covering, coveringOf, coverReads, coverRecords, takeCover } from './cover.js';
import { decideStrictly } from './decide.js';
import { effectKind, effectLaunched, effectRecord } from './effect.js';
import { equalBarrier, equalLookups } from './equal.js';
import { actionKind } from './evolve.js';
import { questionOf } from './judge.js';
import { type LoadedAction, loadAction, pinnedOperation, summarize } from './load.js';
import { decideAction, type Launch } from './machine.js';
import { launchTerms } from './machine-people.js';
import { dedupeWindowOf, epochBarrier, policyBarrier } from './request.js';
import type { Attempt } from './schema.js';
import {
  type Caller,
  clockBarrier,
  type Services,
  STALE,
  STALE_TRUST,
  type WorkItemFacts,
  withFreshFacts,
} from './services.js';
import { callAndSettle, type Settled } from './settle.js';

/** Everything that a launch stands on, computed from the action at one revision. */
interface LaunchFacts {
  /** Head of the configuration that everything else was judged under. */
  readonly trustHead: string;
  readonly loaded: LoadedAction;
  readonly operation: Operation;
  readonly decision: Decision;
  readonly receipts: readonly Receipt[];
  readonly expected: Expected;
  readonly prepared: Json;
  readonly workItem: WorkItemFacts | undefined;
  /** When the bounds of policy were named that the launch takes of. */
  readonly judgedAt: number;
  /** The action as a standing approval is held against it, and the records of those who signed that. */
  readonly covering: Covering;
  readonly signers: readonly RecordRef[];
  /** Actions with the same effect that may have run meanwhile: the commit names them, once it met one. */
  readonly met: string[];
}

/** Launches an approved action and tells what became of it. Refuses with the codes of the gate. */
export async function execute(services: Services, caller: Caller, actionId: string): Promise<Settled> {
  const barrier = services.launchBarrier() ?? services.ledger.leaseBarrier?.();
  if (barrier !== undefined) throw barrier;
  const met: string[] = [];
  const { facts, event, monotonic } = await withFreshFacts(services, async () => {
    const { tracing } = services;
    const known = { ...(await traced(tracing, 'launch: checked', {}, () => launchFacts(services, actionId))), met };
    services.failpoint('launch.before-commit');
    const committed = await traced(tracing, 'launch: written', {}, () => commitLaunch(services, caller, known));
    return { facts: known, ...committed };
  });
  services.failpoint('launch.after-commit');
  return callLaunched(services, facts.loaded, facts.operation, event, monotonic);
}

/**
 * Launches an unknown action again, which people approved since. Refuses `dedupe`, `replaced` and as `execute` does.
 */
export async function retry(services: Services, caller: Caller, actionId: string): Promise<Settled> {
  const { state } = await loadAction(services, actionId);
  if (state.state !== 'unknown') throw new Refusal('state', `the action is ${state.state}: nothing is unknown`);
  return execute(services, caller, actionId);
}

/** The call of a launch that this process has just written. */
export function callLaunched(
  services: Services,
  loaded: Pick<LoadedAction, 'content' | 'argsText' | 'args'>,
  operation: Operation,
  event: LedgerEvent,
  monotonic: number,
): Promise<Settled> {
  const attempt = (event.data as unknown as { attempt: Attempt }).attempt;
  return callAndSettle(services, { ...loaded, operation, attempt, launchedAt: event.at, monotonic });
}

async function launchFacts(services: Services, actionId: string): Promise<Omit<LaunchFacts, 'met'>> {
  const { head: trustHead } = services.trust();
  const loaded = await loadAction(services, actionId);
  const { content, state, argsText, args } = loaded;
  // What the action itself refuses comes first: it is the plainest reason.
  const plain = decideAction(state, { do: 'launch', launch: EMPTY_LAUNCH }, services.clock.now());
  if (plain instanceof Refusal) throw plain;
  const barrier = policyBarrier(services, loaded);
  if (barrier !== undefined) throw barrier;
  const operation = await pinnedOperation(services, content);
  if (ACTION_CLASSES.indexOf(operation.classify(args)) > ACTION_CLASSES.indexOf(content.class)) {
    throw new Refusal('binding_changed', 'the operation is of a higher class than the one that was approved');
  }
  const expected: Expected = {
    ...expectedFor(services, loaded, summarize(loaded, services, operation).digest),
    decision: 'approve',
  };
  const approved = await storedReceipts(services, loaded);
  for (const { receipt, read } of approved) await verifyReceipt(services, receipt, expected, read);
  const decision = await decideAgain(services, loaded, operation);
  const workItem = await services.workItem?.(content.work_item, args);
  if (operation.snapshot !== undefined || workItem !== undefined) {
    const before = { content: { ...content, preconditions: null }, argsText, args };
    const now = await consult(services, before, {}, (call) => operation.snapshot?.(call));
    if (canonicalize({ ...now, ...workItem?.preconditions }) !== canonicalize(content.preconditions ?? {})) {
      throw new Refusal('stale_precondition', 'the target changed since it was approved');
    }
  }
  const prepared = (await consult(services, loaded, {}, (call) => operation.prepare?.(call))) ?? null;
  // The questions took their time: what was recomputed has to stand still, the bytes of the arguments among it.
  if ((await loadAction(services, actionId)).snapshot.head !== loaded.snapshot.head) throw STALE;
  const judgedAt = services.clock.now();
  const covering = coveringOf(services, content, args);
  const signers = await coverReads(services, launchTerms(state).authorization);
  return {
    trustHead,
    loaded,
    operation,
    decision,
    receipts: approved.map(({ receipt }) => receipt),
    expected,
    prepared,
    workItem,
    judgedAt,
    covering,
    signers,
  };
}

/** A launch of which nothing is known yet: what refuses it refuses every launch. */
const EMPTY_LAUNCH: Launch = {
  authorization: { kind: 'receipts', request_ids: [] },
  decision: { decision_id: '', outcome: 'DENY', code: null, determined_by: [], reason: '', facts_digest: '' },
  launchedBy: '',
  timeoutMs: 0,
  prepared: null,
  dedupeWindowMs: Number.POSITIVE_INFINITY,
};

/** The receipts that approve the action, as they stand with their requests, and what they are held against. */
async function storedReceipts({ ledger }: Services, { state }: LoadedAction) {
  const { authorization, approvals } = launchTerms(state);
  if (authorization?.kind !== 'receipts') return [];
  return Promise.all(
    approvals.map(async (approval) => {
      const read = await readForReceipt(ledger, approval);
      const receipt = read.request?.state.receipt;
      const isIt =
        receipt?.request.nonce === approval.nonce &&
        receipt.request.approver === approval.approver &&
        receipt.credential_id === approval.credential_id;
      if (!isIt) throw new Refusal('binding_changed', 'a receipt of the action is gone');
      return { receipt, read };
    }),
  );
}

/** Policy at launch; the stricter of the two decisions wins. */
async function decideAgain(
  services: Services,
  { content, state, args }: LoadedAction,
  operation: Operation,
): Promise<Decision> {
  const question = questionOf(content, content.flags.includes('facts_unknown'), args);
  const id = services.ids.mint('dec');
  const { decision } = await decideStrictly(services, question, operation.classify(args), id, operation.args);
  if (decision.outcome === 'DENY') throw refusalOf(decision);
  if (decision.outcome === 'REQUIRE_APPROVAL' && (launchTerms(state).authorization?.kind ?? 'policy') === 'policy') {
    throw new Refusal('receipt_required', 'policy asks for a person now');
  }
  return decision;
}

async function commitLaunch(services: Services, caller: Caller, facts: LaunchFacts) {
  const { trustHead, loaded, receipts, workItem } = facts;
  const { content } = loaded;
  const bounds = budgetRecords(boundsOf(facts), facts.judgedAt);
  const work: Work<{ readonly action_id: string }> = {
    actor: caller.principal,
    once: receipts.map(({ request }) => ({ scope: 'nonce', key: request.nonce })),
    reads: [
      LEDGER_RECORD,
      CONFIG_RECORD,
      FREEZE_RECORD,
      ...receipts.flatMap(receiptRecords),
      ...(workItem?.reads ?? []),
      ...facts.signers,
      ...facts.met.map((id) => ({ kind: 'action', id }) as const),
    ],
    writes: [
      ...coverRecords(launchTerms(loaded.state).authorization),
      ...bounds,
      effectRecord(content.effect),
      { kind: 'action', id: content.action_id },
    ],
    lookups: equalLookups(content),
    decide: (view) => {
      if (view.get(actionKind, content.action_id)?.head !== loaded.snapshot.head) return STALE;
      if (view.get(configKind, CONFIG_RECORD.id)?.head !== trustHead) return STALE_TRUST;
      if (workItem?.holds(view) === false) return STALE;
      return decideLaunch(view, facts, caller);
    },
  };
  const committed = await services.ledger.commit(work).catch(async (error: unknown) => {
    // Somebody else launched it in the meantime: what became of that is the plainer reason.
    const isUsed = error instanceof Refusal && error.code === 'replay';
    const now = isUsed ? (await services.ledger.read(actionKind, content.action_id))?.head : undefined;
    throw isUsed && now !== loaded.snapshot.head ? STALE : error;
  });
  const event = committed.events.find(({ type }) => type === 'action-launched') as LedgerEvent;
  return { event, monotonic: committed.monotonic };
}

/** INVARIANT: a launch and the use of its nonces are one commit, or neither is (actions.launch.one-commit). */
function decideLaunch(view: View, facts: LaunchFacts, caller: Caller) {
  const { loaded, receipts, expected, decision, operation, prepared } = facts;
  const { content, state } = loaded;
  const frozen =
    clockBarrier(view) ?? frozenIn(view, content) ?? frozenIn(view, { ...content, proposed_by: caller.principal });
  if (frozen !== undefined) return frozen;
  const restored = epochBarrier(view, content);
  if (restored !== undefined) return restored;
  for (const receipt of receipts) {
    const refused = checkInView(view, receipt, expected);
    if (refused !== undefined) return refused;
  }
  const { authorization } = launchTerms(state);
  if (authorization?.kind === 'receipts' && distinct(receipts) < content.quorum) {
    return new Refusal('quorum', 'approvals are missing');
  }
  const rows = view.lookup('action', content.effect);
  const twice = duplicateIn(view, facts, rows);
  if (twice !== undefined) return twice;
  const action = { actionId: content.action_id, attempt: state.attempts.length + 1 };
  const room = takeRoom(view, boundsOf(facts), facts.judgedAt, action);
  if (room.is === 'stale') return STALE;
  if (room.is === 'over') return overBound(room.bound);
  const cover = takeCover(view, authorization, content, action.attempt, facts.covering);
  if (cover instanceof Refusal) return cover;
  const launch: Launch = {
    authorization: authorization ?? EMPTY_LAUNCH.authorization,
    decision,
    launchedBy: caller.principal,
    timeoutMs: operation.timeoutMs,
    prepared,
    dedupeWindowMs: dedupeWindowOf(operation),
    reserved: room.reserved,
  };
  const decided = decideAction(state, { do: 'launch', launch }, view.now);
  if (decided instanceof Refusal) return decided;
  const record = { kind: 'action', id: content.action_id } as const;
  const events: NewEvent[] = [...room.events, ...cover, ...decided.map((event) => ({ record, ...event }))];
  events.push(...effectLaunched(view.get(effectKind, content.effect)?.state, content, view.now));
  return { events, outcome: { action_id: content.action_id } };
}

/** Why another action with the same effect stands in the way; the commit looks at those that it did not know yet. */
function duplicateIn(view: View, { loaded, met }: LaunchFacts, rows: readonly LookupRow[]): Refusal | undefined {
  const { content, state } = loaded;
  // INVARIANT: an action that its effect does not lead to could be launched beside its duplicate
  // (actions.launch.indexed).
  const own = rows.find((row) => row.id === content.action_id);
  if (own?.status !== state.state || own.principal !== content.proposed_by) {
    return new Refusal('binding_changed', 'the action is not found under its effect');
  }
  const denied = rows.some(({ status }) => status === 'cancelled');
  const byPerson = launchTerms(state).authorization?.kind === 'receipts';
  if (denied && !byPerson && content.class !== 'read' && !content.flags.includes('previously_denied')) {
    return new Refusal('receipt_required', 'a person denied the same effect since this was proposed');
  }
  return equalBarrier(view, content, rows, met);
}

/** What bounds a launch: that of policy alone, not one that people approved. */
function boundsOf({ loaded, decision }: LaunchFacts): Decision['reservations'] {
  return launchTerms(loaded.state).authorization?.kind === 'policy' ? decision.reservations : undefined;
}

function distinct(receipts: readonly Receipt[]): number {
  return new Set(receipts.map(({ request }) => request.approver)).size;
}
