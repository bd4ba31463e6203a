/**
 * Whether a notice is still news when it is delivered: what was decided meanwhile concerns nobody any more, and
 * whoever has signed is asked no more.
 */
import { actionKind } from '../actions/index.js';
import { requestKind } from '../approvals/index.js';
import { invitationKind } from '../identity/index.js';
import type { Ledger, OutboxEntry } from '../ledger/index.js';
import { type Groups, type Notifications, reachedAt, readEntry } from '../notifications/index.js';
import { waitsFor } from './decisions.js';
import { Moot } from './moot.js';
import { isUnasked } from './package-decisions.js';

export interface NewsWorld {
  readonly ledger: Ledger;
  readonly now: number;
  readonly config: Notifications;
  readonly groups: Groups;
}

export async function isStillNews(world: NewsWorld, entry: OutboxEntry): Promise<boolean> {
  const { ledger, now, config, groups } = world;
  const { notice, address = '' } = readEntry(entry) ?? {};
  // What is not understood is told as such where it is sent.
  if (notice === undefined || notice.kind === 'expired') return true;
  const { what, id } = notice;
  switch (what) {
    case 'approval':
    case 'outcome_unknown':
    case 'interrupted_launch':
    case 'late_result': {
      const state = (await ledger.read(actionKind, id))?.state;
      if (state === undefined || waitsFor(state, now) !== what) return false;
      const signed = new Set<string>(state.approvals.map(({ approver }) => approver));
      const reached = reachedAt(notice.people, { channel: entry.channel, address }, config, groups);
      return what !== 'approval' || reached.some((person) => !signed.has(person));
    }
    case 'request': {
      const state = (await ledger.read(requestKind, id))?.state;
      return state?.state === 'open' && !(await new Moot(ledger, now).is(state));
    }
    case 'enrolment':
      return (await ledger.read(invitationKind, id))?.state.state === 'made';
    case 'confirmation':
      return isUnasked(ledger, id, now);
    default:
      return true;
  }
}
