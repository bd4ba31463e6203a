/**
 * What an audit knows of the bounds of policy: that no launch took more than there was room for, and that a launch that
 * policy allowed took everything that its decision says.
 * Source: spec ledger (verify), reliability I5.
 */
import type { Attempt } from '../actions/index.js';
import type { LedgerEvent } from '../ledger/index.js';
import { type BudgetState, budgetKind } from '../policy/index.js';

export class BoundInspection {
  readonly #states = new Map<string, BudgetState>();
  /** What was taken for a launch whose event follows in the same commit. */
  readonly #taken = new Map<string, number>();

  /** An event of a bound; answers what is wrong with it. */
  budget(event: LedgerEvent): string | undefined {
    const state = budgetKind.evolve(this.#states.get(event.record.id), event);
    this.#states.set(event.record.id, state);
    if (state.reserved < 0) return 'more was settled than was taken';
    if (event.type !== 'budget-reserved') return undefined;
    const { max, action_id, attempt } = event.data as { max: number; action_id: string; attempt: number };
    const launch = `${action_id}#${attempt}`;
    this.#taken.set(launch, (this.#taken.get(launch) ?? 0) + 1);
    return state.reserved + state.spent > max ? 'a launch took more than there was room for' : undefined;
  }

  /** INVARIANT: what policy bounds is taken with the launch (policy.budget.audited). */
  launch(actionId: string, { no, authorization, decision }: Attempt): string | undefined {
    const launch = `${actionId}#${no}`;
    const taken = this.#taken.get(launch) ?? 0;
    this.#taken.delete(launch);
    const demanded = authorization.kind === 'policy' ? (decision.reservations ?? []).length : 0;
    return taken === demanded ? undefined : 'a launch did not take what bounds it';
  }
}
