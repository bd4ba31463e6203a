/**
 * A proposal becomes an action: judged, bound and written down, or refused with nothing left behind.
 *
 * 1. The operation, its arguments in canonical bytes, no secret in plain. 2. Target and amount as the arguments say.
 * 3. The class, never below the operation's. 4. What must still hold at launch. 5. Policy, and who may approve.
 * 6. One commit, which joins an equal action that the same principal has open already.
 * Source: spec actions (the action, joining, transitions).
 */
import { FREEZE_RECORD, frozenIn } from '../approvals/index.js';
import type { ActionClass } from '../connectors/index.js';
import { canonicalize, contentRef, digest, type Json, Refusal } from '../core/index.js';
import { LEDGER_RECORD, ledgerKind } from '../identity/index.js';
import type { LedgerEvent, LookupRow, NewEvent, View } from '../ledger/index.js';
import { budgetRecords, CONFIG_RECORD, configKind } from '../policy/index.js';
import { askEvent, askingOf, askingRecords } from './asks.js';
import { withinBounds } from './bounds.js';
import { consult } from './consult.js';
import { actionBinding, actionDigest, effectDigest } from './content.js';
import { actionKind } from './evolve.js';
import { freshContent, type Judged, judge, type ParsedProposal, parseProposal, questionOf } from './judge.js';
import { contentPayload, findOperation, loadAction } from './load.js';
import { type ActionCommand, decideAction, needsPerson } from './machine.js';
import type { ActionContent, ActionState, Flag } from './schema.js';
import { type Caller, type Services, STALE, STALE_TRUST, withFreshFacts } from './services.js';
import { commitCommand } from './settle.js';

export type Proposed = {
  readonly action_id: string;
  /** True when an equal action of the same principal was open already: nothing was written. */
  readonly joined: boolean;
};

export interface ProposedAction extends Proposed {
  /** The launch that was written in the same commit, when policy allowed it and the caller asked for that. */
  readonly launched?: LedgerEvent;
  readonly monotonic: number;
}

/** Refuses with the codes of the gate; `launch` writes an allowed action's launch in the same commit. */
export async function propose(
  services: Services,
  caller: Caller,
  input: unknown,
  options: { readonly launch?: boolean; readonly rerun?: boolean } = {},
): Promise<ProposedAction> {
  const proposal = parseProposal(input);
  if (proposal.on_behalf_of !== undefined && caller.mayActForOthers !== true) {
    throw new Refusal('forbidden', 'this caller may not propose on behalf of others', { path: 'on_behalf_of' });
  }
  const action_id = services.ids.mint('act');
  let apart = options.rerun === true;
  return withFreshFacts(services, async () => {
    const judged = await judge(services, caller, proposal, action_id, options.launch === true);
    const proposed = await commitProposal(services, caller, judged, action_id, apart);
    if (!proposed.joined) return proposed;
    if (await isOver(services, proposed.action_id)) throw STALE;
    apart = await isOutdated(services, proposed.action_id, judged);
    if (apart) throw STALE;
    return proposed;
  });
}

/** Whether an action waits on a world that is another one now: it could be approved, and never launched. */
async function isOutdated(services: Services, actionId: string, { unbound }: Judged): Promise<boolean> {
  const state = (await services.ledger.read(actionKind, actionId))?.state;
  const waits = state?.state === 'proposed' || state?.state === 'approved';
  return waits && canonicalize(state.content.preconditions) !== canonicalize(unbound.preconditions);
}

/** Ends an action whose time has passed without anybody noticing: who asks again must not wait for it for ever. */
async function isOver(services: Services, actionId: string): Promise<boolean> {
  const known = await services.ledger.read(actionKind, actionId);
  if (decideAction(known?.state, { do: 'expire' }, services.clock.now()) instanceof Refusal) return false;
  await commitCommand(services, 'engine:gate', actionId, { do: 'expire' });
  return true;
}

/** Proposes again what an action of any caller asked for, with the content that it carries, under the present rules. */
export async function proposeLike(services: Services, caller: Caller, actionId: string): Promise<ProposedAction> {
  const { content, args, argsText } = await loadAction(services, actionId);
  const { project, work_item, connector, operation, target, amount, currency } = content;
  if (content.on_behalf_of.length > 0 && caller.mayActForOthers !== true) {
    throw new Refusal('forbidden', 'this caller may not propose on behalf of others', { path: 'on_behalf_of' });
  }
  const found = await findOperation(services, connector, operation);
  const again = found.args.safeParse(args);
  if (!again.success || canonicalize(again.data as Json) !== argsText) {
    throw new Refusal('invalid', 'the operation would read these arguments otherwise today', { path: 'args' });
  }
  const record = { kind: 'action', id: actionId } as const;
  const [first] = await services.ledger.events(record);
  const refs = first?.payloads.filter((ref) => ref !== content.args_ref && ref !== content.own_lines_ref) ?? [];
  const blobs = await Promise.all(refs.map((ref) => services.ledger.payload(record, 0, ref)));
  const kept = blobs.filter((bytes) => bytes !== undefined);
  const input = {
    project,
    connector,
    operation,
    target,
    args,
    class: content.class,
    // Who may approve, and for whom it is asked, never widens by asking again.
    ...(content.approvers.length === 0 ? {} : { approvers: [...content.approvers] }),
    ...(content.on_behalf_of.length === 0 ? {} : { on_behalf_of: [...content.on_behalf_of] }),
    launch_within_ms: content.launch_within_ms,
    ...(work_item === null ? {} : { work_item }),
    ...(amount === null || currency === null ? {} : { amount, currency }),
    ...(kept.length === 0 ? {} : { content: kept }),
  };
  return propose(services, caller, input, { rerun: true });
}

