/**
 * An action read for a decision: its events checked again, its arguments re-hashed, digest, binding and effect
 * recomputed from what is stored, and the code that will run compared with the code that was approved.
 *
 * INVARIANT: what is shown = what is signed = what is stored = what is launched (actions.load.recomputed).
 */

import type { Call, Operation, Preview, SummaryLine } from '../connectors/index.js';
import {
  beforeRing,
  contentRef,
  Fault,
  type Json,
  type JsonObject,
  parseTrusted,
  Refusal,
  utf8Decode,
} from '../core/index.js';
import { LEDGER_RECORD, type LedgerState, ledgerKind } from '../identity/index.js';
import type { Snapshot } from '../ledger/index.js';
import { actionBinding, actionDigest, effectDigest } from './content.js';
import { actionKind } from './evolve.js';
import { type Summary, summaryOf } from './render.js';
import type { ActionContent, ActionState, Attempt } from './schema.js';
import type { Services } from './services.js';

export interface LoadedAction {
  readonly snapshot: Snapshot<ActionState>;
  readonly state: ActionState;
  readonly content: ActionContent;
  readonly argsText: string;
  readonly args: JsonObject;
  readonly ledger: LedgerState;
}

/** Refuses `unknown_action` and `binding_changed`; faults `corrupt`. */
export async function loadAction(services: Services, actionId: string): Promise<LoadedAction> {
  const snapshot = await services.ledger.readVerified(actionKind, actionId);
  if (snapshot === undefined) throw new Refusal('unknown_action', 'there is no such action');
  const { content } = snapshot.state;
  const ledger = await readLedger(services);
  if (content.action_id !== actionId || content.ledger_id !== ledger.ledger_id) throw changed();
  const argsText = RECOMPUTED.get(content) ?? (await recompute(services, content));
  return { snapshot, state: snapshot.state, content, argsText, args: parseTrusted(argsText) as JsonObject, ledger };
}

/**
 * The arguments of contents that were recomputed. A verified read answers another object whenever anybody else may have
 * changed the store since, so that a content is recomputed after every such change, and once where there was none.
 */
const RECOMPUTED = new WeakMap<ActionContent, string>();

async function recompute(services: Services, content: ActionContent): Promise<string> {
  const bytes = await services.ledger.payload({ kind: 'action', id: content.action_id }, 0, content.args_ref);
  const argsText = bytes === undefined ? undefined : utf8Decode(bytes);
  if (argsText === undefined) throw new Refusal('binding_changed', 'the arguments of the action are gone');
  const { binding: _, ...unbound } = content;
  const same =
    actionDigest(content, argsText) === content.digest &&
    effectDigest(content, argsText) === content.effect &&
    actionBinding(unbound) === content.binding;
  if (!same) throw changed();
  RECOMPUTED.set(content, argsText);
  return argsText;
}

function changed(): Refusal {
  return new Refusal('binding_changed', 'the stored action is not the one that was proposed');
}

async function readLedger(services: Services): Promise<LedgerState> {
  const snapshot = await services.ledger.readVerified(ledgerKind, LEDGER_RECORD.id);
  if (snapshot === undefined) throw new Refusal('not_initialized', 'the ledger was never set up');
  return snapshot.state;
}

/** The operation that the action names, as it is now. Refuses `connector`, `operation`. */
export async function findOperation(services: Services, connector: string, operation: string): Promise<Operation> {
  const found = services.connector(connector);
  if (found === undefined) throw new Refusal('connector', 'no such connector is configured');
  const known = await inTime(services, () => found.operation(operation));
  if (known === undefined) throw new Refusal('operation', 'the connector has no such operation');
  return known;
}

/** As `findOperation`, and it is still the code that was approved. */
export async function pinnedOperation(services: Services, content: ActionContent): Promise<Operation> {
  const operation = await findOperation(services, content.connector, content.operation);
  if (operation.digest !== content.operation_digest) {
    throw new Refusal('binding_changed', 'the code that would run is not the one that was approved');
  }
  return operation;
}

