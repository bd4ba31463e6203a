/**
 * Equal effects as an audit of the log sees them: each proposal says what was known of its equals, each launch is noted
 * under its effect as the gate notes it, and none came beside an equal one that may have happened and that no signer
 * was shown. It keeps what is open, and what people denied.
 * Source: spec ledger (verify), actions (the action: flags; launch).
 */
import {
  type ActionContent,
  type ActionState,
  actionKind,
  type EffectState,
  effectKind,
  effectLaunched,
  effectRecord,
  mayHaveHappened,
  mayHaveRunSince,
  sameEffect,
} from '../actions/index.js';
import { LIMITS, Refusal, sameJson } from '../core/index.js';
import { LEDGER_RECORD, ledgerKind } from '../identity/index.js';
import type { LedgerEvent, RecordRef } from '../ledger/index.js';
import { textOf } from './act-inspection.js';
import type { AuditWorld } from './audit-world.js';

/** Where states of other actions come from (open ones at hand, closed ones by their events), and single events. */
export interface EffectSource {
  eventAt(record: RecordRef, revision: number): Promise<LedgerEvent | undefined>;
  /** As it stood before this time, or with what happened in that very millisecond. */
  stateOf(actionId: string, at: number, isThen: 'before' | 'with'): Promise<ActionState | undefined>;
}

interface Launch {
  readonly content: ActionContent;
  readonly at: number;
}

/** Longer than events of different gates stand in the log out of the order of their times, in milliseconds. */
const RECENT_MS = 2 * LIMITS.statementMsMax;

const FLAGS_OF_EQUALS: readonly string[] = ['possible_duplicate', 'previously_denied'];

export class EffectInspection {
  readonly #world: AuditWorld;
  readonly #source: EffectSource;
  /** Actions that their effect leads to, with their status. */
  readonly #found = new Map<string, Map<string, string>>();
  readonly #recent = new Map<string, { readonly at: number; readonly count: number }>();
  /** The launch whose event under its effect has to follow. */
  #launched: Launch | undefined;

  constructor(world: AuditWorld, source: EffectSource) {
    this.#world = world;
    this.#source = source;
  }

  /** An action stands as this: it is found under its effect as the gate finds it. */
  note(state: ActionState): void {
    const { action_id, effect } = state.content;
    const { lookup, status } = actionKind.columns(state);
    const known = this.#found.get(effect) ?? new Map<string, string>();
    if (lookup === undefined || status === undefined) known.delete(action_id);
    else known.set(action_id, status);
    if (known.size === 0) this.#found.delete(effect);
    else this.#found.set(effect, known);
  }

  /**
   * What is wrong with what a proposal says of its equals.
   * INVARIANT: whoever signs is shown every equal action that may have happened (audit.equals-shown).
   */
  async proposed({ at }: Pick<LedgerEvent, 'at'>, content: ActionContent): Promise<readonly string[]> {
    const { class: actionClass, effect, launches_seen } = content;
    const defects: string[] = [];
    const last = launches_seen === 0 ? undefined : await this.#launchAt(effect, launches_seen - 1);
    if (!(await this.#isCounted(content, at, last))) {
      defects.push('a proposal says of another number of launches than there were');
    }
    const rows = actionClass === 'read' ? [] : this.#rows(content);
    const found = rows.filter(mayHaveHappened).map(({ id }) => id);
    const lost = actionClass === 'read' || last === undefined ? [] : await this.#lost(last, at);
    const duplicates = [...new Set([...found, ...lost])].sort();
    if (!sameJson([...content.duplicates].sort(), duplicates)) {
      defects.push('a proposal leaves out equal actions that may have happened, or names others');
    }
    const flags = [
      ...(duplicates.length === 0 ? [] : ['possible_duplicate']),
      ...(rows.some(({ status }) => status === 'cancelled') ? ['previously_denied'] : []),
    ];
    if (!sameJson(content.flags.filter((flag) => FLAGS_OF_EQUALS.includes(flag)) as string[], flags)) {
      defects.push('a proposal is not flagged as its equals demand');
    }
    return defects;
  }

  /** Whether an effect was launched as often as a proposal says; `last` is the last launch that it counts. */
  async #isCounted({ effect, launches_seen }: ActionContent, at: number, last: LedgerEvent | undefined) {
    const recent = this.#recent.get(effect);
    if (recent !== undefined) return recent.count === launches_seen;
    // Nothing was launched for a while: what the proposal counts is from before, and what it does not is to come.
    if (launches_seen > 0 && (last === undefined || last.at >= at - RECENT_MS)) return false;
    const next = await this.#launchAt(effect, launches_seen);
    return next === undefined || next.at >= at - RECENT_MS;
  }

