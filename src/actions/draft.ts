/**
 * What a judged proposal writes: its part of a commit, whoever makes that commit (the proposer, a person who lets an
 * effect run again, a person who changes an action).
 * Source: spec actions (the action, transitions).
 */
import { FREEZE_RECORD, frozenIn } from '../approvals/index.js';
import { contentRef, LIMITS, Refusal } from '../core/index.js';
import { LEDGER_RECORD, ledgerKind } from '../identity/index.js';
import type { KindName, LookupRow, NewEvent, RecordRef, View } from '../ledger/index.js';
import { budgetRecords, CONFIG_RECORD, configKind } from '../policy/index.js';
import { askEvent, askingOf, askingRecords } from './asks.js';
import { withinBounds } from './bounds.js';
import { actionBinding, actionDigest, effectDigest } from './content.js';
import { candidatesFor, coverIn, coveringOf } from './cover.js';
import { effectKind, effectLaunched, effectRecord, mayHaveHappened, mayHaveRunSince } from './effect.js';
import { actionKind } from './evolve.js';
import type { Judged } from './judge.js';
import { contentPayload } from './load.js';
import { type ActionCommand, decideAction, needsPerson } from './machine.js';
import type { ActionContent, ActionState, Flag } from './schema.js';
import { clockBarrier, type Services, STALE, STALE_TRUST } from './services.js';

export interface Draft {
  readonly action_id: string;
  readonly effect: string;
  readonly reads: readonly RecordRef[];
  readonly writes: readonly RecordRef[];
  readonly lookups: readonly { readonly kind: KindName; readonly key: string }[];
  /** The events of the proposal, judged again over the records of the commit; or why there are none. */
  eventsIn(view: View): readonly NewEvent[] | Refusal;
}

export async function draftProposal(services: Services, judged: Judged, action_id: string): Promise<Draft> {
  const { unbound, argsText } = judged;
  const effect = effectDigest(unbound, argsText);
  const asks = judged.decision.outcome === 'REQUIRE_APPROVAL';
  const [asking, candidates, lost] = await Promise.all([
    askingOf(services, unbound.proposed_by),
    asks ? candidatesFor(services, unbound) : { grants: [], reads: [] },
    unbound.class === 'read' ? undefined : lostTimeOf(services, effect),
  ]);
  const asked = asking === undefined ? { reads: [], writes: [] } : askingRecords(asking);
  const lockedAt = services.clock.now();
  const bounds = budgetRecords(judged.decision.reservations, lockedAt);
  return {
    action_id,
    effect,
    reads: [
      LEDGER_RECORD,
      CONFIG_RECORD,
      FREEZE_RECORD,
      ...candidates.reads,
      ...asked.reads,
      ...(judged.workItem?.reads ?? []),
    ],
    writes: [...asked.writes, ...bounds, effectRecord(effect), { kind: 'action', id: action_id }],
    lookups: [{ kind: 'action', key: effect }],
    eventsIn: (view) => {
      if (view.get(configKind, CONFIG_RECORD.id)?.head !== judged.trustHead) return STALE_TRUST;
      if (judged.workItem?.holds(view) === false) return STALE;
      const frozen = (judged.launch === undefined ? undefined : clockBarrier(view)) ?? frozenIn(view, unbound);
      if (frozen !== undefined) return frozen;
      const bounded = withinBounds(view, judged, lockedAt);
      if (bounded instanceof Refusal) return bounded;
      const rows = view.lookup('action', effect);
      const restores = view.get(ledgerKind, LEDGER_RECORD.id)?.state.restored_at.length ?? 0;
      if (lost !== undefined && lost.restores !== restores) return STALE;
      const content = boundContent(view, bounded, effect, rows, lost?.actions ?? []);
      if (content instanceof Refusal) return content;
      const grant = coverIn(view, candidates, coveringOf(services, content, judged.args));
      const events = proposalEvents(view, content, bounded, grant);
      if (events instanceof Refusal) return events;
      const waits = events.every(({ type }) => type !== 'action-approved');
      const ask = waits && asking !== undefined ? askEvent(view, asking, action_id) : undefined;
      if (ask instanceof Refusal) return ask;
      return ask === undefined ? events : [...events, ask];
    },
  };
}

/** Equal actions that failed, and may have run again in the time that a restore took out of the log. */
interface LostTime {
  readonly restores: number;
  readonly actions: readonly string[];
}

