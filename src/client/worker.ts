/**
 * A worker: functions of this process that run what was launched at a gate. It waits for launches of its operations,
 * claims one, runs it, and tells what became of it; after a lost connection it comes again.
 *
 * It promises: a function runs for a launch that this worker claimed, and not where the claim came back late; a throw
 * is an unknown outcome unless it is a `NoEffect` or `noEffectIf` says that nothing can have happened; what became of a
 * call is told until it was recorded or refused. It never runs a call again by itself.
 * Source: spec doors (workers).
 */
import type { AnswerOf } from '../api/index.js';
import { frozen, isOurs, type Json, LIMITS, NoEffect, parseTrusted, plainCopy, Refusal } from '../core/index.js';
import type { Client } from './client.js';
import { type ReadWorker, readWorker } from './worker-given.js';

export interface WorkContext {
  readonly action_id: string;
  readonly attempt: number;
  readonly project: string;
  readonly target: string;
  /** The action id: the same for every attempt. */
  readonly idempotencyKey: string;
  /** Ends when the answer would no longer count as certain. */
  readonly signal: AbortSignal;
}

/** What a worker was given to do, and what became of it. */
export interface WorkDone {
  readonly action_id: string;
  readonly attempt: number;
  readonly result: 'confirmed' | 'failed' | 'unknown';
  readonly code?: string;
  /** Whether the gate has written it down. */
  readonly recorded: boolean;
}

export interface WorkerStarted {
  /** Resolves after `stop`; rejects where the gate does not let this worker in. */
  readonly done: Promise<void>;
  /** Takes nothing new, and waits for what runs. */
  stop(): Promise<void>;
}

type Claimed = AnswerOf<'workClaim'>;
type Answer = { readonly result: WorkDone['result']; readonly code?: string; readonly evidence?: Json };

/** What another try does not change. */
const FINAL = new Set(['unauthenticated', 'forbidden', 'operation', 'binding_changed', 'invalid', 'not_found']);
const BACKOFF_MS = [200, 500, 1_000, 2_000, 5_000] as const;
/** How often what became of a call is told, until somebody takes it. */
const TELLS_MAX = 30;

export function startWorker(client: Client, given: unknown): WorkerStarted {
  const worker = readWorker(given);
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const name = nameOf();
  const loop = workOn(client, worker, name, stopping.signal, running).finally(() => {
    return stayWhile(client, worker, name, running);
  });
  // Whoever looks at `done` is told; a process that does not is not ended by it.
  loop.catch(() => undefined);
  return {
    done: loop,
    stop: async () => {
      stopping.abort();
      await loop.catch(() => undefined);
    },
  };
}

async function workOn(
  client: Client,
  worker: ReadWorker,
  name: string,
  signal: AbortSignal,
  running: Set<Promise<void>>,
): Promise<void> {
  const { described, atOnce } = worker;
  for (let failures = 0; !signal.aborted; ) {
    try {
      const body = { worker: name, operations: described, at_once: atOnce, wait_ms: client.waitMs };
      const { offer } = await client.call('workNext', { body, signal });
      failures = 0;
      if (offer === undefined) continue;
      const run = await claimed(client, worker, name, offer, signal);
      if (run === undefined) continue;
      const job = run().finally(() => running.delete(job));
      running.add(job);
    } catch (error) {
      if (signal.aborted) return;
      if (!isOurs(error) || (error instanceof Refusal && FINAL.has(error.code))) throw error;
      await pause(BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] as number, signal);
      failures += 1;
    }
  }
}

/** Takes nothing new, and lets the gate hear of this worker until what it runs is over. */
async function stayWhile(
  client: Client,
  { described }: ReadWorker,
  name: string,
  running: ReadonlySet<Promise<void>>,
): Promise<void> {
  if (running.size === 0) return;
  const over = new AbortController();
  const ended = Promise.allSettled(running).then(() => over.abort());
  const body = { worker: name, operations: described, at_once: 0, wait_ms: client.waitMs };
  while (!over.signal.aborted) {
    const isHeard = await client.call('workNext', { body, signal: over.signal }).then(
      () => true,
      () => false,
    );
    if (!isHeard) await pause(1_000, over.signal);
  }
  await ended;
}

