/**
 * The whole ledger, checked again: the store (hashes, links, states, claims, the log's order and what this gate
 * remembers of it), and then what the events mean: that every receipt was good by the registry as it stood at its
 * place in the log, that every launch had its authority, and that every package is what its envelopes lead to. Names
 * the first bad record; repairs nothing.
 * Source: spec ledger (verify).
 */
import { type JsonObject, parseTrusted, utf8Decode } from '../core/index.js';
import type { Ledger, LedgerEvent, LogHead, VerifyReport } from '../ledger/index.js';
import type { AuditSource } from './action-inspection.js';
import { Inspection } from './inspection.js';
import { inspectPackages } from './package-inspection.js';
import type { Recovery } from './registry-inspection.js';

export interface AuditReport extends VerifyReport {
  readonly receipts: number;
  readonly launches: number;
  /** Packages that were replayed from their first event. */
  readonly packages: number;
  /** Times at which the ceremony of the first approver was repeated. */
  readonly recoveries: readonly Recovery[];
}

const DEFECTS_MAX = 100;

/** `expected` is the head that the gate remembers. */
export async function auditLedger(ledger: Ledger, expected?: LogHead): Promise<AuditReport> {
  const report = await ledger.verify(expected);
  const inspection = new Inspection(sourceOf(ledger));
  let replayed: Awaited<ReturnType<typeof inspectPackages>> = { packages: 0, defects: [] };
  // The meaning of events is looked at only where the events themselves are whole.
  if (report.defects.length === 0) {
    let last: LedgerEvent | undefined;
    for (let after = 0; ; ) {
      const entries = await ledger.log(after);
      for (const { event } of entries) await inspection.see(event);
      const next = entries.at(-1);
      if (next === undefined) break;
      last = next.event;
      after = next.sequence;
    }
    if (last !== undefined) inspection.finish(last);
    replayed = await inspectPackages(ledger);
  }
  const { receipts, launches, recoveries, defects } = inspection;
  // INVARIANT: nothing is erased without an event that says who did it, and no event does yet (audit.gone).
  const gone = report.gone.map(({ where, what }) => ({ where, what: `${what}, and nothing says that it was erased` }));
  const all = [...report.defects, ...gone, ...defects, ...replayed.defects].slice(0, DEFECTS_MAX);
  return { ...report, receipts, launches, recoveries, packages: replayed.packages, defects: all };
}

function sourceOf(ledger: Ledger): AuditSource {
  return {
    async events(record) {
      const events: LedgerEvent[] = [];
      for (;;) {
        const page = await ledger.events(record, events.length);
        if (page.length === 0) return events;
        events.push(...page);
      }
    },
    eventAt: async (record, revision) => (await ledger.events(record, revision))[0],
    async args(actionId, ref) {
      const bytes = await ledger.payload({ kind: 'action', id: actionId }, 0, ref);
      const text = bytes === undefined ? undefined : utf8Decode(bytes);
      return text === undefined ? undefined : (parseTrusted(text) as JsonObject);
    },
  };
}
