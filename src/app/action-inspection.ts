/**
 * Actions as an audit of the log sees them: each event is what the machine decides over the state before it, each
 * launch had its authority at its place in the log, and what it took and gave back of grants and bounds is what the
 * gate takes and gives back. It keeps the actions that are open.
 * Source: spec ledger (verify), actions (launch).
 */
import {
  type ActionContent,
  type ActionState,
  type Attempt,
  actionKind,
  coverIn,
  isBound,
  isDigested,
  isOpen,
  needsPerson,
  settledBounds,
  takeCover,
  unlikeMachine,
} from '../actions/index.js';
import { countingMethods, frozenIn, grantIn, grantKind, grantRecord } from '../approvals/index.js';
import { canonicalize, type Json, type JsonObject, Refusal, sameJson } from '../core/index.js';
import type { LedgerEvent, NewEvent, RecordRef } from '../ledger/index.js';
import { takeRoom } from '../policy/index.js';
import { textOf } from './act-inspection.js';
import type { AuditWorld } from './audit-world.js';
import { ClosingInspection } from './closing-inspection.js';
import { EffectInspection } from './effect-inspection.js';
import { approvalDefects, receiptsDefects } from './receipt-authority.js';
import type { RequestInspection } from './request-inspection.js';
import { isReplacement, resolutionDefect } from './resolution-inspection.js';

/** What an audit looks up beside the log. */
export interface AuditSource {
  /** All events of a record, in order. */
  events(record: RecordRef): Promise<readonly LedgerEvent[]>;
  eventAt(record: RecordRef, revision: number): Promise<LedgerEvent | undefined>;
  /** The arguments under an address; undefined where they were erased. */
  args(actionId: string, ref: string): Promise<JsonObject | undefined>;
}

/** Takings that no launch and no outcome followed yet: a commit has few. */
const PENDING_MAX = 256;

export class ActionInspection {
  launches = 0;
  readonly #world: AuditWorld;
  readonly #requests: RequestInspection;
  readonly #source: AuditSource;
  readonly #open = new Map<string, ActionState>();
  /** Events of grants and bounds whose action's event follows in the same commit. */
  #pending: LedgerEvent[] = [];
  readonly #effects: EffectInspection;
  readonly #closings: ClosingInspection;

