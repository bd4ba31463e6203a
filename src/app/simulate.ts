/**
 * A draft of the configuration tried on what was proposed before: which decisions would have been others. Bounds are
 * counted as if everything that the draft allows had run. Nothing is written.
 * Source: spec authority (policy simulate, config diff).
 */
import { type ActionState, actionKind, findOperation, loadAction, questionOf } from '../actions/index.js';
import { isOurs, LIMITS } from '../core/index.js';
import {
  type BudgetState,
  budgetKind,
  type CedarEngine,
  decidePolicy,
  type Reservation,
  type TrustConfig,
  takeRoom,
} from '../policy/index.js';
import type { Gate } from './gate.js';

export type Difference = {
  readonly action_id: string;
  readonly proposed_at: number;
  readonly what: string;
  readonly before: string;
  readonly after: string;
  readonly determined_by: readonly string[];
  readonly reason: string;
};

export interface Simulated {
  /** Actions that were looked at; `isCut` where there were more. */
  readonly actions: number;
  readonly isCut: boolean;
  /** Actions that could not be judged again: arguments that were erased, a connector that is gone. */
  readonly skipped: number;
  readonly differences: readonly Difference[];
}

const DAY_MS = 24 * 3_600_000;

/** Tries `config` on the actions of the last days, oldest first. */
export async function simulate(gate: Gate, engine: CedarEngine, config: TrustConfig, days: number): Promise<Simulated> {
  const since = gate.services.clock.now() - days * DAY_MS;
  const { states, isCut } = await actionsSince(gate, since);
  const bounds = new Bounds();
  const differences: Difference[] = [];
  let skipped = 0;
  for (const state of states.reverse()) {
    const after = await decideAgain(gate, engine, config, state, bounds);
    if (after === undefined) {
      skipped += 1;
      continue;
    }
    const { content, decision, proposed_at } = state;
    if (after.outcome === decision.outcome) continue;
    differences.push({
      action_id: content.action_id,
      proposed_at,
      what: `${content.connector} ${content.operation} on ${content.target}`,
      before: decision.outcome,
      after: after.outcome,
      determined_by: after.determined_by,
      reason: after.reason,
    });
  }
  return { actions: states.length, isCut, skipped, differences };
}

/** Newest first. */
async function actionsSince(gate: Gate, since: number): Promise<{ states: ActionState[]; isCut: boolean }> {
  const states: ActionState[] = [];
  for (let after: string | undefined; ; ) {
    const page = await gate.ledger.list({ kind: 'action', ...(after === undefined ? {} : { after }) });
    for (const { id } of page.rows) {
      const state = (await gate.ledger.read(actionKind, id))?.state;
      if (state === undefined || state.proposed_at < since) return { states, isCut: false };
      if (states.length >= LIMITS.simulatedActionsMax) return { states, isCut: true };
      states.push(state);
    }
    if (page.next === undefined) return { states, isCut: false };
    after = page.next;
  }
}

async function decideAgain(gate: Gate, engine: CedarEngine, config: TrustConfig, state: ActionState, bounds: Bounds) {
  const { services } = gate;
  const { action_id, connector, operation, flags } = state.content;
  try {
    const { args } = await loadAction(services, action_id);
    const known = await findOperation(services, connector, operation).catch(() => undefined);
    const question = questionOf(state.content, flags.includes('facts_unknown'), args);
    const decision = await decidePolicy(engine, question, config, action_id, services.timer, known?.args);
    const over = bounds.take(decision.reservations, state.proposed_at);
    if (over === undefined) return decision;
    const outcome = over.over === 'deny' ? 'DENY' : 'REQUIRE_APPROVAL';
    return { ...decision, outcome, determined_by: [`rule: ${over.rule}`], reason: 'its bound would be used up' };
  } catch (error) {
    if (isOurs(error)) return undefined;
    throw error;
  }
}

/** Bounds as they would have filled up, by the machine that fills the real ones. */
class Bounds {
  readonly #states = new Map<string, BudgetState>();

  take(reservations: readonly Reservation[] | undefined, now: number): Reservation | undefined {
    const get = (_kind: unknown, id: string) => {
      const state = this.#states.get(id);
      return state === undefined ? undefined : { id, revision: 0, head: '', headAt: now, state };
    };
    const view = { now, get: get as never, behindMs: 0, lookup: () => [] };
    const room = takeRoom(view, reservations, now, { actionId: '', attempt: 1 });
    if (room.is !== 'taken') return room.is === 'over' ? room.bound : undefined;
    for (const { record, type, data } of room.events) {
      const event = { record, type, data, at: now, actor: '', payloads: [], prev: null, hash: '', revision: 0 };
      this.#states.set(record.id, budgetKind.evolve(this.#states.get(record.id), event));
    }
    return undefined;
  }
}
