/**
 * A proposal becomes an action: judged, bound and written down, or refused with nothing left behind.
 *
 * 1. The operation, its arguments in canonical bytes, no secret in plain. 2. Target and amount as the arguments say.
 * 3. The class, never below the operation's. 4. What must still hold at launch. 5. Policy, and who may approve.
 * 6. One commit, which joins an equal action that the same principal has open already.
 * Source: spec actions (the action, joining, transitions).
 */
import type { ActionClass } from '../connectors/index.js';
import { canonicalize, contentRef, digest, type JsonObject, Refusal } from '../core/index.js';
import type { Claim, LedgerEvent, LookupRow } from '../ledger/index.js';
import { CONFIG_RECORD, configKind } from '../policy/index.js';
import { consult } from './consult.js';
import { draftProposal } from './draft.js';
import { isBarred } from './equal.js';
import { actionKind, stateAfter } from './evolve.js';
import { freshContent, type Judged, judge, type ParsedProposal, parseProposal, questionOf } from './judge.js';
import { decideAction } from './machine.js';
import type { ActionContent, ActionStateName } from './schema.js';
import { type Caller, type Services, STALE, STALE_TRUST, withFreshFacts } from './services.js';
import { commitCommand } from './settle.js';

export type Proposed = {
  readonly action_id: string;
  /** True when an equal action of the same principal was open already, or was asked for under the same key. */
  readonly joined: boolean;
};

export interface ProposedAction extends Proposed {
  /** True when it was asked for before under the same key: that action is the answer, however it stands. */
  readonly replayed: boolean;
  /** How it stands, where it was written just now. */
  readonly state?: ActionStateName;
  /** The launch that was written in the same commit, when policy allowed it and the caller asked for that. */
  readonly launched?: LedgerEvent;
  readonly monotonic: number;
}

export interface ProposeOptions {
  readonly launch?: boolean;
  readonly rerun?: boolean;
  /** Proposes once for it, whoever asks: the same action is the answer ever after. */
  readonly claim?: Claim;
}

/** Refuses with the codes of the gate; `launch` writes an allowed action's launch in the same commit. */
export async function propose(
  services: Services,
  caller: Caller,
  input: unknown,
  options: ProposeOptions = {},
): Promise<ProposedAction> {
  const proposal = parseProposal(input);
  if (proposal.on_behalf_of !== undefined && caller.mayActForOthers !== true) {
    throw new Refusal('forbidden', 'this caller may not propose on behalf of others', { path: 'on_behalf_of' });
  }
  const action_id = services.ids.mint('act');
  let apart = options.rerun === true;
  return withFreshFacts(services, async () => {
    const judged = await judge(services, caller, proposal, action_id, options.launch === true);
    const proposed = await commitProposal(services, caller, judged, action_id, { ...options, rerun: apart });
    if (!proposed.joined || proposed.replayed) return proposed;
    if (await isOver(services, proposed.action_id)) throw STALE;
    apart = await isOutdated(services, proposed.action_id, judged);
    if (apart) throw STALE;
    return proposed;
  });
}

/**
 * Whether an action waits for what can not come: the world, the rules or the code are others now, or an equal one ran
 * since. It could be approved, and never launched (actions.join.launchable).
 */
async function isOutdated(services: Services, actionId: string, { unbound }: Judged): Promise<boolean> {
  const state = (await services.ledger.read(actionKind, actionId))?.state;
  if (state?.state !== 'proposed' && state?.state !== 'approved') return false;
  const { preconditions, policy_version, operation_digest } = state.content;
  const isSame = policy_version === unbound.policy_version && operation_digest === unbound.operation_digest;
  if (!isSame || canonicalize(preconditions) !== canonicalize(unbound.preconditions)) return true;
  return isBarred(services, state.content);
}

/** Ends an action whose time has passed without anybody noticing: who asks again must not wait for it for ever. */
async function isOver(services: Services, actionId: string): Promise<boolean> {
  const known = await services.ledger.read(actionKind, actionId);
  if (decideAction(known?.state, { do: 'expire' }, services.clock.now()) instanceof Refusal) return false;
  await commitCommand(services, 'engine:gate', actionId, { do: 'expire' });
  return true;
}

/** The decision alone: what policy says, who could approve, and what would have to hold. Nothing is written. */
export async function explainProposal(services: Services, caller: Caller, input: unknown) {
  const action_id = services.ids.mint('act');
  const judged = await judge(services, caller, parseProposal(input), action_id, false, true);
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
  { rerun = false, claim = ownClaim(caller, judged.proposal) }: ProposeOptions,
): Promise<ProposedAction> {
  const { unbound } = judged;
  const draft = await draftProposal(services, judged, action_id);
  const committed = await services.ledger.commit<Proposed>({
    actor: caller.principal,
    ...(claim === undefined ? {} : { claim }),
    reads: draft.reads,
    writes: draft.writes,
    lookups: draft.lookups,
    decide: (view) => {
      if (view.get(configKind, CONFIG_RECORD.id)?.head !== judged.trustHead) return STALE_TRUST;
      const own = view
        .lookup('action', draft.effect)
        .findLast((row) => row.principal === caller.principal && canJoin(row, unbound.class));
      if (own !== undefined && claim === undefined && !rerun) {
        return { events: [], outcome: { action_id: own.id, joined: true } };
      }
      const events = draft.eventsIn(view);
      return events instanceof Refusal ? events : { events, outcome: { action_id, joined: false } };
    },
  });
  const launched = committed.events.find((event) => event.type === 'action-launched');
  const { outcome, replayed, monotonic } = committed;
  const { action_id: id, joined } = outcome;
  const known = { action_id: id, joined: joined || replayed, replayed, monotonic };
  if (known.joined) return known;
  const written = committed.events.filter(({ record }) => record.kind === 'action' && record.id === id);
  const content = written[0]?.data['content'] as unknown as ActionContent;
  // What was just written was computed of these arguments.
  services.memo.keepArgs(content, judged.argsText);
  const state = stateAfter(id, undefined, written);
  return { ...known, state, ...(launched === undefined ? {} : { launched }) };
}

/** The claim of a caller who names a key of its own. */
function ownClaim(caller: Caller, proposal: ParsedProposal): Claim | undefined {
  const { content: _, ...command } = proposal;
  if (proposal.idempotency_key === undefined) return undefined;
  return claimOf(caller, proposal.idempotency_key, { ...command, content: contentRefs(proposal) } as JsonObject);
}

/** One key of a caller stands for one command, whatever it proposes by it. */
export function claimOf({ principal }: Caller, key: string, command: JsonObject): Claim {
  return { scope: 'propose', principal, key, command: digest('countersign-command/1', command) };
}

function contentRefs(proposal: ParsedProposal): string[] {
  return (proposal.content ?? []).map((bytes) => contentRef(bytes));
}

/** A read may be asked again while it runs; everything else joins as long as its outcome is not settled. */
function canJoin(row: LookupRow, actionClass: ActionClass): boolean {
  if (row.status === 'proposed' || row.status === 'approved') return true;
  return actionClass !== 'read' && (row.status === 'launched' || row.status === 'unknown');
}
