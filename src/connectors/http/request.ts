/**
 * One request, and what is certain of it: never redirected, never repeated, bounded in size and time.
 *
 * It promises: `never_sent` only where not one byte of the request left; `whole` only where the answer came to its end.
 * Every connection is its own, and is closed when this returns.
 * Source: spec actions (http), reliability T25, T31.
 */
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { causeOf, type NeverCode, reach, type Way } from './connection.js';
import { HTTP_LIMITS } from './limits.js';

export interface Asked extends Way {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** The call ends after this long. */
  readonly timeoutMs: number;
  /** Asked once more before the first byte: whether the call may still begin. */
  mayBegin(): boolean;
}

export interface Answer {
  readonly is: 'answered';
  readonly status: number;
  readonly type: string;
  /** Its bytes as they are; none where it was too long to keep, or in a coding that nobody asked for. */
  readonly bytes?: Buffer;
  readonly length: number;
  /** Whether all of it came. */
  readonly whole: boolean;
}

export type Answered =
  | Answer
  /** Nothing was sent. */
  | { readonly is: 'never_sent'; readonly code: NeverCode; readonly cause?: string }
  /** Something may have been sent. */
  | { readonly is: 'no_answer'; readonly cause?: string };

export async function ask(asked: Asked): Promise<Answered> {
  const limit = new AbortController();
  const end = () => limit.abort();
  const timer = setTimeout(end, asked.timeoutMs);
  asked.signal.addEventListener('abort', end, { once: true });
  if (asked.signal.aborted) end();
  let socket: Socket | undefined;
  try {
    const reached = await reach({ ...asked, signal: limit.signal });
    if ('never' in reached) return { is: 'never_sent', code: reached.never, ...causeIn(reached) };
    socket = reached.socket;
    // Looked at again by the clock: a process that stood still has timers that did not ring yet.
    if (limit.signal.aborted || !asked.mayBegin()) return { is: 'never_sent', code: 'too_late' };
    return await exchange(asked, socket, limit.signal);
  } finally {
    clearTimeout(timer);
    asked.signal.removeEventListener('abort', end);
    socket?.destroy();
  }
}

function causeIn({ cause }: { readonly cause?: string }): { readonly cause?: string } {
  return cause === undefined ? {} : { cause };
}

function exchange({ method, url, headers, body }: Asked, socket: Socket, signal: AbortSignal): Promise<Answered> {
  return new Promise((resolve) => {
    let coming: Coming | undefined;
    const lost = (error?: unknown) => resolve(coming?.answer(false) ?? { is: 'no_answer', ...causeOf(error) });
    signal.addEventListener('abort', () => lost(), { once: true });
    const sent = request({
      ...{ method, path: `${url.pathname}${url.search}`, createConnection: () => socket, setHost: false },
      headers: {
        ...{ host: url.host, ...headers },
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
      },
      // Said aloud, so that no option of the process says otherwise.
      ...{ insecureHTTPParser: false, maxHeaderSize: HTTP_LIMITS.headBytesMax },
    });
    sent.on('error', lost);
    sent.on('upgrade', () => lost());
    // Once the head of an answer came, its body tells how it ended: a socket may close before its last bytes are read.
    sent.on('close', () => (coming === undefined ? lost() : undefined));
    sent.on('response', (response) => {
      coming = new Coming(response);
      response.on('data', (part: Buffer) => {
        if (coming?.add(part) === false) lost();
      });
      response.on('end', () => resolve(coming?.answer(response.complete) ?? { is: 'no_answer' }));
      response.on('error', lost);
      response.on('close', () => lost());
    });
    sent.end(body);
  });
}

/** An answer of which the head came. */
class Coming {
  readonly #response: IncomingMessage;
  readonly #parts: Buffer[] = [];
  #length = 0;

  constructor(response: IncomingMessage) {
    this.#response = response;
  }

  /** False where it is longer than what is read. */
  add(part: Buffer): boolean {
    this.#length += part.length;
    if (this.#length <= HTTP_LIMITS.keptBytesMax) this.#parts.push(part);
    return this.#length <= HTTP_LIMITS.answerBytesMax;
  }

  answer(whole: boolean): Answer {
    const { statusCode = 0, headers } = this.#response;
    const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity';
    const isKept = whole && isPlain && this.#length <= HTTP_LIMITS.keptBytesMax;
    const bytes = isKept ? { bytes: Buffer.concat(this.#parts) } : {};
    return {
      ...{ is: 'answered', status: statusCode, type: String(headers['content-type'] ?? '') },
      ...{ ...bytes, length: this.#length, whole },
    };
  }
}
