/**
 * `gate.tool`: a function of the application that runs only through the gate. The arguments that are signed are the
 * schema's output in canonical form, and the function gets a frozen copy of exactly the stored bytes.
 * Source: spec doors (embedding), actions (connectors: tool).
 */
import { type ActionState, evidenceOf, type Settled } from '../actions/index.js';
import type { Operation } from '../connectors/index.js';
import { defectClause, defectIn, Fault, type Json, type JsonObject, Refusal } from '../core/index.js';
import { atBorder } from './border.js';
import type { Gate } from './gate.js';
import type { ToolConnector } from './tool-connector.js';
import { readDefinition, type ToolDefinition, toolOperation } from './tool-definition.js';

export type ToolResult =
  | { readonly status: 'done'; readonly action_id: string; readonly result: Json }
  | { readonly status: 'pending'; readonly action_id: string; readonly next: string }
  | { readonly status: 'denied'; readonly action_id: string; readonly words: string | null }
  | { readonly status: 'changes_requested'; readonly action_id: string; readonly words: string | null }
  | { readonly status: 'expired'; readonly action_id: string }
  | { readonly status: 'cancelled'; readonly action_id: string }
  | { readonly status: 'failed'; readonly action_id: string; readonly code: string | null }
  | { readonly status: 'unknown'; readonly action_id: string };

export interface GateTool<Input> {
  readonly name: string;
  /** Asks, and runs where policy allows it; else pending. */
  call(args: Input, options?: { readonly idempotencyKey?: string }): Promise<ToolResult>;
  /** Goes on with a pending action: runs it once it is approved, waiting for at most `waitMs`. */
  resume(actionId: string, options?: { readonly waitMs?: number }): Promise<ToolResult>;
}

/** Refuses `invalid` for what is no definition of a tool, and for a name that another one has. */
export function makeTool<Input>(gate: Gate, tools: ToolConnector, given: ToolDefinition<Input>): GateTool<Input> {
  const { log } = gate.services;
  const definition = readDefinition(given);
  const { name, project, input } = definition;
  const operation = tools.define(name, given, () => toolOperation(definition, log));
  return {
    name,
    call: (args, options = {}) =>
      atBorder(log, { args, options }, async (asked) => {
        const facts = factsFor(input, operation, asked.args);
        const { idempotencyKey } = asked.options;
        const { proposed, settled } = await gate.proposeAndLaunch({
          project,
          connector: tools.name,
          operation: name,
          target: facts?.target ?? name,
          args: asked.args as JsonObject,
          ...(facts?.amount ?? {}),
          ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
        });
        if (settled !== undefined) return resultOf(settled);
        return goOn(gate, proposed.action_id, await gate.show(proposed.action_id));
      }),
    resume: (actionId, options = {}) =>
      atBorder(log, { actionId, options }, async (asked) => {
        const isDecided = (state: ActionState) => state.state !== 'proposed';
        const { content } = await gate.show(asked.actionId);
        if (content.connector !== tools.name || content.operation !== name) {
          throw new Refusal('unknown_action', 'this is no action of the tool');
        }
        const state = await gate.wait(asked.actionId, isDecided, asked.options.waitMs ?? 1);
        return goOn(gate, asked.actionId, state);
      }),
  };
}

/** Runs what is approved; tells everything else as it is. */
async function goOn(gate: Gate, action_id: string, state: ActionState): Promise<ToolResult> {
  const attempt = state.attempts.at(-1);
  if (isOver(state, gate.services.clock.now())) return { status: 'expired', action_id };
  switch (state.state) {
    case 'proposed':
    case 'launched':
      return { status: 'pending', action_id, next: `countersign action request ${action_id}` };
    case 'approved':
      return resultOf(await gate.execute(action_id));
    case 'confirmed':
      return { status: 'done', action_id, result: await resultAt(gate, action_id, attempt?.evidence_ref ?? null) };
    case 'failed':
      return { status: 'failed', action_id, code: attempt?.code ?? null };
    case 'unknown':
      return { status: 'unknown', action_id };
    case 'cancelled': {
      const how = state.closed?.how;
      if (how === 'expired') return { status: 'expired', action_id };
      if (how === 'withdrawn' || how === 'superseded' || how === undefined) return { status: 'cancelled', action_id };
      return { status: how, action_id, words: state.closed?.words ?? null };
    }
  }
}

/** Whether its time has passed, noticed or not. */
function isOver(state: ActionState, now: number): boolean {
  if (state.state === 'proposed') return now >= state.content.approve_by;
  return state.state === 'approved' && now >= (state.launch_by ?? 0);
}

/** Target and amount as the arguments say. Refuses `invalid` for arguments that the tool does not take. */
function factsFor<Input>(input: ToolDefinition<Input>['input'], operation: Operation, args: Input) {
  const parsed = parsedBy(input, args);
  if (parsed.success) {
    try {
      return operation.facts?.(parsed.data as JsonObject);
    } catch (error) {
      if (error instanceof Refusal) throw error;
      throw new Fault('internal', 'the tool could not say what its arguments affect', error);
    }
  }
  const defect = defectIn(parsed.error.issues, args);
  throw new Refusal('invalid', defectClause(defect, ['args']), { path: ['args', ...defect.path].join('.') });
}

/** What a schema throws of itself is a refusal as well. */
function parsedBy<Input>(input: ToolDefinition<Input>['input'], args: Input) {
  try {
    return input.safeParse(args);
  } catch {
    throw new Refusal('invalid', 'the arguments can not be read', { path: 'args' });
  }
}

async function resultAt(gate: Gate, actionId: string, ref: string | null): Promise<Json> {
  return resultIn((await evidenceOf(gate.ledger, actionId, ref)) ?? null);
}

function resultOf(settled: Settled): ToolResult {
  const { action_id, code } = settled;
  switch (settled.state) {
    case 'confirmed':
      return { status: 'done', action_id, result: resultIn(settled.evidence) };
    case 'failed':
      return { status: 'failed', action_id, code };
    case 'unknown':
      return { status: 'unknown', action_id };
  }
}

function resultIn(evidence: Json): Json {
  return typeof evidence === 'object' && evidence !== null ? ((evidence as JsonObject).result ?? null) : null;
}
