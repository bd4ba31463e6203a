/**
 * Reading and checking what was written: a project's thread, and the whole ledger.
 */
import { Fault, isoTime } from '../../core/index.js';
import { paint, shown } from '../output.js';
import type { Command } from '../run.js';

export function threadShow(thread: string): Command {
  return async ({ gate, output }) => {
    const { readThread } = await import('../../app/index.js');
    const opened = await gate();
    for await (const message of readThread(opened.ledger, thread)) {
      output.value(message);
      const mark = message.intent === 'escalate' ? paint.warn('!') : ' ';
      output.line(`${mark} ${shown(message.payload)}`);
    }
    return undefined;
  };
}

/** Checks every entry, its link to the one before, and that a signature of the gate covers it. */
export function threadVerify(thread: string): Command {
  return async ({ gate, output }) => {
    const { readThread, verifyThread } = await import('../../app/index.js');
    const opened = await gate();
    const report = await verifyThread(readThread(opened.ledger, thread), {
      signatures: 'cover',
      keys: [opened.threadPublicKey()],
    });
    output.value(report);
    if (!report.ok) {
      const { index = 0, what = 'invalid' } = report.defect ?? {};
      throw new Fault('corrupt', `the thread does not verify at entry ${index}: ${what}`);
    }
    output.line(`${paint.good('good')}: ${report.count} entries, signed to the last`);
    return undefined;
  };
}

export function verify(): Command {
  return async ({ gate, output }) => {
    const { auditLedger } = await import('../../app/index.js');
    const opened = await gate();
    const seen = opened.seen();
    // What was put in the place of the store is held against nothing before an operator has accepted it.
    const isPlaced = seen?.placed === true;
    if (isPlaced) output.note('a backup was put back: `countersign restore` asks an operator to accept it');
    const expected = seen === undefined || isPlaced ? undefined : { sequence: seen.sequence, logHash: seen.log_hash };
    const report = await auditLedger(opened.ledger, expected);
    output.value(report);
    for (const { where, what } of report.defects) output.line(`${paint.bad('defect')} ${shown(where)}: ${shown(what)}`);
    if (report.defects.length > 0)
      throw new Fault('corrupt', `the ledger does not verify: ${report.defects.length} defects`);
    const { events, records, payloads, receipts, launches, packages, head } = report;
    output.line(`${paint.good('good')}: ${events} events, ${records} records, ${payloads} payloads`);
    output.line(`${receipts} receipts and ${launches} launches checked, ${packages} packages replayed`);
    for (const { person, at } of report.recoveries) {
      output.line(`${paint.warn('recovered')} at the terminal for ${shown(person)} on ${isoTime(at)}`);
    }
    output.line(`log ends at ${head.sequence} ${head.logHash}`);
    return undefined;
  };
}
