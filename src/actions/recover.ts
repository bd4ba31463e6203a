/**
 * Ends what nobody will end: launches that nobody answered for, proposals, approvals and requests whose time is over.
 * It calls nothing.
 * Source: spec actions (transitions), seeds actions-and-the-gate (recover).
 */
import { expireRequest, requestKind } from '../approvals/index.js';
import { Refusal } from '../core/index.js';
import type { ActionCommand } from './machine.js';
import type { Caller, Services } from './services.js';
import { commitCommand } from './settle.js';

export interface Recovered {
  /** Launches that nobody answered for: their outcome is unknown now. */
  readonly unknown: readonly string[];
  /** Proposals and approvals whose time had passed. */
  readonly expired: readonly string[];
}

/**
 * Ends what nobody will end: overdue launches become unknown, overdue proposals and approvals expire. Calls nothing.
 */
export async function recover(services: Services, caller: Caller): Promise<Recovered> {
  const barrier = services.ledger.leaseBarrier?.();
  if (barrier !== undefined) throw barrier;
  await expireRequests(services);
  const unknown: string[] = [];
  const expired: string[] = [];
  for (let after: string | undefined; ; ) {
    const query = { kind: 'action', waiting: true, statuses: ['proposed', 'approved', 'launched'] } as const;
    const page = await services.ledger.list({ ...query, ...(after === undefined ? {} : { after }) });
    const now = services.clock.now();
    const due = page.rows.filter((row) => (row.due ?? 0) <= now);
    await Promise.all(
      due.map(async (row) => {
        const launched = row.status === 'launched';
        const command: ActionCommand = launched ? { do: 'recover', by: caller.principal } : { do: 'expire' };
        const refused = await commitCommand(services, 'engine:gate', row.id, command).catch((error: unknown) => {
          if (error instanceof Refusal) return error;
          throw error;
        });
        if (!(refused instanceof Refusal)) (launched ? unknown : expired).push(row.id);
      }),
    );
    if (page.next === undefined || due.length < page.rows.length) return { unknown, expired };
    after = page.next;
  }
}

/** Ends the requests that nobody signed in time, so that they wait for nobody. */
async function expireRequests(services: Services): Promise<void> {
  const { ledger, clock } = services;
  for (let after: string | undefined; ; ) {
    const page = await ledger.list({ kind: 'request', waiting: true, ...(after === undefined ? {} : { after }) });
    const due = page.rows.filter((row) => (row.due ?? 0) <= clock.now());
    await Promise.all(due.map(({ id }) => expireOne(services, id)));
    if (page.next === undefined || due.length < page.rows.length) return;
    after = page.next;
  }
}

async function expireOne({ ledger }: Services, id: string): Promise<void> {
  await ledger.commit({
    actor: 'engine:gate',
    writes: [{ kind: 'request', id }],
    decide: (view) => {
      const event = expireRequest(view.get(requestKind, id)?.state, view.now);
      return { events: event === undefined ? [] : [event], outcome: null };
    },
  });
}
