/**
 * Whether a notice is still news when it is delivered: what was decided meanwhile concerns nobody any more.
 */
import { actionKind } from '../actions/index.js';
import { requestKind } from '../approvals/index.js';
import { invitationKind } from '../identity/index.js';
import type { Ledger, OutboxEntry } from '../ledger/index.js';
import { readEntry } from '../notifications/index.js';
import { waitsFor } from './decisions.js';
import { confirmationRows } from './package-decisions.js';

export async function isStillNews(ledger: Ledger, now: number, entry: OutboxEntry): Promise<boolean> {
  const notice = readEntry(entry)?.notice;
  // What is not understood is told as such where it is sent.
  if (notice === undefined || notice.kind === 'expired') return true;
  const { what, id } = notice;
  switch (what) {
    case 'approval':
    case 'outcome_unknown':
    case 'interrupted_launch':
    case 'late_result': {
      const state = (await ledger.read(actionKind, id))?.state;
      return state !== undefined && waitsFor(state, now) === what;
    }
    case 'request':
      return (await ledger.read(requestKind, id))?.state.state === 'open';
    case 'enrolment':
      return (await ledger.read(invitationKind, id))?.state.state === 'made';
    case 'confirmation':
      return (await confirmationRows(ledger, now, 1_000)).some((row) => row.id === id);
    default:
      return true;
  }
}