/** The decision alone: what policy says, who could approve, and what would have to hold. Nothing is written. */
export async function explainProposal(services: Services, caller: Caller, input: unknown) {
  const action_id = services.ids.mint('act');
  const judged = await judge(services, caller, parseProposal(input), action_id, false);
  const { decision, unbound, operation, args, argsText } = judged;
  const subject = { content: unbound, argsText, args };
  const fresh = freshContent(judged.proposal);
  const preview = await consult(services, subject, { fresh }, (call) => operation.preview?.(call));
  const { approvers, class: actionClass, rule, preconditions } = unbound;
  return {
    decision,
    approvers,
    class: actionClass,
    rule,
    preconditions,
    facts: questionOf(unbound, judged.flags.includes('facts_unknown'), args),
    ...(preview === undefined ? {} : { preview }),
  };
}

async function commitProposal(
  services: Services,
  caller: Caller,
  judged: Judged,
  action_id: string,
  rerun: boolean,
): Promise<ProposedAction> {
  const { proposal, unbound, argsText } = judged;
  const effect = effectDigest(unbound, argsText);
  const record = { kind: 'action', id: action_id } as const;
  const { content: _, ...command } = proposal;
  const claim =
    proposal.idempotency_key === undefined
      ? undefined
      : {
          scope: 'propose',
          principal: caller.principal,
          key: proposal.idempotency_key,
          command: digest('countersign-command/1', { ...command, content: contentRefs(proposal) } as Json),
        };
  const asking = await askingOf(services, caller.principal);
  const asked = asking === undefined ? { reads: [], writes: [] } : askingRecords(asking);
  const lockedAt = services.clock.now();
  const bounds = budgetRecords(judged.decision.reservations, lockedAt);
  const committed = await services.ledger.commit<Proposed>({
    actor: caller.principal,
    ...(claim === undefined ? {} : { claim }),
    reads: [LEDGER_RECORD, CONFIG_RECORD, FREEZE_RECORD, ...asked.reads],
    writes: [...asked.writes, ...bounds, { kind: 'effect', id: effect }, record],
    lookups: [{ kind: 'action', key: effect }],
    decide: (view) => {
      if (view.get(configKind, CONFIG_RECORD.id)?.head !== judged.trustHead) return STALE_TRUST;
      const open = view.lookup('action', effect);
      const own = open.findLast((row) => row.principal === caller.principal && canJoin(row, unbound.class));
      if (own !== undefined && claim === undefined && !rerun) {
        return { events: [], outcome: { action_id: own.id, joined: true } };
      }
      const frozen = frozenIn(view, unbound);
      if (frozen !== undefined) return frozen;
      const bounded = withinBounds(view, judged, lockedAt);
      if (bounded instanceof Refusal) return bounded;
      const content = boundContent(view, bounded, effect, open);
      if (content instanceof Refusal) return content;
      const events = proposalEvents(content, bounded, view.now);
      if (events instanceof Refusal) return events;
      const outcome = { action_id, joined: false };
      const waits = events.every(({ type }) => type !== 'action-approved');
      const ask = waits && asking !== undefined ? askEvent(view, asking, action_id) : undefined;
      if (ask instanceof Refusal) return ask;
      return { events: ask === undefined ? events : [...events, ask], outcome };
    },
  });
  const launched = committed.events.find((event) => event.type === 'action-launched');
  return { ...committed.outcome, ...(launched === undefined ? {} : { launched }), monotonic: committed.monotonic };
}

function contentRefs(proposal: ParsedProposal): string[] {
  return (proposal.content ?? []).map((bytes) => contentRef(bytes));
}

/** A read may be asked again while it runs; everything else joins as long as its outcome is not settled. */
function canJoin(row: LookupRow, actionClass: ActionClass): boolean {
  const waiting = row.status === 'proposed' || row.status === 'approved';
  return waiting || (actionClass !== 'read' && row.status !== 'cancelled');
}

function boundContent(view: View, judged: Judged, effect: string, open: readonly LookupRow[]): ActionContent | Refusal {
  const ledger = view.get(ledgerKind, LEDGER_RECORD.id)?.state;
  if (ledger === undefined) return new Refusal('not_initialized', 'the ledger was never set up');
  const { unbound, argsText } = judged;
  const duplicate =
    unbound.class !== 'read' && open.some((row) => row.status === 'launched' || row.status === 'unknown');
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
function proposalEvents(content: ActionContent, judged: Judged, now: number): NewEvent[] | Refusal {
  const record = { kind: 'action', id: content.action_id } as const;
  const args = { ref: content.args_ref, bytes: judged.argsText };
  const kept = judged.ownLines === undefined ? [] : [{ ref: contentRef(judged.ownLines), bytes: judged.ownLines }];
  const payloads = [args, ...kept, ...(judged.proposal.content ?? []).map(contentPayload)];
  const commands: ActionCommand[] = [{ do: 'propose', content, decision: judged.decision }];
  const allowed = judged.decision.outcome === 'ALLOW' && !needsPerson(content.flags);
  if (allowed) commands.push({ do: 'allow' });
  if (allowed && judged.launch !== undefined) commands.push({ do: 'launch', launch: judged.launch });
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
  return events;
}
