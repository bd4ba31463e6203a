/**
 * What was recomputed of an action, kept by the very object that it was recomputed of. A verified read answers another
 * object whenever anybody else may have changed the store since: a content is recomputed after every such change, and
 * once where there was none. Long arguments are read again each time, so that the memory stays small.
 */
import type { Operation } from '../connectors/index.js';
import { LIMITS } from '../core/index.js';
import type { LedgerState } from '../identity/index.js';
import type { Summary } from './render.js';
import type { ActionContent, ActionState } from './schema.js';

/** What a summary was made of, each of it immutable. */
interface Summarized {
  readonly ledger: LedgerState;
  readonly attempts: ActionState['attempts'];
  readonly operation: Operation;
  readonly summary: Summary;
}

interface Shown {
  readonly content: ActionContent;
  readonly ledger: LedgerState;
  readonly state: ActionState;
  readonly argsText: string;
}

export class ActionMemo {
  readonly #args = new WeakMap<ActionContent, string>();
  readonly #summaries = new WeakMap<ActionContent, Summarized>();

  argsOf(content: ActionContent): string | undefined {
    return this.#args.get(content);
  }

  keepArgs(content: ActionContent, argsText: string): void {
    if (argsText.length <= LIMITS.memoArgsCharsMax) this.#args.set(content, argsText);
  }

  /** The summary that was shown for the action as it stands, by the operation as it is. */
  summaryOf({ content, ledger, state }: Shown, operation: Operation): Summary | undefined {
    const known = this.#summaries.get(content);
    const same = known?.ledger === ledger && known.attempts === state.attempts && known.operation === operation;
    return same ? known.summary : undefined;
  }

  keepSummary({ content, ledger, state, argsText }: Shown, operation: Operation, summary: Summary): void {
    if (argsText.length > LIMITS.memoArgsCharsMax) return;
    this.#summaries.set(content, { ledger, attempts: state.attempts, operation, summary });
  }
}
