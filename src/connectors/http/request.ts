/**
 * One request, and what is certain of it: never redirected, never repeated, bounded in size and time.
 * A failure before a connection stood is certain, and so is an answer that the operator's table calls one. Everything
 * else is unknown.
 * Source: spec actions (http), reliability T25.
 */
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isOpenAddress, literalOf, openLookup } from './address.js';

/** Bytes of an answer that are read; a longer one is cut, and says so. */
const ANSWER_BYTES_MAX = 256 * 1024;

export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly privateNetwork: boolean;
  readonly signal: AbortSignal;
  readonly lookup?: LookupFunction;
}

export type Answered =
  | {
      readonly is: 'answered';
      readonly status: number;
      readonly type: string;
      readonly text: string;
      readonly cut: boolean;
    }
  /** Nothing was sent: no connection stood. */
  | { readonly is: 'never_sent'; readonly code: 'blocked_address' | 'not_connected' | 'too_late' }
  /** Something may have been sent. */
  | { readonly is: 'no_answer' };

export function ask(asked: Asked): Promise<Answered> {
  const { method, url, headers, body, privateNetwork, signal } = asked;
  if (signal.aborted) return Promise.resolve({ is: 'never_sent', code: 'too_late' });
  const literal = literalOf(url.hostname);
  if (!privateNetwork && literal !== undefined && !isOpenAddress(literal)) {
    return Promise.resolve({ is: 'never_sent', code: 'blocked_address' });
  }
  return new Promise((resolve) => {
    let isConnected = false;
    const lookup = privateNetwork ? {} : { lookup: asked.lookup ?? openLookup() };
    const start = url.protocol === 'https:' ? secureRequest : plainRequest;
    const sent = start(url, {
      method,
      headers: {
        ...headers,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      },
      signal,
      // A connection of its own: one that was kept could have been closed by the other side in this moment.
      agent: false,
      ...lookup,
    });
    sent.on('socket', (socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        isConnected = true;
      });
    });
    sent.on('error', (error) => {
      if (isConnected) return resolve({ is: 'no_answer' });
      const code = error.name === 'BlockedAddress' ? 'blocked_address' : 'not_connected';
      return resolve({ is: 'never_sent', code: signal.aborted ? 'too_late' : code });
    });
    sent.on('response', (response) => {
      const parts: Buffer[] = [];
      let length = 0;
      const done = (cut: boolean) => {
        const text = Buffer.concat(parts).subarray(0, ANSWER_BYTES_MAX).toString('utf8');
        const type = String(response.headers['content-type'] ?? '');
        resolve({ is: 'answered', status: response.statusCode ?? 0, type, text, cut });
      };
      response.on('data', (part: Buffer) => {
        parts.push(part);
        length += part.length;
        if (length <= ANSWER_BYTES_MAX) return;
        done(true);
        sent.destroy();
      });
      response.on('end', () => done(false));
      // The status came: what is missing is only what the other side wanted to say about it.
      response.on('error', () => done(true));
    });
    sent.end(body);
  });
}
