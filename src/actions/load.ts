/**
 * An action read for a decision: its events checked again, its arguments re-hashed, digest, binding and effect
 * recomputed from what is stored, and the code that will run compared with the code that was approved.
 *
 * INVARIANT: what is shown = what is signed = what is stored = what is launched (actions.load.recomputed).
 */

import type { Operation, Preview, SummaryLine } from '../connectors/index.js';
import { contentRef, frozen, type JsonObject, parseTrusted, Refusal, utf8Decode } from '../core/index.js';
import { LEDGER_RECORD, type LedgerState, ledgerKind } from '../identity/index.js';
import type { Snapshot } from '../ledger/index.js';
import { callFor, consult, inTime } from './consult.js';
import { actionBinding, actionDigest, effectDigest } from './content.js';
import { actionKind } from './evolve.js';
import { type Summary, summaryOf } from './render.js';
import type { ActionContent, ActionState } from './schema.js';
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
  const [snapshot, ledger] = await Promise.all([
    services.ledger.readVerified(actionKind, actionId),
    readLedger(services),
  ]);
  if (snapshot === undefined) throw new Refusal('unknown_action', 'there is no such action');
  const { content } = snapshot.state;
  if (content.action_id !== actionId || content.ledger_id !== ledger.ledger_id) throw changed();
  const argsText = services.memo.argsOf(content) ?? (await recompute(services, content));
  return { snapshot, state: snapshot.state, content, argsText, args: readOnlyArgs(argsText), ledger };
}

/** The arguments as they are handed out: parsed from the very text that is signed, and nobody can change them. */
export function readOnlyArgs(argsText: string): JsonObject {
  return frozen(parseTrusted(argsText) as JsonObject);
}

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
  services.memo.keepArgs(content, argsText);
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

/** The summary of an action as its operation in this process renders it now. */
export function summarize(loaded: LoadedAction, services: Services, operation: Operation): Summary {
  const own = operation.summary(callFor(services, loaded, {}));
  return summaryOf(loaded.ledger, loaded.state, loaded.argsText, own);
}

/** The same, where it was rendered for the same state before: it is shown again, and a launch renders it anew. */
function summarizeOnce(loaded: LoadedAction, services: Services, operation: Operation): Summary {
  const known = services.memo.summaryOf(loaded, operation);
  if (known !== undefined) return known;
  const summary = summarize(loaded, services, operation);
  services.memo.keepSummary(loaded, operation, summary);
  return summary;
}

/**
 * The summary as a person would sign it now. Where the operation lives in another process, with the lines that were
 * kept with the proposal: the process that launches it renders them again, and refuses when they differ.
 */
export async function currentSummary(services: Services, loaded: LoadedAction): Promise<Summary> {
  const { content } = loaded;
  const kept = content.own_lines_ref;
  if (kept === null || (await isHere(services, content))) {
    return summarizeOnce(loaded, services, await pinnedOperation(services, content));
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

/** The payload of content that comes with a proposal. */
export function contentPayload(bytes: Uint8Array): { ref: string; bytes: Uint8Array } {
  return { ref: contentRef(bytes), bytes };
}
