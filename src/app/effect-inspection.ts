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
  effectRecord,
  sameEffect,
} from '../actions/index.js';
import { Refusal } from '../core/index.js';
import type { LedgerEvent, RecordRef } from '../ledger/index.js';
import { textOf } from './act-inspection.js';

/** Where states of other actions come from: open ones at hand, closed ones by their events. */
export interface EffectSource {
  events(record: RecordRef): Promise<readonly LedgerEvent[]>;
  stateOf(actionId: string): Promise<ActionState | undefined>;
}

export class EffectInspection {
  readonly #source: EffectSource;
  /** Open actions by their effect. */
  readonly #open = new Map<string, Map<string, string>>();
  #expected: string | undefined;

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

  /** What is wrong with a launch among its equals; the event under its effect has to follow. */
  async launch(event: LedgerEvent, { content, proposed_at }: ActionState): Promise<string | undefined> {
    if (content.class === 'read') return undefined;
    const before = await this.#before(content, event.at);
    const [expected] = effectLaunched(before, content, event.at);
    this.#expected = expected === undefined ? undefined : textOf(expected);
    const known = new Map<string, ActionState | undefined>();
    for (const { action_id } of before?.launched.filter(({ at }) => at >= proposed_at) ?? []) {
      known.set(action_id, await this.#source.stateOf(action_id));
    }
    const rows = [...(this.#open.get(content.effect) ?? [])].map(([id, status]) => ({ id, status }));
    const stateOf = (id: string) => known.get(id);
    const found = sameEffect(content, proposed_at, { rows, effect: before, stateOf });
    return found instanceof Refusal ? `a launch came beside an equal one: ${found.message}` : undefined;
  }

  see(event: LedgerEvent): string | undefined {
    const { [0]: expected } = [this.#expected];
    this.#expected = undefined;
    return expected === textOf(event) ? undefined : 'a launch was noted under its effect in another way';
  }

  unfinished(): string | undefined {
    if (this.#expected === undefined) return undefined;
    this.#expected = undefined;
    return 'a launch was not noted under its effect';
  }

  /** What stood under an effect before the launch at this time. */
  async #before({ action_id, effect }: ActionContent, at: number): Promise<EffectState | undefined> {
    let state: EffectState | undefined;
    for (const event of await this.#source.events(effectRecord(effect))) {
      const next = effectKind.evolve(state, event);
      const last = next.launched.at(-1);
      if (last?.action_id === action_id && last.at === at) return state;
      state = next;
    }
    return state;
  }
}
