/**
 * What an error of the server or of the wire means: whether the transaction is known to have left nothing, whether the
 * same work may be tried again, and what leaves the ledger for it.
 */
import { Fault, isOurs, Refusal } from '../../core/index.js';

/** Deadlock, lock and statement time-outs, serialization: nothing was written, and the same may succeed. */
const AGAIN = new Set(['40P01', '40001', '55P03', '57014']);
/** The server ends the connection with these, or knows no statement that the connection was told of. */
const ENDED = new Set(['26000', '57P01', '57P02', '57P03', '57P05', '25P03', '25P04']);

function stateOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^[0-9A-Z]{5}$/.test(code) ? code : '';
}

/** Two transactions took one claim, and the other was first. */
function isTaken(error: unknown): boolean {
  const constraint = error instanceof Error && 'constraint' in error ? error.constraint : undefined;
  return stateOf(error) === '23505' && constraint === 'claims_pkey';
}

export function mayTryAgain(error: unknown): boolean {
  return isTaken(error) || AGAIN.has(stateOf(error));
}

/** True where the connection is gone, and with it the answer. */
export function isLost(error: unknown): boolean {
  if (isOurs(error) || error instanceof TypeError || error instanceof RangeError) return false;
  const state = stateOf(error);
  return state === '' || ENDED.has(state) || state.startsWith('08');
}

/** What leaves the ledger when the server refuses or fails: a Fault `store`, or a Refusal `busy`. */
export function serverError(what: string, error: unknown): Fault | Refusal {
  if (isOurs(error)) return error;
  if (AGAIN.has(stateOf(error))) return new Refusal('busy', 'other gates kept the records locked');
  return new Fault('store', what, error);
}