const NOTHING_LOST: LostTime = { restores: 0, actions: [] };

async function lostTimeOf({ ledger }: Services, effect: string): Promise<LostTime> {
  const identity = (await ledger.read(ledgerKind, LEDGER_RECORD.id))?.state;
  if (identity === undefined || identity.restored_at.length === 0) return NOTHING_LOST;
  const launched = (await ledger.read(effectKind, effect))?.state.launched ?? [];
  const actions: string[] = [];
  for (const id of new Set(launched.map(({ action_id }) => action_id))) {
    const state = (await ledger.read(actionKind, id))?.state;
    if (state !== undefined && mayHaveRunSince(state, identity)) actions.push(id);
  }
  return { restores: identity.restored_at.length, actions };
}

function boundContent(
  view: View,
  judged: Judged,
  effect: string,
  open: readonly LookupRow[],
  lost: readonly string[],
): ActionContent | Refusal {
  const ledger = view.get(ledgerKind, LEDGER_RECORD.id)?.state;
  if (ledger === undefined) return new Refusal('not_initialized', 'the ledger was never set up');
  const { unbound, argsText } = judged;
  const found = unbound.class === 'read' ? [] : open.filter(mayHaveHappened).map(({ id }) => id);
  const duplicates = [...new Set([...found, ...lost])];
  if (duplicates.length > LIMITS.duplicatesMax) {
    return new Refusal('possible_duplicate', 'too many equal actions may have happened: find out about them first');
  }
  const duplicate = duplicates.length > 0;
  const denied = unbound.class !== 'read' && open.some((row) => row.status === 'cancelled');
  const flags: readonly Flag[] = [
    ...(duplicate ? (['possible_duplicate'] as const) : []),
    ...(denied ? (['previously_denied'] as const) : []),
    ...judged.flags,
  ];
  const content = {
    ...unbound,
    ledger_id: ledger.ledger_id,
    epoch: ledger.epoch,
    digest: actionDigest(unbound, argsText),
    effect,
    approve_by: view.now + judged.approveWithinMs,
    flags,
    duplicates,
    launches_seen: view.get(effectKind, effect)?.state.count ?? 0,
  };
  if (duplicate && judged.decision.outcome === 'ALLOW' && content.approvers.length < content.quorum) {
    return new Refusal('possible_duplicate', 'the same effect is running or has an unknown outcome');
  }
  if (denied && judged.decision.outcome === 'ALLOW' && content.approvers.length < content.quorum) {
    return new Refusal('approvers', 'a person denied this before, and nobody may approve it now');
  }
  return { ...content, binding: actionBinding(content) };
}

/** Proposed; allowed by policy where it is; launched where the caller asked for that: in one commit. */
function proposalEvents(
  view: View,
  content: ActionContent,
  judged: Judged,
  grantId: string | undefined,
): NewEvent[] | Refusal {
  const { now } = view;
  const record = { kind: 'action', id: content.action_id } as const;
  const args = { ref: content.args_ref, bytes: judged.argsText };
  const kept = judged.ownLines === undefined ? [] : [{ ref: contentRef(judged.ownLines), bytes: judged.ownLines }];
  const payloads = [args, ...kept, ...(judged.proposal.content ?? []).map(contentPayload)];
  const commands: ActionCommand[] = [{ do: 'propose', content, decision: judged.decision }];
  const allowed = judged.decision.outcome === 'ALLOW' && !needsPerson(content.flags);
  if (allowed) commands.push({ do: 'allow' });
  if (!allowed && grantId !== undefined) commands.push({ do: 'cover', grantId });
  if (allowed && judged.launch !== undefined) commands.push({ do: 'launch', launch: judged.launch });
  const isLaunched = allowed && judged.launch !== undefined;
  const events: NewEvent[] = allowed ? [...(judged.reserving ?? [])] : [];
  let state: ActionState | undefined;
  for (const command of commands) {
    const decided = decideAction(state, command, now);
    if (decided instanceof Refusal) return decided;
    for (const event of decided) {
      events.push({ record, ...event, ...(event.type === 'action-proposed' ? { payloads } : {}) });
      state = actionKind.evolve(state, {
        ...event,
        record,
        revision: 0,
        at: now,
        actor: '',
        payloads: [],
        prev: null,
        hash: '',
      });
    }
  }
  const known = view.get(effectKind, content.effect)?.state;
  return isLaunched ? [...events, ...effectLaunched(known, content, now)] : events;
}
