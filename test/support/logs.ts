/** A log as somebody who can write the store and compute every hash would leave it. */
import { Inspection } from '../../src/app/inspection.js';
import type { JsonObject } from '../../src/core/index.js';
import { parseTrusted } from '../../src/core/index.js';
import type { Ledger, LedgerEvent } from '../../src/ledger/index.js';

/** An event that a test may change. */
export type Forged = Omit<LedgerEvent, 'data' | 'type' | 'record'> & {
  type: string;
  record: LedgerEvent['record'];
  // biome-ignore lint/suspicious/noExplicitAny: a forger writes anything
  data: any;
};

/** Every event of a ledger, in order, as copies. */
export async function logOf(ledger: Ledger): Promise<Forged[]> {
  const events: Forged[] = [];
  for (let after = 0; ; ) {
    const entries = await ledger.log(after);
    const last = entries.at(-1);
    if (last === undefined) return events;
    for (const { event } of entries) events.push(structuredClone(event) as Forged);
    after = last.sequence;
  }
}

/** What an audit says of such a log. */
export async function defectsIn(ledger: Ledger, events: readonly Forged[]): Promise<readonly string[]> {
  const inspection = new Inspection({
    events: async ({ kind, id }) => events.filter(({ record }) => record.kind === kind && record.id === id),
    eventAt: async ({ kind, id }, revision) =>
      events.find(({ record, ...event }) => record.kind === kind && record.id === id && event.revision === revision),
    async args(actionId, ref) {
      const bytes = await ledger.payload({ kind: 'action', id: actionId }, 0, ref);
      return bytes === undefined ? undefined : (parseTrusted(new TextDecoder().decode(bytes)) as JsonObject);
    },
  });
  for (const event of events) await inspection.see(event);
  const last = events.at(-1);
  if (last !== undefined) inspection.finish(last);
  return inspection.defects.map(({ what }) => what);
}
