/**
 * The call, and what is known of it afterwards. Only a certain word settles an attempt as confirmed or failed: an
 * exception, a time-out, a malformed or a lost answer is unknown. What can't be written stays launched, and `recover`
 * finds it.
 * Source: seeds actions-and-the-gate (steps 3 to 5); spec actions (launch).
 */
import * as z from 'zod';
import type { Operation, Outcome } from '../connectors/index.js';
import {
  beforeRing,
  canonicalize,
  codeFact,
  contentRef,
  isOurs,
  type Json,
  LIMITS,
  plainCopy,
  Refusal,
  traced,
  utf8Length,
} from '../core/index.js';
import type { NewEvent, NewPayload } from '../ledger/index.js';
import { demandWords } from './approve.js';
import { type BoundedAttempt, boundRecords, settledBounds } from './bounds.js';
import { callFor, consult, Stop } from './consult.js';
import { actionKind, stateAfter } from './evolve.js';
import { type LoadedAction, loadAction, pinnedOperation } from './load.js';
import { type ActionCommand, decideAction } from './machine.js';
import type { Settlement } from './machine-settle.js';
import type { ActionStateName, Attempt, AttemptOutcome, SettledBy } from './schema.js';
import { type Caller, type Services, STALE, withFreshFacts } from './services.js';

export type Settled = {
  readonly action_id: string;
  /** The outcome of the attempt; unknown while that of another one leaves the action so. */
  readonly state: AttemptOutcome;
  readonly attempt: number;
  readonly code: string | null;
  readonly external_ref: string | null;
  readonly evidence: Json;
};

interface LaunchedCall extends Pick<LoadedAction, 'content' | 'argsText' | 'args'> {
  readonly operation: Operation;
  readonly attempt: Attempt;
  /** The time of the launch's commit, by the wall and by the monotonic clock. */
  readonly launchedAt: number;
  readonly monotonic: number;
}

const AnswerSchema = z.object({
  result: z.enum(['confirmed', 'failed', 'unknown']),
  code: z.string().max(128).optional(),
  externalRef: z.string().max(1_024).optional(),
  evidence: z.json().optional(),
});

const UNKNOWN = (code: string): Outcome => ({ result: 'unknown', code });

/** Calls the connector once, and writes down what is certain. */
export async function callAndSettle(services: Services, launched: LaunchedCall): Promise<Settled> {
  const { content, attempt, operation } = launched;
  services.failpoint('launch.before-call');
  // INVARIANT: no call leaves late, whichever clock says so (actions.launch.never-called).
  if (isTooLate(services, launched.launchedAt, launched.monotonic) || services.ledger.leaseBarrier?.() !== undefined) {
    return settle(services, content.action_id, attempt, { result: 'failed', code: 'never_called' }, 'connector');
  }
  const stop = new Stop();
  const call = callFor(services, launched, { attempt, stop });
  const answer = traced(services.tracing, 'connector', { kind: 'client', facts: factsOf(launched) }, async (tell) => {
    const told = await answerOf(() => operation.execute(call));
    tell({ 'countersign.result': told.result, ...codeFact(told.code) });
    return told;
  });
  const overdue = services.timer(Math.max(0, attempt.deadline - services.clock.now()));
  const came = await beforeRing(overdue, answer);
  stop.end();
  services.failpoint('launch.after-call');
  if (came === undefined) {
    settleLater(services, content.action_id, attempt, answer);
    return settle(services, content.action_id, attempt, UNKNOWN('no_answer'), 'connector');
  }
  services.failpoint('launch.before-settle');
  const settled = await settle(services, content.action_id, attempt, came.answer, 'connector');
  services.failpoint('launch.after-settle');
  return settled;
}

function factsOf({ content, attempt }: LaunchedCall) {
  return {
    'countersign.action_id': content.action_id,
    'countersign.connector': content.connector,
    'countersign.operation': content.operation,
    'countersign.class': content.class,
    'countersign.attempt': attempt.no,
  };
}

