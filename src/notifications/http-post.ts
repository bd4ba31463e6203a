/**
 * One POST of a message, by the rules of the connector `http`: an open network by https alone, every address of the
 * name looked at, no redirect, a bounded answer of which the status alone counts.
 * Source: reliability T25.
 */
import { ask } from '../connectors/internal.js';
import type { ChannelHost } from './channel.js';
import { NOTIFY_LIMITS } from './limits.js';
import type { Delivered } from './notice.js';
import { isSource, urlDefect } from './schema.js';

export interface Post {
  /** In plain or where it stands. */
  readonly url: string;
  readonly privateNetwork: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** The address behind a name of it. It is looked at wherever it stood. */
async function addressOf({ url, privateNetwork }: Post, host: ChannelHost): Promise<URL | Delivered> {
  const text = isSource(url) ? await host.secret(url) : url;
  if (text === undefined) return { ok: false, code: 'no_address' };
  return urlDefect(text, privateNetwork) === undefined ? new URL(text) : { ok: false, code: 'bad_address' };
}

export async function post(given: Post, host: ChannelHost): Promise<Delivered> {
  const url = await addressOf(given, host);
  if (!(url instanceof URL)) return url;
  const { headers, body, privateNetwork, signal } = given;
  const answered = await ask({
    ...{ method: 'POST', url, body, privateNetwork, signal, timeoutMs: NOTIFY_LIMITS.sendMsMax },
    headers: { 'user-agent': 'countersign', 'accept-encoding': 'identity', ...headers },
    mayBegin: () => !signal.aborted,
    ...(host.resolve === undefined ? {} : { resolve: host.resolve }),
    ...(host.authorities === undefined ? {} : { authorities: host.authorities }),
  });
  switch (answered.is) {
    case 'answered':
      return ofStatus(answered.status);
    case 'never_sent':
      return { ok: false, code: answered.code, ...(answered.code === 'blocked_address' ? { isFinal: true } : {}) };
    case 'no_answer':
      return { ok: false, code: 'no_answer' };
  }
}

/** A redirect is no delivery, and what is gone stays gone. */
function ofStatus(status: number): Delivered {
  if (status >= 200 && status < 300) return { ok: true };
  return { ok: false, code: `status_${status}`, ...(status === 410 ? { isFinal: true } : {}) };
}
