/**
 * What a connector gets to see, and how it is asked before and after a launch: every question has an end, and every
 * answer is copied at the border.
 * Source: spec actions (connectors).
 */
import type { Call } from '../connectors/index.js';
import { beforeRing, canonicalize, Fault, frozen, type Json, type JsonObject, parseTrusted } from '../core/index.js';
import type { ActionContent, Attempt } from './schema.js';
import type { Services } from './services.js';

/** What a call is about. */
export interface CallSubject {
  readonly content: Pick<
    ActionContent,
    'action_id' | 'project' | 'operation' | 'target' | 'amount' | 'currency' | 'preconditions'
  >;
  readonly argsText: string;
  readonly args: JsonObject;
}

interface CallExtras {
  readonly attempt?: Pick<Attempt, 'no' | 'prepared' | 'deadline'>;
  readonly stop?: Stop;
  /** Content by address that is not stored yet. */
  readonly fresh?: ReadonlyMap<string, Uint8Array>;
}

/** What a connector gets to see. Its arguments are parsed from the exact bytes that were signed. */
export function callFor(services: Services, subject: CallSubject, extras: CallExtras): Call {
  const { content, argsText, args } = subject;
  const { attempt, fresh, stop = new Stop() } = extras;
  const { action_id, amount, currency, preconditions } = content;
  return {
    actionId: action_id,
    attempt: attempt?.no ?? 0,
    project: content.project,
    operation: content.operation,
    target: content.target,
    args: args as Readonly<Record<string, Json>>,
    argsText,
    ...(amount === null ? {} : { amount: { amount, currency: currency ?? '' } }),
    ...ownPreconditions(preconditions),
    ...(attempt === undefined ? {} : { prepared: attempt.prepared }),
    content: async (ref) =>
      fresh?.get(ref) ?? (await services.ledger.payload({ kind: 'action', id: action_id }, 0, ref)),
    secret: (name) => services.secret(name),
    deadline: attempt?.deadline ?? services.clock.now() + SNAPSHOT_MS_MAX,
    get signal() {
      return stop.signal;
    },
    idempotencyKey: action_id,
    get traceparent() {
      return services.tracing?.traceparent();
    },
  };
}

/** Preconditions without those of the gate itself, which no connector made. */
function ownPreconditions(all: CallSubject['content']['preconditions']): Pick<Call, 'preconditions'> {
  const own = Object.entries(all ?? {}).filter(([name]) => !name.startsWith('package_'));
  const isForeign = all !== null && own.length === 0 && Object.keys(all).length > 0;
  return all === null || isForeign ? {} : { preconditions: Object.fromEntries(own) };
}

/** A connector's look at the world before a launch takes at most this long. */
const SNAPSHOT_MS_MAX = 60_000;

/** The signal of one question to a connector: made when the connector looks at it, which most never do. */
export class Stop {
  #controller: AbortController | undefined;
  #isOver = false;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isOver) this.#controller.abort(OVER);
    }
    return this.#controller.signal;
  }

  /** Whoever still works for the question stops. */
  end(): void {
    this.#isOver = true;
    this.#controller?.abort(OVER);
  }
}

/** A plain reason: the default is an exception with a stack that nobody reads. */
const OVER = 'the question is over';

/**
 * Asks a connector about a call, without an effect; undefined where it has nothing to ask. A Fault where no answer
 * comes in time.
 */
export async function consult<T>(
  services: Services,
  subject: CallSubject,
  extras: CallExtras,
  ask: (call: Call) => Promise<T> | undefined,
): Promise<T | undefined> {
  const stop = new Stop();
  try {
    const answer = await inTime(services, () => ask(callFor(services, subject, { ...extras, stop })));
    return answer === undefined ? undefined : plainCopy(answer);
  } finally {
    stop.end();
  }
}

/**
 * INVARIANT: what a connector answers is taken as it is now, and is nobody else's object (actions.connector.copied).
 * Faults `internal` for what is no plain data.
 */
function plainCopy<T>(answer: T): T {
  try {
    return frozen(parseTrusted(canonicalize(answer as Json))) as T;
  } catch (error) {
    throw new Fault('internal', 'the connector answered what is no plain data', error);
  }
}

/** A connector's answer that leads to no effect; a Fault where none comes in time. */
export async function inTime<T>(services: Services, ask: () => Promise<T> | undefined): Promise<T | undefined> {
  const asked = ask();
  if (asked === undefined) return undefined;
  const came = await beforeRing(services.timer(SNAPSHOT_MS_MAX), asked);
  if (came === undefined) throw new Fault('internal', 'the connector did not answer in time');
  return came.answer;
}
