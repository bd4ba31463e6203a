/**
 * Standing approvals as an audit of the log sees them: opened and revoked by signatures, and never more taken of one
 * than it holds.
 * Source: spec authority (standing approvals), ledger (verify).
 */
import type { ActionContent } from '../actions/index.js';
import { type GrantState, grantIn, grantKind, noRoom } from '../approvals/index.js';
import type { LedgerEvent } from '../ledger/index.js';

/** It keeps the grants that stand: they are few. */
export class GrantInspection {
  readonly #grants = new Map<string, GrantState>();

  /** What is wrong with an event of a grant; undefined where nothing is. The signature is looked at beside it. */
  see(event: LedgerEvent): string | undefined {
    const { id } = event.record;
    const before = this.#grants.get(id);
    if (event.type !== 'grant-opened' && before === undefined) return 'the standing approval was never opened';
    const { amount } = event.data as { amount?: number };
    const refused = event.type === 'grant-reserved' ? noRoom(before, amount ?? 0, event.at) : undefined;
    this.#grants.set(id, grantKind.evolve(before, event));
    return refused === undefined ? undefined : 'more was taken of a standing approval than it holds';
  }

  /** Why an action can't have been launched on a grant, as far as its content tells. */
  launch(grantId: string, content: ActionContent, attempt: number): string | undefined {
    const state = this.#grants.get(grantId);
    if (state === undefined) return 'a launch stands on a standing approval that is not there';
    const taken = state.holds.some((one) => one.action_id === content.action_id && one.attempt === attempt);
    if (!taken) return 'a launch took nothing of its standing approval';
    const grant = grantIn(state);
    const fits =
      grant.project === content.project &&
      grant.agents.includes(content.proposed_by) &&
      grant.connector === content.connector &&
      grant.operations[content.operation] === content.operation_digest;
    return fits ? undefined : 'a launch stands on a standing approval for something else';
  }
}
