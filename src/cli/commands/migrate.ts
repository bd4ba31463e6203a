/**
 * `migrate`: the schema of a store brought forward, or the whole ledger moved to another store.
 */
import { shown } from '../output.js';
import type { Command } from '../run.js';

export function migrate(options: { readonly to?: string }): Command {
  return async ({ output, options: common }) => {
    const { homeAt, readEnvironment } = await import('../../app/index.js');
    const { migrateSchema, migrateTo } = await import('../../app/internal.js');
    const home = homeAt(common.home, readEnvironment());
    if (options.to === undefined) {
      const { ledgerId } = await migrateSchema(home);
      output.value({ ledger_id: ledgerId });
      output.line(`ledger ${ledgerId}: its schema is the one of this version`);
      return undefined;
    }
    const { ledgerId, moved } = await migrateTo(home, options.to, { now: Date.now() });
    const { events = 0, head, kept } = moved ?? {};
    output.value({
      ledger_id: ledgerId,
      events,
      sequence: head?.sequence,
      log_hash: head?.logHash,
      kept: kept ?? null,
    });
    output.line(`ledger ${ledgerId}: ${events} events moved and verified`);
    if (kept !== undefined) output.note(`the file before is kept, and no gate opens it: ${shown(kept)}`);
    else output.note('the database before is kept, and no gate opens it');
    output.note('next: countersign doctor');
    return undefined;
  };
}
