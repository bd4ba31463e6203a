/**
 * The door for workers: a process of an application says which declared operations it has, waits for launches, claims
 * one, and tells what became of it.
 *
 * It promises that only a token with the verb `work` is told of anything, within its projects; that a worker registered
 * what the configuration declares; that an answer is taken from whoever claimed, also by a gate that was started
 * again since; and that whoever is told that it was recorded is told so after it was.
 * Source: spec doors (workers), actions (launch; connectors: worker).
 */
import { actionKind, type Caller, settle } from '../actions/index.js';
import { type Outcome, type WorkOffer, type WorkWhat, workerPin } from '../connectors/index.js';
import { type Json, LIMITS, Refusal } from '../core/index.js';
import { isInScope, type TokenScope } from '../identity/index.js';
import { epochOf } from './epoch.js';
import type { CountersignGate } from './open.js';
import { type Sealer, sealerOf } from './sealed.js';

/** What a worker has: a name of the configuration, its own version, the JSON Schema of its arguments. */
export interface WorkerOperation {
  readonly name: string;
  readonly version: string;
  readonly schema: Json;
}

export interface WorkerAsk {
  /** A name that the worker chose for itself, such as 128 random bits. */
  readonly worker: string;
  readonly operations: readonly WorkerOperation[];
  readonly at_once: number;
  readonly wait_ms: number;
}

/** How long whoever answered waits until that is written down. */
const RECORDED_MS = 10_000;

export class WorkerDoor {
  readonly #gate: CountersignGate;
  readonly #sealer: Sealer;

  constructor(gate: CountersignGate) {
    this.#gate = gate;
    this.#sealer = sealerOf(gate.home.sessionsKey, gate.services.random);
  }

  /** The next launch that a worker could claim; undefined where none came in its time. */
  async next(caller: Caller, asked: WorkerAsk, signal: AbortSignal): Promise<WorkOffer | undefined> {
    const scope = workScope(caller);
    const { desk } = this.#gate;
    const digests = new Map(
      asked.operations.map(({ name, version, schema }) => [name, desk.digestFor(name, workerPin(version, schema))]),
    );
    const worker = nameOf(caller, asked.worker);
    const mayTake = mayWork(scope);
    desk.seats.sit(caller.principal, worker, asked.at_once, (one) => {
      return digests.get(one.operation) === one.digest && mayTake(one);
    });
    return desk.next(worker, mayTake, asked.wait_ms, signal);
  }

  /** The call, for the first who claims it in its time. Refuses `state` and as a launch is refused. */
  async claim(caller: Caller, worker: string, offer: WorkOffer) {
    const scope = workScope(caller);
    const { desk, services, ledger } = this.#gate;
    const barrier = services.launchBarrier() ?? ledger.leaseBarrier?.();
    if (barrier !== undefined) throw barrier;
    const epoch = await epochOf(this.#gate.ledger);
    const call = desk.claim(nameOf(caller, worker), mayWork(scope), offer);
    const { deadline } = call;
    const said = { ...offer, deadline, epoch, by: caller.principal, worker };
    return {
      ...offer,
      project: call.project,
      operation: call.operation,
      target: call.target,
      args: call.args,
      args_text: call.argsText,
      amount: call.amount?.amount ?? null,
      currency: call.amount?.currency ?? null,
      /** How long the answer counts as certain, from now: the two clocks need not agree. */
      deadline_in_ms: Math.max(0, deadline - services.clock.now()),
      idempotency_key: call.idempotencyKey,
      fence: this.#sealer.seal('claim', deadline + LIMITS.workerLateMsMax, said),
    };
  }

  /**
   * Takes the answer to what was claimed, in time or late. It answers once that is written down. Refuses
   * `unauthenticated` for a claim that is none of this worker's, and `busy` where it could not be written yet.
   */
  async settle(caller: Caller, fence: string, outcome: Outcome): Promise<{ readonly recorded: true }> {
    workScope(caller);
    const { desk } = this.#gate;
    const said = this.#sealer.unseal('claim', this.#gate.now(), fence);
    if (said === undefined || said['by'] !== caller.principal || said['epoch'] !== (await epochOf(this.#gate.ledger))) {
      throw new Refusal('unauthenticated', 'this is no claim of this worker');
    }
    const offer: WorkOffer = {
      action_id: String(said['action_id']),
      attempt: Number(said['attempt']),
      what: said['what'] as WorkWhat,
    };
    const isInTime = desk.answer(nameOf(caller, String(said['worker'])), offer, outcome);
    if (offer.what === 'reconcile') return { recorded: true };
    const deadline = Number(said['deadline']);
    if (isInTime) await this.#recorded(offer);
    else await this.#settleLate(offer, deadline, outcome);
    return { recorded: true };
  }

  async #recorded({ action_id, attempt }: WorkOffer): Promise<void> {
    const state = await this.#gate.wait(action_id, (one) => outcomeIn(one, attempt) !== null, RECORDED_MS);
    if (outcomeIn(state, attempt) === null) throw new Refusal('busy', 'the answer is not written down yet');
  }

  /** INVARIANT: a late word settles its own attempt alone, and is told as late (connectors.worker.late). */
  async #settleLate({ action_id, attempt: no }: WorkOffer, deadline: number, outcome: Outcome): Promise<void> {
    const { services } = this.#gate;
    const state = (await services.ledger.read(actionKind, action_id))?.state;
    const attempt = state?.attempts.find((one) => one.no === no);
    if (attempt === undefined || attempt.deadline !== deadline) {
      throw new Refusal('unknown_action', 'this ledger has no such attempt');
    }
    // What is told already, and what tells nothing, need no second word.
    if (attempt.outcome === outcome.result || (attempt.outcome !== null && outcome.result === 'unknown')) return;
    await settle(services, action_id, attempt, outcome, 'connector-late');
  }
}

function outcomeIn({ attempts }: { readonly attempts: readonly { no: number; outcome: unknown }[] }, no: number) {
  return attempts.find((one) => one.no === no)?.outcome ?? null;
}

/** Workers of one agent do not answer for one another. */
function nameOf({ principal }: Caller, worker: string): string {
  return `${principal}/${worker}`;
}

/** INVARIANT: whoever asks has the project itself, whatever its worker's name was let in for (server.worker.scoped). */
function mayWork(scope: TokenScope) {
  return ({ project }: { readonly project: string }) => isInScope(scope, 'work', { project, connector: 'worker' });
}

/** INVARIANT: nobody works without a token that says so (server.worker.scoped). */
function workScope({ scope }: Caller): TokenScope {
  if (scope?.verbs.includes('work') === true) return scope;
  throw new Refusal('forbidden', 'the scope of this token does not cover that', {
    next: 'make a token of its own for the worker: `countersign agent add NAME --may work`',
  });
}