  constructor(world: AuditWorld, requests: RequestInspection, source: AuditSource) {
    this.#world = world;
    this.#requests = requests;
    this.#source = source;
    this.#closings = new ClosingInspection(world, requests);
    this.#effects = new EffectInspection(world, {
      eventAt: (record, revision) => source.eventAt(record, revision),
      stateOf: async (id, at, isThen) =>
        this.#open.get(id) ??
        this.#history({ kind: 'action', id }, (event) => (isThen === 'with' ? event.at <= at : event.at < at)),
    });
  }

  /** What was launched under an effect: it follows the launch. */
  effect(event: LedgerEvent): Promise<string | undefined> {
    return this.#effects.see(event);
  }

  /** Whether the event behind a launch is missing, when the log goes on. */
  unnoted(): string | undefined {
    return this.#effects.unfinished();
  }

  /** An event of a grant or a bound that a launch or an outcome makes: it is judged with that. */
  pend(event: LedgerEvent): string | undefined {
    this.#pending.push(event);
    return this.#pending.length > PENDING_MAX ? this.unfinished() : undefined;
  }

  /** Whether something was taken or given back without a launch or an outcome. */
  unfinished(): string | undefined {
    if (this.#pending.length === 0) return this.#closings.unfinished();
    this.#settlePending();
    return 'something was taken or given back without a launch or an outcome';
  }

  async see(event: LedgerEvent): Promise<readonly string[]> {
    const { id } = event.record;
    const before = this.#open.get(id) ?? (await this.#closed(event));
    const defects: string[] = [];
    const unlike = unlikeMachine(before, event);
    if (unlike !== undefined) defects.push(`the action can not take this step: ${unlike}`);
    if (event.type === 'action-proposed') defects.push(...(await this.#proposed(event)));
    else if (before === undefined) return [...defects, 'the action was never proposed'];
    const state = actionKind.evolve(before, event);
    if (event.type === 'action-launched') defects.push(...(await this.#launch(event, before as ActionState)));
    else if (before !== undefined) {
      defects.push(...resolutionDefect(this.#world, this.#requests, event, before));
      defects.push(...this.#closings.see(event, before));
      defects.push(...(await this.#approved(event, before)));
      if (event.type !== 'action-approved') this.#demandTaken(settledBounds(before, event), defects);
    }
    if (isOpen(state.state)) this.#open.set(id, state);
    else this.#open.delete(id);
    if (state.state === 'confirmed' || state.state === 'cancelled') this.#requests.forget(id);
    this.#effects.note(state);
    return defects;
  }

  /** The state of an action that is over, or failed: what comes after that is rare. */
  async #closed(event: LedgerEvent): Promise<ActionState | undefined> {
    if (event.type === 'action-proposed') return undefined;
    return this.#history(event.record, ({ revision }) => revision < event.revision);
  }

  async #history(record: RecordRef, isThere: (event: LedgerEvent) => boolean): Promise<ActionState | undefined> {
    const events = await this.#source.events(record);
    return events
      .filter(isThere)
      .reduce<ActionState | undefined>((state, one) => actionKind.evolve(state, one), undefined);
  }

  async #proposed(event: LedgerEvent): Promise<readonly string[]> {
    const { content } = event.data as unknown as { content: ActionContent };
    const defects: string[] = [...this.#closings.proposed(event, content)];
    defects.push(...(await this.#effects.proposed(event, content)));
    if (content.epoch !== this.#world.epoch || content.policy_version !== this.#world.policyVersion) {
      defects.push('the action was proposed in another epoch, or under another configuration');
    }
    if (!event.payloads.includes(content.args_ref)) defects.push('the arguments of the action are not with it');
    const args = await this.#source.args(content.action_id, content.args_ref);
    if (args !== undefined && !isDigested(content, canonicalize(args))) {
      defects.push('the digests of the action are not those of its content');
    }
    if (!isBound(content)) defects.push('the binding of the action is not that of its content');
    if (content.replaces !== null && !isReplacement(content, this.#open.get(content.replaces))) {
      defects.push('the action takes the place of another one that nobody gave up');
    }
    return defects;
  }

  /** INVARIANT: nothing counts as approved without what approves it (audit.approvals). */
  async #approved(event: LedgerEvent, before: ActionState): Promise<readonly string[]> {
    const { type, data } = event;
    const authorization = data['authorization'] as Attempt['authorization'] | null | undefined;
    if (type === 'action-approved' && authorization?.kind === 'policy') return [];
    if (type === 'action-approved' && authorization?.kind === 'grant') {
      const { content } = before;
      const covering = {
        content,
        args: await this.#argsOf(content, authorization),
        methods: this.#methodsOf(content),
      };
      const grants = [grantRecord(authorization.grant_id)];
      const covers = coverIn(this.#world.viewAt(event.at), { grants, reads: [] }, covering) !== undefined;
      return covers ? [] : ['an approval stands on a standing approval that covers it not'];
    }
    if (type !== 'approval-recorded' && type !== 'action-approved' && type !== 'retry-approved') return [];
    return approvalDefects(this.#world, this.#requests, event, before);
  }

  /** INVARIANT: a launch has its authority where it stands in the log (audit.launch-authority). */
  async #launch(event: LedgerEvent, before: ActionState): Promise<readonly string[]> {
    this.launches += 1;
    const { attempt } = event.data as unknown as { attempt: Attempt };
    const { content } = before;
    const defects: string[] = [];
    const view = this.#world.viewAt(event.at);
    const frozen = frozenIn(view, content) ?? frozenIn(view, { ...content, proposed_by: attempt.launched_by });
    if (frozen !== undefined) defects.push(`the launch came under a freeze: ${frozen.message}`);
    if (content.epoch !== this.#world.epoch) defects.push('the launch is of an action of another epoch');
    if (content.policy_version !== this.#world.policyVersion) {
      defects.push('the launch came under another configuration than its proposal');
    }
    const { authorization } = attempt;
    const terms = before.retry ?? before;
    if (canonicalize(authorization as Json) !== canonicalize(terms.authorization as Json)) {
      defects.push('the launch stands on something else than its approval');
    }
    if (authorization.kind === 'policy' && !isAllowed(before, attempt)) {
      defects.push('policy did not allow this launch');
    }
    if (authorization.kind === 'receipts') {
      defects.push(...receiptsDefects(this.#world, this.#requests, event, before, authorization.request_ids));
    }
    if (attempt.launched_by !== event.actor) defects.push('somebody else launched this');
    defects.push(...this.#effects.launch(event, before));
    this.#demandTaken(await this.#takings(event, attempt, content, defects), defects);
    return defects;
  }

  /** What a launch takes of bounds and of a grant; what refuses it is a defect. */
  async #takings(
    event: LedgerEvent,
    attempt: Attempt,
    content: ActionContent,
    defects: string[],
  ): Promise<readonly NewEvent[]> {
    const view = this.#world.viewAt(event.at);
    const { authorization, decision, reserved, no } = attempt;
    const bounds = authorization.kind === 'policy' ? decision.reservations : undefined;
    const room = takeRoom(view, bounds, event.at, { actionId: content.action_id, attempt: no });
    if (room.is !== 'taken') defects.push('a launch took more than there was room for');
    else if (!sameJson([...(reserved ?? [])] as Json, [...room.reserved] as Json)) {
      defects.push('a launch says that it took something else');
    }
    const covering = { content, args: await this.#argsOf(content, authorization), methods: this.#methodsOf(content) };
    const cover = takeCover(view, authorization, content, no, covering);
    if (cover instanceof Refusal)
      defects.push(`a launch stands on a standing approval that covers it not: ${cover.message}`);
    return [...(room.is === 'taken' ? room.events : []), ...(cover instanceof Refusal ? [] : cover)];
  }

  async #argsOf(content: ActionContent, authorization: Attempt['authorization']): Promise<JsonObject | null> {
    if (authorization.kind !== 'grant') return null;
    const state = this.#world.state(grantKind, authorization.grant_id);
    if (state === undefined || Object.keys(grantIn(state).args).length === 0) return null;
    return (await this.#source.args(content.action_id, content.args_ref)) ?? null;
  }

  #methodsOf(content: ActionContent): readonly string[] {
    const { config } = this.#world;
    return config === undefined ? [] : countingMethods(config, subjectOf(content));
  }

  /** What grants and bounds were told has to be exactly this. */
  #demandTaken(expected: readonly NewEvent[], defects: string[]): void {
    const [is, should] = [this.#pending.map(textOf), expected.map(textOf)];
    this.#settlePending();
    if (is.length !== should.length || is.some((text, at) => text !== should[at])) {
      defects.push('grants and bounds were told something else than this takes or gives back');
    }
  }

  #settlePending(): void {
    for (const event of this.#pending) this.#world.fold(event);
    this.#pending = [];
  }
}

function subjectOf(content: ActionContent) {
  return { ...content, factsUnknown: content.flags.includes('facts_unknown') };
}

/** Whether policy allowed a launch by this decision, at the proposal and again. */
function isAllowed({ authorization, decision, content }: ActionState, attempt: Attempt): boolean {
  if (authorization?.kind !== 'policy' || authorization.decision_id !== decision.decision_id) return false;
  return decision.outcome === 'ALLOW' && attempt.decision.outcome === 'ALLOW' && !needsPerson(content.flags);
}
