/**
 * After a restore nobody knows what the open actions did since the backup: every one of them gets an unknown outcome.
 * The epoch was raised in one commit before; until an action is marked here, its launch is refused because of its
 * epoch.
 */
import { actionKind, decideAction, type Services } from '../actions/index.js';
import { Refusal } from '../core/index.js';
import { epochOf } from './epoch.js';

/** Marks what is left to mark, and answers how many. A crash in between loses nothing: it goes on at the next call. */
export async function interruptOpen(services: Pick<Services, 'ledger'>): Promise<number> {
  const { ledger } = services;
  const epoch = await epochOf(ledger);
  if (epoch === 0) return 0;
  let marked = 0;
  for (let after: string | undefined; ; ) {
    const statuses = ['proposed', 'approved', 'launched', 'unknown'];
    const page = await ledger.list({ kind: 'action', waiting: true, statuses, ...(after ? { after } : {}) });
    const results = await Promise.all(page.rows.map(({ id }) => interrupt(services, id, epoch)));
    marked += results.filter(Boolean).length;
    if (page.next === undefined) return marked;
    after = page.next;
  }
}

async function interrupt({ ledger }: Pick<Services, 'ledger'>, id: string, epoch: number): Promise<boolean> {
  const record = { kind: 'action', id } as const;
  const known = (await ledger.read(actionKind, id))?.state;
  if (known === undefined || known.content.epoch >= epoch || known.interrupted) return false;
  const { outcome } = await ledger.commit({
    actor: 'engine:gate',
    writes: [record],
    decide: (view) => {
      const state = view.get(actionKind, id)?.state;
      if (state === undefined || state.content.epoch >= epoch) return { events: [], outcome: false };
      const decided = decideAction(state, { do: 'interrupt' }, view.now);
      if (decided instanceof Refusal) return { events: [], outcome: false };
      return { events: decided.map((event) => ({ record, ...event })), outcome: true };
    },
  });
  return outcome;
}