  /** How often an effect was launched by now, for as long as the order of the log may not be that of its times. */
  #count({ record, at, revision }: LedgerEvent): void {
    this.#recent.delete(record.id);
    this.#recent.set(record.id, { at, count: revision + 1 });
    for (const [id, known] of this.#recent) {
      if (known.at >= at - RECENT_MS) break;
      this.#recent.delete(id);
    }
  }

  /** A launch: the event under its effect has to follow, and is judged with it. */
  launch({ at }: LedgerEvent, { content, authorization, retry }: ActionState): readonly string[] {
    this.#launched = content.class === 'read' ? undefined : { content, at };
    const byPerson = (retry ?? { authorization }).authorization?.kind === 'receipts';
    const denied = content.class !== 'read' && this.#rows(content).some(({ status }) => status === 'cancelled');
    if (!denied || byPerson || content.flags.includes('previously_denied')) return [];
    return ['a launch without a person came after somebody denied the same effect'];
  }

  /** What is wrong with a launch among its equals, by the event under its effect. */
  async see(event: LedgerEvent): Promise<string | undefined> {
    this.#count(event);
    const launched = this.#launched;
    this.#launched = undefined;
    if (launched === undefined) return 'something was noted under an effect that was not launched';
    const { content, at } = launched;
    const before = event.revision === 0 ? undefined : await this.#source.eventAt(event.record, event.revision - 1);
    const known = before === undefined ? undefined : effectKind.evolve(undefined, before);
    const [expected] = effectLaunched(known, content, at);
    if (expected === undefined || textOf(expected) !== textOf(event)) {
      return 'a launch was noted under its effect in another way';
    }
    // What another gate wrote in the same millisecond may stand before it, or behind.
    const refused = await this.#equals(launched, known, 'with');
    const wrong = refused === undefined ? undefined : await this.#equals(launched, known, 'before');
    return wrong === undefined ? undefined : `a launch came beside an equal one: ${wrong.message}`;
  }

  async #equals(
    { content, at }: Launch,
    effect: EffectState | undefined,
    isThen: 'before' | 'with',
  ): Promise<Refusal | undefined> {
    const rows = this.#rows(content);
    const states = new Map<string, ActionState | undefined>();
    const compare = () =>
      sameEffect(content, {
        rows,
        effect,
        stateOf: (id) => (states.has(id) ? states.get(id) : 'unread'),
      });
    let found = compare();
    while (!(found instanceof Refusal) && found.length > 0) {
      for (const id of found) states.set(id, await this.#source.stateOf(id, at, isThen));
      found = compare();
    }
    return found instanceof Refusal ? found : undefined;
  }

  unfinished(): string | undefined {
    if (this.#launched === undefined) return undefined;
    this.#launched = undefined;
    return 'a launch was not noted under its effect';
  }

  /** The others that the effect of an action leads to. */
  #rows({ action_id, effect }: ActionContent) {
    const found = [...(this.#found.get(effect) ?? [])].map(([id, status]) => ({ id, status }));
    return found.filter(({ id }) => id !== action_id);
  }

  #launchAt(effect: string, index: number): Promise<LedgerEvent | undefined> {
    return this.#source.eventAt(effectRecord(effect), index);
  }

  /** Equal actions that may have run in a time that a restore took out of the log. */
  async #lost(last: LedgerEvent, at: number): Promise<readonly string[]> {
    const ledger = this.#world.state(ledgerKind, LEDGER_RECORD.id);
    if (ledger === undefined || ledger.restored_at.length === 0) return [];
    const ids = new Set(effectKind.evolve(undefined, last).launched.map(({ action_id }) => action_id));
    const lost: string[] = [];
    for (const id of ids) {
      const state = await this.#source.stateOf(id, at, 'with');
      if (state !== undefined && mayHaveRunSince(state, ledger)) lost.push(id);
    }
    return lost;
  }
}
