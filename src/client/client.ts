/**
 * A typed client of the HTTP API, from the rows of the contract: a name of a route is a call.
 *
 * It promises that a refusal of the gate arrives as the same `Refusal`, a fault as a `Fault`, and that nothing else
 * leaves; every answer is read strictly, bounded, and compared with the contract. It never repeats a call by itself:
 * what was proposed under an `idempotencyKey` may be proposed again.
 * Source: spec doors (client).
 */
import { type AnswerOf, type CallInput, type CallName, errorOf, ROUTES } from '../api/index.js';
import { Fault, isOurs, type Json, LIMITS, Refusal, readJson } from '../core/index.js';
import { partsOf } from './body.js';
import { type ClientOptions, readCall, readOptions, readSignal } from './given.js';
import { startWorker, type WorkerStarted } from './worker.js';
import type { WorkerOptions } from './worker-given.js';

/** What an action of the log says of itself on the event stream. */
export interface ActionEventTold {
  readonly sequence: number;
  readonly action_id: string;
  readonly what: string;
  readonly at: number;
  readonly state: string;
}

export class Client {
  readonly #origin: string;
  readonly #token: string;
  readonly #timeoutMs: number;

  constructor(options: ClientOptions) {
    const { origin, token, timeoutMs } = readOptions(options);
    this.#origin = origin;
    this.#token = token;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Calls a route. Rejects with a `Refusal` of the gate, `invalid` for what can not be sent, `busy` where no server
   * answers, `aborted` where the caller ended it; or with a `Fault`.
   */
  call<const Name extends CallName>(
    name: Name,
    input: CallInput<Name> & { readonly signal?: AbortSignal },
  ): Promise<AnswerOf<Name>> {
    return atBorder(async () => {
      const { route, url, headers, body, signal } = readCall(name, input, this.#origin);
      const bound = AbortSignal.timeout(this.#timeoutMs);
      const response = await this.#fetch(url, signal, {
        method: route.method,
        headers,
        ...(body === undefined ? {} : { body }),
        signal: signal === undefined ? bound : AbortSignal.any([bound, signal]),
      });
      const value = await jsonOf(response, signal, bound);
      if (!response.ok) throw errorOf(value);
      const parsed = route.answer.safeParse(value);
      if (parsed.success) return parsed.data as AnswerOf<Name>;
      throw new Fault('internal', 'the server answered what the contract does not have');
    });
  }

  /** How long a wait at the server may take, so that its answer comes in time. */
  get waitMs(): number {
    return Math.min(LIMITS.workerWaitMsMax, Math.floor(this.#timeoutMs / 2));
  }

  /**
   * Runs functions of this process for launches of the operations that the gate's configuration declares for workers.
   * Refuses `invalid` for what is no worker.
   */
  worker<Inputs extends Readonly<Record<string, unknown>>>(options: WorkerOptions<Inputs>): WorkerStarted {
    return startWorker(this, options);
  }

  /**
   * What happens to the actions that this token sees, from behind `after` on; it goes on after a lost connection, until
   * the signal ends it.
   */
  async *events(after: number | undefined, signal: AbortSignal): AsyncGenerator<ActionEventTold, void, undefined> {
    const ending = readSignal(signal);
    if (ending === undefined) throw new Refusal('invalid', 'a stream is ended by an AbortSignal', { path: 'signal' });
    if (after !== undefined && !(Number.isSafeInteger(after) && after >= 0)) {
      throw new Refusal('invalid', 'an event is named by its sequence', { path: 'after' });
    }
    let last = after;
    while (!ending.aborted) {
      const url = new URL(ROUTES.events.path, this.#origin);
      if (last !== undefined) url.searchParams.set('after', String(last));
      let response: Response;
      try {
        response = await this.#fetch(url, ending, { signal: ending });
        if (!response.ok) throw errorOf(await jsonOf(response, ending, AbortSignal.timeout(this.#timeoutMs)));
      } catch (error) {
        if (ending.aborted) return;
        throw error;
      }
      for await (const event of eventsIn(response, ending)) {
        last = event.sequence;
        yield event;
      }
      // The server ends a stream after a while, or with itself.
      if (!ending.aborted) await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }

  async #fetch(url: URL, own: AbortSignal | undefined, init: RequestInit): Promise<Response> {
    try {
      const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${this.#token}` };
      // A redirect would carry the token elsewhere.
      return await fetch(url, { ...init, headers, redirect: 'error' });
    } catch (error) {
      throw unanswered(error, own);
    }
  }
}

/** Does what a call does. Rejects with a `Refusal` or a `Fault`, and nothing else. */
async function atBorder<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw isOurs(error) ? error : new Fault('internal', 'the client failed', error);
  }
}

/** Nobody knows whether the call arrived. */
const UNANSWERED = { answered: false };

/** Whether the server said it, and not the client of a server that said nothing. */
export function isAnswered({ details }: Refusal): boolean {
  return details?.['answered'] !== false;
}

function unanswered(error: unknown, own: AbortSignal | undefined): Refusal | Fault {
  if (isOurs(error)) return error;
  const extras = { next: 'look whether it arrived before you send it again', details: UNANSWERED };
  if (own?.aborted === true) return new Refusal('aborted', 'the caller ended the call', extras);
  return new Refusal('busy', 'the server gave no answer', extras);
}

/** The body as JSON. Faults `internal` for one that is none, or too long. */
async function jsonOf(response: Response, own: AbortSignal | undefined, bound: AbortSignal): Promise<Json> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of partsOf(response, [own, bound])) {
      length += part.length;
      if (length > ANSWER_BYTES_MAX) throw new Fault('internal', 'the answer of the server is too long');
      parts.push(part);
    }
    own?.throwIfAborted();
    bound.throwIfAborted();
  } catch (error) {
    throw unanswered(error, own);
  }
  const read = readJson(Buffer.concat(parts), { bytesMax: ANSWER_BYTES_MAX });
  if (!read.ok) throw new Fault('internal', 'the server answered what is no JSON');
  return read.value;
}

/** An answer holds a page of rows or one action with its arguments. */
const ANSWER_BYTES_MAX = 8 * LIMITS.jsonBytesMax;

/** The events of a stream; comments and broken ends are left out. */
async function* eventsIn(response: Response, ending: AbortSignal): AsyncGenerator<ActionEventTold, void, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const part of partsOf(response, [ending])) {
      text += decoder.decode(part, { stream: true });
      if (text.length > LIMITS.jsonBytesMax) throw new Fault('internal', 'an event of the server is too long');
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = eventOf(block);
        if (event !== undefined) yield event;
      }
    }
  } catch (error) {
    if (isOurs(error)) throw error;
  }
}

function eventOf(block: string): ActionEventTold | undefined {
  const id = /^id: (\d{1,16})$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (id === undefined || data === undefined) return undefined;
  const read = readJson(data);
  if (!read.ok) return undefined;
  return { sequence: Number(id), ...(read.value as unknown as Omit<ActionEventTold, 'sequence'>) };
}
