/**
 * What happened to whatever has an id: a search in the log for whoever knows the id and not the kind of its record.
 * Source: spec doors (console: audit).
 */
import type { Ledger, LedgerEvent } from '../ledger/index.js';
import { ALL_KINDS } from './kinds.js';

/** The events of the records of an id from a revision on, in the order of their times: a page of each kind. */
export async function historyOf(ledger: Ledger, id: string, from: number): Promise<readonly LedgerEvent[]> {
  const pages = await Promise.all([...ALL_KINDS.keys()].map((kind) => ledger.events({ kind, id }, from)));
  return pages.flat().sort((a, b) => a.at - b.at || a.revision - b.revision);
}
