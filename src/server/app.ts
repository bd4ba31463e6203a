/**
 * The server as a function of requests: each is admitted at the door, handed to the gate of whoever asks, and answered.
 *
 * It promises that nothing but a documented answer or problem details leaves, that no request is answered for a caller
 * who was not authenticated, and that what runs is bounded.
 * Source: spec doors (HTTP API).
 */
import { type Context, Hono } from 'hono';
import { isPage, ROUTES } from '../api/index.js';
import { auditLedger, type CountersignGate, type Gate, type Log } from '../app/index.js';
import { PeopleDoor, WorkerDoor } from '../app/internal.js';
import { beforeRing, canonicalize, contentRef, Fault, type Json, LIMITS, Refusal } from '../core/index.js';
import { AuditDesk, type Auditor } from './audit-desk.js';
import {
  bodyFor,
  cookieOf,
  demandOwnPage,
  type Found,
  findRoute,
  gateFor,
  keyOf,
  problemFor,
  queryOf,
  whoAsks,
} from './door.js';
import { eventStream } from './events.js';
import { bodyOf, HANDLERS } from './handlers.js';
import { KeptAnswers } from './kept-answers.js';
import { ServerMetrics } from './metrics.js';
import { type Pages, readPages } from './pages.js';
import { Places } from './places.js';

export interface ServerOptions {
  /** The address that people and programs use, such as `http://localhost:8787`: no other host is answered. */
  readonly publicUrl: string;
  readonly version: string;
  readonly log?: Log;
  /** Verifies the whole ledger for the console; in this process when absent, which answers nobody meanwhile. */
  readonly audit?: Auditor;
}

/** Answers requests for a gate. The gate stays the caller's to close. */
export class ServerApp {
  readonly hono = new Hono();
  readonly #owner: CountersignGate;
  readonly #options: ServerOptions;
  readonly #people: PeopleDoor;
  readonly #auditDesk: AuditDesk;
  readonly #workers: WorkerDoor;
  readonly #metrics = new ServerMetrics();
  readonly #places = new Places();
  readonly #kept: KeptAnswers;
  readonly #pages: Pages = readPages();
  readonly #stopping = new AbortController();
  #running = 0;
  #onIdle: () => void = () => undefined;

  constructor(owner: CountersignGate, options: ServerOptions) {
    this.#owner = owner;
    this.#people = new PeopleDoor(owner);
    this.#kept = new KeptAnswers(() => owner.services.clock.monotonic());
    this.#workers = new WorkerDoor(owner);
    this.#options = options;
    const { audit = () => auditLedger(owner.ledger), log } = options;
    this.#auditDesk = new AuditDesk(audit, owner.services.clock, log);
    this.hono.all('*', (context) => this.#answer(context));
  }

  get #isSecure(): boolean {
    return this.#options.publicUrl.startsWith('https:');
  }

