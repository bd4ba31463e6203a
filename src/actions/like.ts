/**
 * What an action asked for, asked for again: by anybody under the present rules, by a person who lets an effect with an
 * unknown outcome run once more, by a person who changes it.
 * Source: spec actions (joining, replace, edit).
 */
import { excludedOf, ruleFor } from '../approvals/index.js';
import {
  canonicalize,
  isJsonObject,
  type Json,
  type JsonObject,
  type Principal,
  Refusal,
  sameJson,
} from '../core/index.js';
import { personKind } from '../identity/index.js';
import { type Draft, draftProposal } from './draft.js';
import { eligibleBy } from './eligible.js';
import { actionKind } from './evolve.js';
import { judge, type ParsedProposal, parseProposal } from './judge.js';
import { findOperation, type LoadedAction, loadAction } from './load.js';
import { decideAction } from './machine.js';
import { claimOf, type ProposedAction, propose } from './propose.js';
import type { ActionContent } from './schema.js';
import { type Caller, type Services, STALE, withFreshFacts } from './services.js';

/** The proposal that an action was, with the content that it carries and perhaps other arguments. */
interface Changes {
  readonly args?: JsonObject;
}

/** Who asks again for what an action was, and who changed it. */
interface Asking {
  readonly principal: string;
  readonly editedBy?: string | undefined;
}

async function inputOf(services: Services, loaded: LoadedAction, asking: Asking, changes: Changes = {}) {
  const { content, args, argsText } = loaded;
  const { action_id, project, work_item, connector, operation, target, amount, currency } = content;
  const found = await findOperation(services, connector, operation);
  const again = found.args.safeParse(args);
  if (!again.success || canonicalize(again.data as Json) !== argsText) {
    throw new Refusal('invalid', 'the operation would read these arguments otherwise today', { path: 'args' });
  }
  const record = { kind: 'action', id: action_id } as const;
  const [first] = await services.ledger.events(record);
  const refs = first?.payloads.filter((ref) => ref !== content.args_ref && ref !== content.own_lines_ref) ?? [];
  const blobs = await Promise.all(refs.map((ref) => services.ledger.payload(record, 0, ref)));
  const kept = blobs.filter((bytes) => bytes !== undefined);
  return {
    project,
    connector,
    operation,
    target,
    args,
    class: content.class,
    quorum: content.quorum,
    // Who may approve, and for whom it is asked, never widens by asking again.
    ...(content.approvers.length === 0 ? {} : { approvers: await approversLeft(services, content, asking) }),
    ...(content.on_behalf_of.length === 0 ? {} : { on_behalf_of: [...content.on_behalf_of] }),
    launch_within_ms: content.launch_within_ms,
    ...(work_item === null ? {} : { work_item }),
    ...(amount === null || currency === null ? {} : { amount, currency }),
    ...(kept.length === 0 ? {} : { content: kept }),
    ...changes,
  };
}

/** Of the approvers of an action those who may still approve it, asked for by this caller. Refuses `approvers`. */
async function approversLeft(services: Services, content: ActionContent, { principal, editedBy }: Asking) {
  const { config } = services.trust();
  const rule = ruleFor(config, { ...content, factsUnknown: content.flags.includes('facts_unknown') });
  const excluded =
    rule === undefined ? [] : excludedOf(rule, config, principal, content.on_behalf_of, editedBy ?? null);
  const eligible = await eligibleBy(services, rule, excluded, content.class);
  const left = content.approvers.filter((name) => eligible.includes(name));
  if (left.length > 0) return left;
  throw new Refusal('approvers', 'of those who could approve the action nobody may approve it any more', {
    next: 'propose it anew, without naming the old one',
  });
}

/**
 * Proposes again what an action of any caller asked for, with the content that it carries, under the present rules;
 * once for a key of the caller.
 */
