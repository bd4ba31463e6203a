/** The epoch that the ledger is in: what was made in an earlier one is void. Source: spec authority. */
import { LEDGER_RECORD, ledgerKind } from '../identity/index.js';
import type { Ledger } from '../ledger/index.js';

export async function epochOf(ledger: Pick<Ledger, 'read'>): Promise<number> {
  return (await ledger.read(ledgerKind, LEDGER_RECORD.id))?.state.epoch ?? 0;
}

/** How something stands that ends with the epoch in which it was made. */
export function standingIn<State extends string>(
  epoch: number,
  made: { readonly state: State; readonly epoch: number },
): State | 'void' {
  return made.state === 'active' && made.epoch !== epoch ? 'void' : made.state;
}