  /** Ends event streams and waits, so many milliseconds at most, for what is being answered. */
  async drain(ms: number): Promise<void> {
    this.#stopping.abort();
    const idle = new Promise<void>((resolve) => (this.#onIdle = resolve));
    if (this.#running === 0) this.#onIdle();
    await beforeRing(this.#owner.services.timer(ms), Promise.all([idle, this.#auditDesk.close()]));
  }

  async #answer(context: Context): Promise<Response> {
    const began = performance.now();
    let route = 'none';
    this.#begin();
    let answer: Response;
    try {
      const url = new URL(context.req.url);
      const elsewhere = this.#redirect(context, url);
      if (elsewhere === undefined) this.#demandHost(context);
      const page = elsewhere ?? this.#pages.answer(context.req.raw, url.pathname);
      if (page === undefined) {
        const found = findRoute(context.req.method, url.pathname);
        route = found.name;
        answer = await this.#traced(context, found, () => this.#route(context, found, url));
      } else {
        route = 'page';
        answer = page;
      }
    } catch (error) {
      answer = problemFor(context, error, this.#options.log);
    }
    for (const [name, value] of Object.entries(HEADERS)) {
      // A page has its own policy, and its assets their own caching.
      if (route !== 'page' || !answer.headers.has(name)) answer.headers.set(name, value);
    }
    const seconds = (performance.now() - began) / 1_000;
    if (route !== 'events' || answer.status !== 200) this.#end(route, answer.status, seconds);
    return answer;
  }

  #traced(context: Context, { name, route }: Found, act: () => Promise<Response>): Promise<Response> {
    const { tracing } = this.#owner.services;
    if (tracing === undefined || name === 'health' || name === 'ready') return act();
    const facts = { 'http.request.method': route.method, 'http.route': route.path };
    const parent = context.req.header('traceparent');
    return tracing.span(`${route.method} ${route.path}`, { kind: 'server', facts, parent }, async (tell) => {
      const answer = await act();
      tell({ 'http.response.status_code': answer.status });
      return answer;
    });
  }

  async #route(context: Context, found: Found, url: URL): Promise<Response> {
    const { name, route } = found;
    const { headers } = context.req.raw;
    // Whether it answers at all is told however much there is to do.
    if (name === 'health' || name === 'ready') return this.#call(context, found, url, this.#owner);
    if (this.#running - this.#places.streams > LIMITS.requestsRunningMax) {
      throw new Refusal('busy', 'the server answers as many as it may');
    }
    if (route.audience === 'public') demandOwnPage(route, headers);
    const gate = await gateFor(this.#owner, this.#people, route, headers, this.#isSecure);
    const leave = this.#places.take(whoAsks(gate, route, headers), name === 'events' ? 'streams' : 'calls');
    let isStream = false;
    try {
      if (name !== 'events') return await this.#call(context, found, url, gate);
      const stream = this.#events(context, queryOf(route, url)['after'], leave);
      isStream = true;
      return stream;
    } finally {
      if (!isStream) leave();
    }
  }

  async #call(context: Context, { name, route, params }: Found, url: URL, gate: Gate): Promise<Response> {
    const idempotencyKey = keyOf(route, context.req.raw.headers);
    const query = queryOf(route, url);
    const body = await bodyFor(route, context.req.raw);
    if (name === 'metrics') return context.text(await this.#metrics.text(this.#owner));
    if (name === 'events') throw new Fault('internal', 'a stream is no call');
    const { publicUrl, version } = this.#options;
    const isSecure = this.#isSecure;
    const setSession = (session: string | undefined, expires: number) => {
      const seconds = Math.max(0, Math.floor((expires - this.#owner.services.clock.now()) / 1_000));
      context.header('Set-Cookie', cookieOf(session, isSecure, seconds));
    };
    const asked = {
      ...{ gate, owner: this.#owner, people: this.#people, auditDesk: this.#auditDesk, workers: this.#workers },
      ...{ params, query, body, idempotencyKey, setSession, publicUrl, version },
      signal: AbortSignal.any([context.req.raw.signal, this.#stopping.signal]),
    };
    const act = async () => JSON.stringify(bodyOf(await HANDLERS[name](asked)));
    const isKept = idempotencyKey !== undefined && route.key !== 'ledger';
    const text = isKept
      ? await this.#kept.once(keptFor(gate), idempotencyKey, askedText(name, params, query, body), act)
      : await act();
    return context.body(text, 200, { 'Content-Type': 'application/json' });
  }

  #events(context: Context, after: string | undefined, leave: () => void): Response {
    const resumed = context.req.header('last-event-id') ?? after;
    if (resumed !== undefined && !/^\d{1,16}$/.test(resumed)) {
      throw new Refusal('invalid', 'an event is named by its sequence', { path: 'after' });
    }
    const closed = new AbortController();
    const signal = AbortSignal.any([closed.signal, context.req.raw.signal, this.#stopping.signal]);
    const stream = eventStream({
      owner: this.#owner,
      again: () => gateFor(this.#owner, this.#people, ROUTES.events, context.req.raw.headers, this.#isSecure),
      after: resumed === undefined ? undefined : Number(resumed),
      signal,
    });
    const encoder = new TextEncoder();
    const end = () => {
      leave();
      this.#end('events', 200, 0);
    };
    const readable = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const next = await stream.next().catch(() => undefined);
        if (next === undefined || next.done === true) {
          controller.close();
          return end();
        }
        controller.enqueue(encoder.encode(next.value));
      },
      cancel: () => {
        closed.abort();
        end();
        // One that stands at an answer that nobody took would stand there for ever.
        void stream.return(undefined).catch(() => undefined);
      },
    });
    return new Response(readable, { headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' } });
  }

  /**
   * A page that is asked for by a number of this machine is shown by its name: passkeys belong to names.
   * INVARIANT: nothing but a page is, and it leads nowhere but to the public address (server.loopback.redirect).
   */
  #redirect(context: Context, { host, pathname }: URL): Response | undefined {
    const own = new URL(this.#options.publicUrl);
    const isNumber = ['127.0.0.1', '[::1]'].some((number) => host === own.host.replace('localhost', number));
    if (
      !isNumber ||
      context.req.header('host') !== host ||
      own.hostname !== 'localhost' ||
      context.req.method !== 'GET' ||
      !isPage(pathname)
    )
      return undefined;
    return new Response(null, { status: 307, headers: { Location: new URL(pathname, own).href } });
  }

  /**
   * INVARIANT: a page of somebody else that a name server sent here is not answered (server.host): neither its host nor
   * its origin is ours.
   */
  #demandHost(context: Context): void {
    const { host, origin } = new URL(this.#options.publicUrl);
    const asked = context.req.header('host');
    const from = context.req.header('origin');
    // A target may name a host of its own, as one does who speaks to a proxy.
    const named = new URL(context.req.url).host;
    const isOurs = asked === host && named === new URL(`http://${host}`).host;
    if (!isOurs || (from !== undefined && from !== origin)) {
      throw new Refusal('forbidden', 'this server answers under another address', { next: 'use its public address' });
    }
  }

  #begin(): void {
    this.#running += 1;
    this.#metrics.begun();
  }

  #end(route: string, status: number, seconds: number): void {
    this.#running -= 1;
    this.#metrics.ended(route, status, seconds);
    if (this.#running === 0) this.#onIdle();
  }
}

/** Whose keys these are: another scope of the same agent is another caller, who might not see the answer. */
function keptFor({ caller: { principal, scope, session } }: Gate): string {
  return canonicalize({ principal, scope: (scope ?? null) as Json, session: session === true });
}

/** The fingerprint of what is asked, the same for the same. */
function askedText(name: string, params: object, query: object, body: unknown): string {
  return contentRef(
    canonicalize(bodyOf({ name, params, query, body: body instanceof Uint8Array ? contentRef(body) : (body ?? null) })),
  );
}

/** What stands on every answer. */
export const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;