export async function proposeLike(
  services: Services,
  caller: Caller,
  actionId: string,
  key?: string,
): Promise<ProposedAction> {
  const loaded = await loadAction(services, actionId);
  if (loaded.content.on_behalf_of.length > 0 && caller.mayActForOthers !== true) {
    throw new Refusal('forbidden', 'this caller may not propose on behalf of others', { path: 'on_behalf_of' });
  }
  const claim = key === undefined ? {} : { claim: claimOf(caller, key, { like: actionId }) };
  return propose(services, caller, await inputOf(services, loaded, caller), { rerun: true, ...claim });
}

/** The same effect as another action of the same proposer, in the place of one whose outcome is unknown. */
export async function draftReplacement(services: Services, loaded: LoadedAction): Promise<Draft> {
  const { content } = loaded;
  const proposal = parseProposal(await inputOf(services, loaded, { principal: content.proposed_by }));
  return draftOf(services, loaded, proposal, { replaces: content.action_id });
}

/**
 * A changed copy of an action, made by a person: it keeps who proposed it, says who changed which paths, and needs its
 * own approval. The action itself is superseded in the same commit. Refuses `invalid` where nothing changed.
 */
export function editAction(services: Services, person: Principal, actionId: string, args: JsonObject) {
  return withFreshFacts(services, async () => {
    const loaded = await loadAction(services, actionId);
    const changed = changedPaths(loaded.args, args);
    if (changed.length === 0) throw new Refusal('invalid', 'nothing of it changed', { path: 'args' });
    const command = { do: 'cancel', how: 'superseded', by: person, words: null } as const;
    const plain = decideAction(loaded.state, command, services.clock.now());
    if (plain instanceof Refusal) throw plain;
    const asking = { principal: loaded.content.proposed_by, editedBy: person };
    const proposal = parseProposal(await inputOf(services, loaded, asking, { args }));
    const marks = { edited_by: person, revised_from: actionId, changed_paths: changed };
    const draft = await draftOf(services, loaded, proposal, marks);
    const record = { kind: 'action', id: actionId } as const;
    const committed = await services.ledger.commit({
      actor: person,
      reads: [...draft.reads, { kind: 'person', id: person }],
      writes: [...draft.writes, record],
      lookups: draft.lookups,
      decide: (view) => {
        if (view.get(actionKind, actionId)?.head !== loaded.snapshot.head) return STALE;
        if (view.get(personKind, person)?.state.state !== 'active') {
          return new Refusal('unknown_approver', 'no such person is registered');
        }
        const closing = decideAction(loaded.state, { ...command, supersededBy: draft.action_id }, view.now);
        if (closing instanceof Refusal) return closing;
        const events = draft.eventsIn(view);
        if (events instanceof Refusal) return events;
        const own = closing.map((event) => ({ record, ...event }));
        return { events: [...own, ...events], outcome: { action_id: draft.action_id, changed_paths: [...changed] } };
      },
    });
    return committed.outcome;
  });
}

/** The paths at which two arguments differ, sorted. */
function changedPaths(before: Json | undefined, after: Json | undefined, path = 'args'): readonly string[] {
  if (before !== undefined && after !== undefined && sameJson(before, after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) => changedPaths(before[name], after[name], `${path}.${name}`));
  }
  return before === after ? [] : [path];
}

async function draftOf(
  services: Services,
  { content }: LoadedAction,
  proposal: ParsedProposal,
  marks: Partial<Pick<ActionContent, 'replaces' | 'edited_by' | 'revised_from' | 'changed_paths'>>,
): Promise<Draft> {
  const action_id = services.ids.mint('act');
  const { edited_by = null } = marks;
  const caller = {
    principal: content.proposed_by,
    mayActForOthers: true,
    ...(edited_by === null ? {} : { editedBy: edited_by }),
  };
  const judged = await judge(services, caller, proposal, action_id, false);
  return draftProposal(services, { ...judged, unbound: { ...judged.unbound, ...marks } }, action_id);
}
