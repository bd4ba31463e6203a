/** What waits for people, a page at a time, with the command to type next. */
import { type Output, paint, shown, timeText } from '../output.js';
import type { Command, OpenGate } from '../run.js';
import { rowCount } from './propose.js';

export interface InboxOptions {
  readonly for?: string;
  readonly limit: string;
  readonly after?: string;
  readonly watch?: boolean;
}

/** Records of which something can wait for a person. */
const WAITING_KINDS: ReadonlySet<string> = new Set(['action', 'request', 'package']);

/** A page of what waits for a person, most urgent first; with `--watch` again at every change. */
export function inbox(options: InboxOptions): Command {
  return async ({ gate, output }) => {
    const opened = await gate();
    await writeInbox(opened, output, options);
    if (options.watch !== true) return undefined;
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort());
    const { sequence } = await opened.ledger.head();
    for await (const { event } of opened.ledger.watch(sequence, stop.signal)) {
      if (WAITING_KINDS.has(event.record.kind)) await writeInbox(opened, output, options);
    }
    return undefined;
  };
}

async function writeInbox(opened: OpenGate, output: Output, options: InboxOptions): Promise<void> {
  const { for: person, limit, after } = options;
  const { rows, next } = await opened.inbox({
    limit: rowCount(limit),
    ...(person === undefined ? {} : { person }),
    ...(after === undefined ? {} : { after }),
  });
  const frozen = await opened.frozen();
  output.value({ decisions: rows, ...(next === undefined ? {} : { next }), frozen });
  for (const { scope, name, by } of frozen) {
    output.line(`${paint.bad('frozen')} ${scope}${name === null ? '' : ` ${shown(name)}`}, by ${shown(by)}`);
  }
  if (rows.length === 0) {
    output.note(next === undefined ? 'nothing waits for a person' : 'nothing among the first that wait: look on');
  }
  const words: Readonly<Record<string, string>> = {
    approval: 'approval',
    outcome_unknown: 'outcome unknown',
    interrupted_launch: 'no answer came',
    late_result: 'late result',
    no_worker: 'approved, for a worker',
    request: 'signature',
    confirmation: 'summary to confirm',
  };
  for (const row of rows) {
    output.line(`${paint.bold(words[row.what] ?? row.what)} ${row.id} ${shown(row.operation)} on ${shown(row.target)}`);
    const counts = row.what === 'approval' || (row.what === 'request' && row.quorum > 1);
    const missing = counts ? `${row.approvals} of ${row.quorum} approvals, ` : '';
    const waits = row.awaited === true ? ', its caller waits' : '';
    output.line(`  ${missing}${timeText(row.due, Date.now())}${waits}`);
    if (row.lacks !== undefined) output.line(`  ${row.lacks}`);
    output.line(`  next: ${row.next}`);
  }
  if (next !== undefined) output.note(`more: --after ${next}`);
}