/** What to do with an offer once it is claimed; undefined where it is another's, or over. */
async function claimed(
  client: Client,
  worker: ReadWorker,
  name: string,
  offer: NonNullable<AnswerOf<'workNext'>['offer']>,
  signal: AbortSignal,
): Promise<(() => Promise<void>) | undefined> {
  const [wall, elapsed] = [Date.now(), performance.now()];
  let claim: Claimed;
  try {
    claim = await client.call('workClaim', { body: { worker: name, ...offer }, signal });
  } catch (error) {
    if (isOurs(error)) return undefined;
    throw error;
  }
  // INVARIANT: a claim that came back late is not run, whichever clock says so (client.worker.late).
  const isLate = () => {
    const passed = Math.max(Date.now() - wall, performance.now() - elapsed);
    return passed > LIMITS.launchToCallMsMax || passed >= claim.deadline_in_ms;
  };
  return async () => {
    const answer = isLate() ? { result: 'failed' as const, code: 'never_called' } : await runClaimed(worker, claim);
    const recorded = await tell(client, claim, answer);
    const { action_id, attempt } = claim;
    const { result, code } = answer;
    worker.onDone({ action_id, attempt, result, ...(code === undefined ? {} : { code }), recorded });
  };
}

async function runClaimed({ operations }: ReadWorker, claim: Claimed): Promise<Answer> {
  const operation = operations.get(claim.operation);
  // Exactly what was signed, and nobody can change it.
  const args = frozen(parseTrusted(claim.args_text));
  if (operation?.input.safeParse(args).success !== true) return { result: 'failed', code: 'invalid' };
  const { action_id, attempt, project, target, idempotency_key: idempotencyKey, what } = claim;
  const signal = AbortSignal.timeout(Math.ceil(Math.min(claim.deadline_in_ms, LIMITS.callMsMax)));
  if (what === 'reconcile') {
    try {
      const found = await operation.reconcile?.(args, idempotencyKey);
      return { result: found === 'confirmed' || found === 'failed' ? found : 'unknown' };
    } catch {
      return { result: 'unknown', code: 'exception' };
    }
  }
  let result: unknown;
  try {
    result = (await operation.run(args, { action_id, attempt, project, target, idempotencyKey, signal })) ?? null;
  } catch (error) {
    return isWithoutEffect(error, operation.noEffectIf)
      ? { result: 'failed', code: 'no_effect' }
      : { result: 'unknown', code: 'exception' };
  }
  try {
    return { result: 'confirmed', evidence: plainCopy({ result }) as Json };
  } catch {
    return { result: 'unknown', code: 'malformed_answer' };
  }
}

/** What was thrown may not even let its class be asked for: then nothing is certain. */
function isWithoutEffect(error: unknown, noEffectIf: ((error: unknown) => boolean) | undefined): boolean {
  try {
    return error instanceof NoEffect || noEffectIf?.(error) === true;
  } catch {
    return false;
  }
}

/** Tells what became of it; false where nobody takes it. */
async function tell(client: Client, { fence }: Claimed, answer: Answer): Promise<boolean> {
  for (let tried = 0; tried < TELLS_MAX; tried += 1) {
    try {
      await client.call('workDone', { body: { fence, ...answer } as never });
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.code !== 'busy') return false;
      await pause(BACKOFF_MS[Math.min(tried, BACKOFF_MS.length - 1)] as number);
    }
  }
  return false;
}

/** A name that no other worker has. */
function nameOf(): string {
  return globalThis.crypto.randomUUID().replaceAll('-', '');
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