/** What a summary was made of, each of it immutable. */
interface Summarized {
  readonly ledger: LedgerState;
  readonly attempts: ActionState['attempts'];
  readonly operation: Operation;
  readonly summary: Summary;
}

const SUMMARIZED = new WeakMap<ActionContent, Summarized>();

/** The summary of an action as its operation in this process renders it. */
export function summarize(loaded: LoadedAction, services: Services, operation: Operation): Summary {
  const { content, ledger, state } = loaded;
  const known = SUMMARIZED.get(content);
  if (known?.ledger === ledger && known.attempts === state.attempts && known.operation === operation) {
    return known.summary;
  }
  const own = operation.summary(callFor(services, loaded, {}));
  const summary = summaryOf(ledger, state, loaded.argsText, own);
  SUMMARIZED.set(content, { ledger, attempts: state.attempts, operation, summary });
  return summary;
}

/**
 * The summary as a person would sign it now. Where the operation lives in another process, with the lines that
 * were kept
 * with the proposal: the process that launches it renders them again, and refuses when they differ.
 */
export async function currentSummary(services: Services, loaded: LoadedAction): Promise<Summary> {
  const { content } = loaded;
  const kept = content.own_lines_ref;
  if (kept === null || (await isHere(services, content))) {
    return summarize(loaded, services, await pinnedOperation(services, content));
  }
  const bytes = await services.ledger.payload({ kind: 'action', id: content.action_id }, 0, kept);
  const text = bytes === undefined ? undefined : utf8Decode(bytes);
  if (text === undefined) throw new Refusal('binding_changed', 'the lines of the action are gone');
  return summaryOf(loaded.ledger, loaded.state, loaded.argsText, parseTrusted(text) as unknown as SummaryLine[]);
}

/** Whether this process has the operation that the action names. */
async function isHere(services: Services, { connector, operation }: ActionContent): Promise<boolean> {
  return (await inTime(services, () => services.connector(connector)?.operation(operation))) !== undefined;
}

/** The connector's own view of the change, made from what the preconditions name. */
export async function previewAction(services: Services, actionId: string): Promise<Preview | undefined> {
  const loaded = await loadAction(services, actionId);
  const { content } = loaded;
  const isElsewhere = content.own_lines_ref !== null;
  if (isElsewhere && !(await isHere(services, content))) {
    return undefined;
  }
  const operation = await pinnedOperation(services, content);
  return consult(services, loaded, {}, (call) => operation.preview?.(call));
}

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
    ...(preconditions === null ? {} : { preconditions }),
    ...(attempt === undefined ? {} : { prepared: attempt.prepared }),
    content: async (ref) =>
      fresh?.get(ref) ?? (await services.ledger.payload({ kind: 'action', id: action_id }, 0, ref)),
    secret: (name) => services.secret(name),
    deadline: attempt?.deadline ?? services.clock.now() + SNAPSHOT_MS_MAX,
    get signal() {
      return stop.signal;
    },
    idempotencyKey: action_id,
  };
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
 * Asks a connector about a call, without an effect; undefined where it has nothing to ask. A Fault where no answer comes
 * in time.
 */
export async function consult<T>(
  services: Services,
  subject: CallSubject,
  extras: CallExtras,
  ask: (call: Call) => Promise<T> | undefined,
): Promise<T | undefined> {
  const stop = new Stop();
  try {
    return await inTime(services, () => ask(callFor(services, subject, { ...extras, stop })));
  } finally {
    stop.end();
  }
}

async function inTime<T>(services: Services, ask: () => Promise<T> | undefined): Promise<T | undefined> {
  const asked = ask();
  if (asked === undefined) return undefined;
  const came = await beforeRing(services.timer(SNAPSHOT_MS_MAX), asked);
  if (came === undefined) throw new Fault('internal', 'the connector did not answer in time');
  return came.answer;
}

/** The payload of content that comes with a proposal. */
export function contentPayload(bytes: Uint8Array): { ref: string; bytes: Uint8Array } {
  return { ref: contentRef(bytes), bytes };
}
