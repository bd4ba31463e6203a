/**
 * A typed client of the HTTP API, from the rows of the contract: a name of a route is a call.
 *
 * It promises that a refusal of the gate arrives as the same `Refusal`, a fault as a `Fault`, and that nothing else
 * leaves; every answer is read strictly, bounded, and compared with the contract. It never repeats a call by itself:
 * what was proposed under an `idempotencyKey` may be proposed again.
 * Source: spec doors (client).
 */
import { type AnswerOf, type CallInput, type CallName, errorOf, fillPath, ROUTES } from '../api/index.js';
import { Fault, isOurs, type Json, LIMITS, Refusal, readJson } from '../core/index.js';

export interface ClientOptions {
  /** The public address of the server. */
  readonly url: string;
  readonly token: string;
  /** How long an answer may take, in milliseconds; 60 s when absent. A call that runs longer than that is not ended. */
  readonly timeoutMs?: number;
}

/** What an action of the log says of itself on the event stream. */
export interface ActionEventTold {
  readonly sequence: number;
  readonly action_id: string;
  readonly what: string;
  readonly at: number;
  readonly state: string;
}

const TIMEOUT_MS = 60_000;

export class Client {
  readonly #origin: string;
  readonly #token: string;
  readonly #timeoutMs: number;

  constructor({ url, token, timeoutMs = TIMEOUT_MS }: ClientOptions) {
    this.#origin = originOf(url);
    this.#token = token;
    this.#timeoutMs = timeoutMs;
  }

  /** Calls a route. Rejects with a `Refusal` of the gate, `busy` where no server answers, or a `Fault`. */
  async call<const Name extends CallName>(
    name: Name,
    input: CallInput<Name> & { readonly signal?: AbortSignal },
  ): Promise<AnswerOf<Name>> {
    const given = input as Readonly<Record<string, unknown>>;
    const { query = {}, body, idempotencyKey, signal } = given;
    const route = ROUTES[name];
    const url = new URL(fillPath(route.path, given as Readonly<Record<string, string>>), this.#origin);
    for (const [key, value] of Object.entries(query as object)) {
      if (value !== undefined) url.searchParams.set(key, String(value));
    }
    const response = await this.#fetch(url, {
      method: route.method,
      headers: {
        ...(route.method === 'POST' ? { 'content-type': 'application/json' } : {}),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': String(idempotencyKey) }),
      },
      ...(route.method === 'POST' ? { body: JSON.stringify(body ?? {}) } : {}),
      signal: this.#signal(signal as AbortSignal | undefined),
    });
    const value = await jsonOf(response);
    if (!response.ok) throw errorOf(value);
    const parsed = route.answer.safeParse(value);
    if (parsed.success) return parsed.data as AnswerOf<Name>;
    throw new Fault('internal', 'the server answered what the contract does not have');
  }

  /** What happens to the actions that this token sees, from behind `after` on; it goes on after a lost connection. */
  async *events(after: number | undefined, signal: AbortSignal): AsyncGenerator<ActionEventTold, void, undefined> {
    let last = after;
    while (!signal.aborted) {
      const url = new URL(ROUTES.events.path, this.#origin);
      if (last !== undefined) url.searchParams.set('after', String(last));
      const response = await this.#fetch(url, { signal });
      if (!response.ok) throw errorOf(await jsonOf(response));
      for await (const event of eventsIn(response)) {
        last = event.sequence;
        yield event;
      }
      // The server ends a stream after a while, or with itself.
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }

  #signal(own: AbortSignal | undefined): AbortSignal {
    const bound = AbortSignal.timeout(this.#timeoutMs);
    return own === undefined ? bound : AbortSignal.any([bound, own]);
  }

  async #fetch(url: URL, init: RequestInit & { readonly headers?: Readonly<Record<string, string>> }) {
    try {
      const headers = { ...init.headers, authorization: `Bearer ${this.#token}` };
      // A redirect would carry the token elsewhere.
      return await fetch(url, { ...init, headers, redirect: 'error' });
    } catch (error) {
      throw unanswered(error);
    }
  }
}

/** Refuses `invalid` for what is no address. */
function originOf(text: string): string {
  try {
    const url = new URL(text);
    if (url.protocol === 'https:' || url.protocol === 'http:') return url.origin;
  } catch {
    // Told below.
  }
  throw new Refusal('invalid', 'the address of a server is a URL', { path: 'url' });
}

function unanswered(error: unknown): Refusal | Fault {
  if (isOurs(error)) return error;
  const next = 'look whether it arrived before you send it again';
  return new Refusal('busy', 'the server gave no answer', { next });
}

/** The body as JSON. Faults `internal` for one that is none, or too long. */
async function jsonOf(response: Response): Promise<Json> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      length += part.length;
      if (length > ANSWER_BYTES_MAX) throw new Fault('internal', 'the answer of the server is too long');
      parts.push(part);
    }
  } catch (error) {
    throw unanswered(error);
  }
  const read = readJson(Buffer.concat(parts), { bytesMax: ANSWER_BYTES_MAX });
  if (!read.ok) throw new Fault('internal', 'the server answered what is no JSON');
  return read.value;
}

/** An answer holds a page of rows or one action with its arguments. */
const ANSWER_BYTES_MAX = 8 * LIMITS.jsonBytesMax;

/** The events of a stream; comments and broken ends are left out. */
async function* eventsIn(response: Response): AsyncGenerator<ActionEventTold, void, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
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