/** How long after the commit the call may still begin. */
function isTooLate(services: Services, launchedAt: number, monotonic: number): boolean {
  const wall = services.clock.now() - launchedAt;
  const elapsed = services.clock.monotonic() - monotonic;
  return Math.max(wall, elapsed) > LIMITS.launchToCallMsMax;
}

/** A connector's answer, whatever it does: what is not a well-formed answer is unknown. */
async function answerOf(ask: () => Promise<Outcome>): Promise<Outcome> {
  let answer: unknown;
  try {
    answer = await ask();
  } catch (error) {
    return UNKNOWN(codeOfThrown(error));
  }
  return readAnswer(answer) ?? UNKNOWN('malformed_answer');
}

/** The code of what a connector threw; it may be anything, and even looking at it may throw. */
function codeOfThrown(error: unknown): string {
  try {
    return isOurs(error) ? error.code : 'exception';
  } catch {
    return 'exception';
  }
}

/** An answer that can be written down; undefined for every other. */
function readAnswer(answer: unknown): Outcome | undefined {
  try {
    // Copied once, within limits, before anything else looks at it.
    const { result, code, externalRef, evidence } = AnswerSchema.parse(
      plainCopy(answer, { bytesMax: 2 * LIMITS.contentBytesMax }),
    );
    canonicalize([code ?? null, externalRef ?? null, evidence ?? null]);
    return {
      result,
      ...(code === undefined ? {} : { code }),
      ...(externalRef === undefined ? {} : { externalRef }),
      ...(evidence === undefined ? {} : { evidence }),
    };
  } catch {
    return undefined;
  }
}

/** An answer after the deadline still settles its own attempt, when it is certain. */
function settleLater(services: Services, actionId: string, attempt: BoundedAttempt, answer: Promise<Outcome>): void {
  answer
    .then((late) =>
      late.result === 'unknown' ? undefined : settle(services, actionId, attempt, late, 'connector-late'),
    )
    .catch((error: unknown) => services.log?.write('warn', 'a late result could not be written down', error));
}

/** Writes an outcome for one attempt. Refuses `unrecorded` when the store fails: the launch stays, for `recover`. */
export async function settle(
  services: Services,
  actionId: string,
  attempt: BoundedAttempt,
  outcome: Outcome,
  settledBy: SettledBy,
): Promise<Settled> {
  const evidence = evidenceOf(outcome);
  const settlement: Settlement = {
    attempt: attempt.no,
    outcome: outcome.result,
    code: outcome.code ?? null,
    externalRef: outcome.externalRef ?? null,
    evidence,
    settledBy,
  };
  let state: ActionStateName;
  try {
    state = await commitCommand(services, 'engine:gate', actionId, { do: 'settle', settlement }, attempt);
  } catch (error) {
    if (error instanceof Refusal && error.code !== 'busy') throw error;
    services.log?.write('error', 'an outcome could not be written down', error);
    throw new Refusal('unrecorded', 'the outcome could not be written down', { details: { outcome: outcome.result } });
  }
  return {
    action_id: actionId,
    state: state === 'unknown' ? 'unknown' : outcome.result,
    attempt: attempt.no,
    code: settlement.code,
    external_ref: settlement.externalRef,
    evidence: outcome.evidence ?? null,
  };
}

function evidenceOf(outcome: Outcome): NewPayload | null {
  if (outcome.evidence === undefined) return null;
  const bytes = canonicalize(outcome.evidence);
  if (utf8Length(bytes) > LIMITS.contentBytesMax) return null;
  return { ref: contentRef(bytes), bytes };
}

/**
 * Commits one command of the machine, over the state as it is then, and tells the state that follows. `attempt` is the
 * one that the command is about, where there is one; what others took is read when it is needed.
 */
