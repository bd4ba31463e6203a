/**
 * Notifications at the command line: a test over the channels, and what did not arrive. Each says in one word why a
 * delivery failed; nothing shows a secret or the address that is one.
 */
import { isoTime } from '../../core/index.js';
import { EXIT, paint, shown, writeTable } from '../output.js';
import type { Command } from '../run.js';
import { publicUrlOf } from './serve.js';

export interface NotifyTestOptions {
  readonly channel?: string;
  readonly publicUrl?: string;
}

export interface NotifyListOptions {
  readonly all?: boolean;
}

export function notifyTest(options: NotifyTestOptions): Command {
  return async ({ gate, output }) => {
    const { readEnvironment } = await import('../../app/index.js');
    const { channelHost, tryChannels } = await import('../../app/internal.js');
    const opened = await gate();
    const publicUrl = publicUrlOf(options);
    const host = channelHost(readEnvironment(), opened.services.clock);
    const tried = await tryChannels(opened, host, {
      ...(options.channel === undefined ? {} : { channel: options.channel }),
      ...(publicUrl === undefined ? {} : { publicUrl }),
    });
    output.value({ tried });
    for (const { channel, address, delivered, code } of tried) {
      const ending = delivered ? paint.good('arrived') : `${paint.bad('failed')} ${shown(code)}`;
      output.line(`${shown(channel)}${address === undefined ? '' : ` ${shown(address)}`}: ${ending}`);
    }
    return tried.every(({ delivered }) => delivered) ? EXIT.done : EXIT.failed;
  };
}

export function notifyList({ all = false }: NotifyListOptions): Command {
  return async ({ gate, output }) => {
    const { listDeliveries } = await import('../../app/internal.js');
    const deliveries = await listDeliveries(await gate(), all);
    output.value({ deliveries });
    if (deliveries.length === 0) output.line(all ? 'nothing was ever to be delivered' : 'everything arrived so far');
    else {
      const rows = deliveries.map(({ channel, address, notice, subject, state, tries, at, due, code }) => [
        ...[isoTime(at), shown(`${channel} ${address}`.trim()), shown(notice), shown(subject)],
        ...[state === 'dead' ? 'given up' : state, String(tries), shown(code), due === null ? '' : isoTime(due)],
      ]);
      await writeTable(output, ['since', 'to', 'notice', 'about', 'state', 'tries', 'why', 'again'], rows);
    }
    return undefined;
  };
}
