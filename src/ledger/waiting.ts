/**
 * Work that waits for its turn at a store inside this process, and how it is told that there will be none.
 */
import { Fault, type Json, type Refusal } from '../core/index.js';
import type { Committed, Work } from './ledger.js';

export interface Waiting {
  readonly work: Work<Json>;
  /** Set after a projection failed over a batch with this unit in it: the others must not suffer for one. */
  readonly alone: boolean;
  readonly since: number;
  resolve(committed: Committed<Json>): void;
  reject(error: unknown): void;
}

export function closedFault(): Fault {
  return new Fault('store', 'the ledger is closed');
}

export function rejectAll(units: readonly Waiting[], error: Refusal | Fault): void {
  for (const unit of units) unit.reject(error);
}