export async function commitCommand(
  services: Services,
  actor: string,
  actionId: string,
  command: ActionCommand,
  attempt?: BoundedAttempt,
): Promise<ActionStateName> {
  const record = { kind: 'action', id: actionId } as const;
  let known = attempt === undefined ? [] : [attempt];
  return withFreshFacts(services, async () => {
    const locked = boundRecords(known);
    const committed = await services.ledger.commit<ActionStateName | null>({
      actor,
      writes: [...locked, record],
      decide: (view) => {
        const state = view.get(actionKind, actionId)?.state;
        const decided = decideAction(state, command, view.now);
        if (decided instanceof Refusal) return decided;
        const settled = decided.flatMap((event) => settledBounds(state, event));
        const isLocked = ({ record: { kind, id } }: NewEvent) =>
          locked.some((one) => one.kind === kind && one.id === id);
        if (!settled.every(isLocked)) return { events: [], outcome: null };
        const after = stateAfter(actionId, state, decided);
        return { events: [...settled, ...decided.map((event) => ({ record, ...event }))], outcome: after };
      },
    });
    if (committed.outcome !== null) return committed.outcome;
    known = [...((await services.ledger.read(actionKind, actionId))?.state.attempts ?? [])];
    throw STALE;
  });
}

/**
 * Asks the connector what became of an unknown outcome: of each attempt that is unknown, the newest first. Refuses
 * `decision_required` where it can't tell.
 */
export async function reconcile(services: Services, caller: Caller, actionId: string): Promise<Settled> {
  for (let left = LIMITS.attemptsMax; ; left -= 1) {
    const settled = await reconcileNewest(services, caller, actionId);
    if (settled.state !== 'unknown' || left <= 1) return settled;
  }
}

function reconcileNewest(services: Services, caller: Caller, actionId: string): Promise<Settled> {
  return withFreshFacts(services, async () => {
    const loaded = await loadAction(services, actionId);
    const { state, content } = loaded;
    if (state.state === 'launched') throw new Refusal('launched', 'the action is running: wait, or recover it');
    if (state.state !== 'unknown') throw new Refusal('state', `the action is ${state.state}: nothing is unknown`);
    const attempt = state.attempts.findLast(({ outcome }) => outcome === 'unknown') ?? state.attempts.at(-1);
    const operation = await pinnedOperation(services, content);
    if (attempt === undefined || operation.reconcile === undefined) throw undecided('the connector can not tell');
    const ask = operation.reconcile;
    const found = await answerOf(
      async () => (await consult(services, loaded, { attempt }, (call) => ask(call))) ?? UNKNOWN('can_not_tell'),
    );
    if (found.result === 'unknown') throw undecided('the connector can not tell');
    const mayStillArrive = services.clock.now() < attempt.deadline + LIMITS.graceMs;
    if (found.result === 'failed' && mayStillArrive)
      throw undecided('nothing is there yet, and the call may still arrive');
    if ((await services.ledger.read(actionKind, actionId))?.head !== loaded.snapshot.head) throw STALE;
    const settled = await settle(services, actionId, attempt, found, 'reconcile');
    return { ...settled, by: caller.principal };
  });
}

function undecided(what: string): Refusal {
  return new Refusal('decision_required', `the outcome stays unknown: ${what}`, {
    next: 'try again later, or let a person decide',
  });
}

/** Takes an action back before its launch. */
export async function cancel(services: Services, caller: Caller, actionId: string, words?: string): Promise<void> {
  demandWords(words ?? null);
  const state = (await services.ledger.read(actionKind, actionId))?.state;
  if (state === undefined) throw new Refusal('unknown_action', 'there is no such action');
  if (state.content.proposed_by !== caller.principal && caller.session !== true) {
    throw new Refusal('forbidden', 'only its proposer or a person may take it back');
  }
  const via = caller.session === true ? ({ via: 'session' } as const) : {};
  const command: ActionCommand = {
    ...{ do: 'cancel', how: 'withdrawn', by: caller.principal },
    words: words ?? null,
    ...via,
  };
  await commitCommand(services, caller.principal, actionId, command);
}
