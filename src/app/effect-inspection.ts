/**
 * Equal effects as an audit of the log sees them: each launch is noted under its effect as the gate notes it, and none
 * came beside an equal one that may have happened and that no signer was shown.
 * Source: spec ledger (verify), actions (launch).
 */
import {
  type ActionContent,
  type ActionState,
  type EffectState,
  effectKind,
  effectLaunched,
  sameEffect,
} from '../actions/index.js';
import { Refusal } from '../core/index.js';
import type { LedgerEvent, RecordRef } from '../ledger/index.js';
import { textOf } from './act-inspection.js';

/** Where states of other actions come from (open ones at hand, closed ones by their events), and single events. */
export interface EffectSource {
  eventAt(record: RecordRef, revision: number): Promise<LedgerEvent | undefined>;
  stateOf(actionId: string): Promise<ActionState | undefined>;
}

interface Launch {
  readonly content: ActionContent;
  readonly at: number;
}

export class EffectInspection {
  readonly #source: EffectSource;
  /** Open actions by their effect. */
  readonly #open = new Map<string, Map<string, string>>();
  /** The launch whose event under its effect has to follow. */
  #launched: Launch | undefined;

  constructor(source: EffectSource) {
    this.#source = source;
  }

  /** An action stands in a state; `closed` ones are found under their effect no more. */
  note({ action_id, effect }: ActionContent, state: string, isClosed: boolean): void {
    const known = this.#open.get(effect) ?? new Map<string, string>();
    if (isClosed) known.delete(action_id);
    else known.set(action_id, state);
    if (known.size === 0) this.#open.delete(effect);
    else this.#open.set(effect, known);
  }

  /** A launch: the event under its effect has to follow, and is judged with it. */
  launch({ at }: LedgerEvent, { content }: ActionState): void {
    this.#launched = content.class === 'read' ? undefined : { content, at };
  }

  /** What is wrong with a launch among its equals, by the event under its effect. */
  async see(event: LedgerEvent): Promise<string | undefined> {
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
    return this.#equals(content, known);
  }

  async #equals(content: ActionContent, effect: EffectState | undefined): Promise<string | undefined> {
    const rows = [...(this.#open.get(content.effect) ?? [])].map(([id, status]) => ({ id, status }));
    const states = new Map<string, ActionState | undefined>();
    const compare = () =>
      sameEffect(content, {
        rows,
        effect,
        stateOf: (id) => (states.has(id) ? states.get(id) : 'unread'),
      });
    let found = compare();
    while (!(found instanceof Refusal) && found.length > 0) {
      for (const id of found) states.set(id, await this.#source.stateOf(id));
      found = compare();
    }
    return found instanceof Refusal ? `a launch came beside an equal one: ${found.message}` : undefined;
  }

  unfinished(): string | undefined {
    if (this.#launched === undefined) return undefined;
    this.#launched = undefined;
    return 'a launch was not noted under its effect';
  }
}
