/**
 * One call of a worker, from its claim to the word that the gate took: claimed, run or asked about, told.
 *
 * It promises: a claim that came back late is not run; what a worker says of a call that it was only asked about is its
 * function's own word, or unknown; what a schema or a function throws stays here; what was done is told in a body that
 * the gate takes.
 * Source: spec doors (workers).
 */
import type { AnswerOf } from '../api/index.js';
import { frozen, type Json, LIMITS, NoEffect, parseTrusted, plainCopy, Refusal, readJson } from '../core/index.js';
import { type Client, isAnswered } from './client.js';
import { textOf } from './given.js';
import { BACKOFF_MS, pause } from './pause.js';
import type { AnyOperation, ReadWorker } from './worker-given.js';

/** What a worker was given to do, and what became of it. */
export interface WorkDone {
  readonly action_id: string;
  readonly attempt: number;
  readonly result: 'confirmed' | 'failed' | 'unknown';
  readonly code?: string;
  /** Whether the gate has written it down. */
  readonly recorded: boolean;
}

type Call = AnswerOf<'workClaim'>;
type Answer = { readonly result: WorkDone['result']; readonly code?: string; readonly evidence?: Json };

export interface Claim {
  readonly call: Call;
  /** Whether too much time has passed since it was asked for. */
  isLate(): boolean;
}

/** How often what became of a call is told, until somebody takes it. */
const TELLS_MAX = 30;

/**
 * Claims an offer; undefined where it is another's, or over; `lost` where nobody here knows whether it was given.
 * Rejects with `busy` where the server gives nothing at present.
 */
export async function claimOffer(
  client: Client,
  name: string,
  offer: NonNullable<AnswerOf<'workNext'>['offer']>,
): Promise<Claim | 'lost' | undefined> {
  const [wall, elapsed] = [Date.now(), performance.now()];
  let call: Call;
  try {
    // INVARIANT: no stop ends it: whoever is given a call answers for it (client.worker.stop).
    const signal = AbortSignal.timeout(LIMITS.workerClaimMsMax);
    call = await client.call('workClaim', { body: { worker: name, ...offer }, signal });
  } catch (error) {
    if (!(error instanceof Refusal) || !isAnswered(error)) return 'lost';
    // Nothing was given: whoever asks again waits a little first.
    if (error.code === 'busy') throw error;
    return undefined;
  }
  const isLate = () => {
    const passed = Math.max(Date.now() - wall, performance.now() - elapsed);
    return passed > LIMITS.launchToCallMsMax || passed >= call.deadline_in_ms;
  };
  return { call, isLate };
}

/** Does what was claimed, and tells what became of it. `onOver`: when it runs no longer, before that is told. */
export async function doClaimed(
  client: Client,
  worker: ReadWorker,
  { call, isLate }: Claim,
  onOver: () => void,
): Promise<void> {
  const answer = await answerTo(worker, call, isLate);
  onOver();
  const recorded = await tell(client, call, answer);
  const { action_id, attempt } = call;
  const { result, code } = answer;
  worker.onDone({ action_id, attempt, result, ...(code === undefined ? {} : { code }), recorded });
}

/** INVARIANT: nothing that an operation throws leaves (client.worker.throws). */
async function answerTo(worker: ReadWorker, call: Call, isLate: () => boolean): Promise<Answer> {
  try {
    const ready = await readyFor(worker, call, isLate);
    if (call.what === 'run')
      return typeof ready === 'string' ? { result: 'failed', code: ready } : await ran(ready, call);
    // INVARIANT: whoever was not asked can't tell (client.worker.asked).
    if (typeof ready === 'string') return { result: 'unknown', code: ready };
    const found = await ready.operation.reconcile?.(ready.args, call.idempotency_key);
    return { result: found === 'confirmed' || found === 'failed' ? found : 'unknown' };
  } catch {
    return { result: 'unknown', code: 'exception' };
  }
}

interface Ready {
  readonly operation: AnyOperation;
  readonly args: unknown;
}

/** An operation and its arguments, exactly those that were signed; or why nothing is called. It never rejects. */
async function readyFor(
  { operations }: ReadWorker,
  call: Call,
  isLate: () => boolean,
): Promise<Ready | 'never_called' | 'invalid'> {
  if (isLate()) return 'never_called';
  const over = new AbortController();
  try {
    const operation = operations.get(call.operation);
    if (operation === undefined) return 'invalid';
    // Nobody can change it.
    const args = frozen(parseTrusted(call.args_text));
    // A schema may ask others, and throw.
    const parsed = await Promise.race([
      operation.input.safeParseAsync(args),
      pause(LIMITS.launchToCallMsMax, over.signal),
    ]);
    if (parsed?.success === false) return 'invalid';
    // INVARIANT: a claim that came back late is not run, whichever clock says so (client.worker.late).
    return parsed === undefined || isLate() ? 'never_called' : { operation, args };
  } catch {
    return 'invalid';
  } finally {
    over.abort();
  }
}

async function ran({ operation, args }: Ready, call: Call): Promise<Answer> {
  const { action_id, attempt, project, target, idempotency_key: idempotencyKey } = call;
  const signal = AbortSignal.timeout(Math.ceil(Math.min(call.deadline_in_ms, LIMITS.callMsMax)));
  let result: unknown;
  try {
    result = await operation.run(args, { action_id, attempt, project, target, idempotencyKey, signal });
  } catch (error) {
    return isWithoutEffect(error, operation.noEffectIf)
      ? { result: 'failed', code: 'no_effect' }
      : { result: 'unknown', code: 'exception' };
  }
  return confirmed(result);
}

/**
 * What a function answered, as the gate takes it.
 * INVARIANT: what is too long is left out, and what was done is told all the same (client.worker.evidence).
 */
function confirmed(result: unknown): Answer {
  const bytesMax = LIMITS.workerEvidenceBytesMax;
  const tooLong: Answer = { result: 'confirmed', code: 'evidence_too_long' };
  try {
    const evidence = plainCopy({ result: result ?? null }, { bytesMax: Number.MAX_SAFE_INTEGER });
    if (!isWithin(evidence, bytesMax)) return tooLong;
    // What the gate will read: a level less of nesting, since it stands in a body.
    const read = readJson(textOf(evidence), { bytesMax, depthMax: LIMITS.depthMax - 1 });
    if (read.ok) return { result: 'confirmed', evidence: read.value };
    if (read.problem.reason === 'too_long') return tooLong;
  } catch {
    // Told below.
  }
  return { result: 'unknown', code: 'malformed_answer' };
}

/** Whether it might be so short: what surely is not is never written out. */
function isWithin(value: object, bytesMax: number): boolean {
  try {
    plainCopy(value, { bytesMax });
    return true;
  } catch {
    return false;
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
async function tell(client: Client, { fence }: Call, answer: Answer): Promise<boolean> {
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
