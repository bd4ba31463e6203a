/**
 * `gate.tool`: a function of the application that runs only through the gate. The arguments that are signed are the
 * schema's output in canonical form, and the function gets a frozen copy of exactly the stored bytes.
 *
 * A throw is an unknown outcome, unless it is a `NoEffect` or `noEffectIf` says that nothing can have happened.
 * Source: spec doors (embedding), actions (connectors: tool).
 */
import type { ZodType } from 'zod';
import { type ActionState, CLASSES, type Settled } from '../actions/index.js';
import {
  type ActionClass,
  type Call,
  type Log,
  type Operation,
  type Outcome,
  operationDigest,
} from '../connectors/index.js';
import { Fault, type Json, type JsonObject, LIMITS, PATTERNS, parseTrusted, Refusal } from '../core/index.js';
import type { Gate } from './gate.js';
import type { ToolConnector } from './tool-connector.js';

/** Thrown by a tool that certainly had no effect: the action fails instead of becoming unknown. */
export class NoEffect extends Error {
  override readonly name = 'NoEffect';
}

export interface ToolContext {
  /** The action id: the same for every attempt. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

export interface ToolDefinition<Input> {
  /** 1 to 128 of `[A-Za-z0-9._:/-]`. */
  readonly name: string;
  /** Changes whenever the code does: an action approved for another version is not run. */
  readonly version: string;
  readonly project?: string;
  readonly input: ZodType<Input>;
  /** Irreversible when absent. */
  readonly risk?: ActionClass;
  /** The account or object affected; the tool's name when absent. */
  readonly target?: (args: Input) => string;
  readonly amount?: (args: Input) => { readonly amount: number; readonly currency: string };
  /** Lines for the person who signs, from the arguments alone. */
  readonly summary?: (args: Input) => Readonly<Record<string, string>>;
  readonly preview?: (args: Input) => Promise<string>;
  readonly execute: (args: Input, context: ToolContext) => Promise<Json | undefined>;
  readonly noEffectIf?: (error: unknown) => boolean;
  /** What became of a call under this key; undefined when it can't be told. */
  readonly reconcile?: (args: Input, idempotencyKey: string) => Promise<'confirmed' | 'failed' | undefined>;
  /** Describes what would undo it, for a person to propose later; kept as evidence. */
  readonly undo?: (args: Input, result: Json) => { readonly tool: string; readonly args: JsonObject };
  /** How long the call may take, in milliseconds; 60,000 when absent. */
  readonly timeoutMs?: number;
}

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

const TIMEOUT_MS = 60_000;

export function makeTool<Input>(gate: Gate, tools: ToolConnector, definition: ToolDefinition<Input>): GateTool<Input> {
  const operation = toolOperation(definition, gate.services.log);
  tools.define(definition.name, operation);
  const { name, project = 'tools' } = definition;
  return {
    name,
    async call(args, options = {}) {
      const facts = factsFor(definition, operation, args);
      const { proposed, settled } = await gate.proposeAndLaunch({
        project,
        connector: tools.name,
        operation: name,
        target: facts?.target ?? name,
        args: args as JsonObject,
        ...(facts?.amount ?? {}),
        ...(options.idempotencyKey === undefined ? {} : { idempotency_key: options.idempotencyKey }),
      });
      if (settled !== undefined) return resultOf(settled);
      return goOn(gate, proposed.action_id, await gate.show(proposed.action_id));
    },
    async resume(actionId, options = {}) {
      const isDecided = (state: ActionState) => state.state !== 'proposed';
      const { content } = await gate.show(actionId);
      if (content.connector !== tools.name || content.operation !== name) {
        throw new Refusal('unknown_action', 'this is no action of the tool');
      }
      const state = await gate.wait(actionId, isDecided, options.waitMs ?? 1);
      return goOn(gate, actionId, state);
    },
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
      return { status: 'done', action_id, result: await evidenceOf(gate, action_id, attempt?.evidence_ref ?? null) };
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
function factsFor<Input>(definition: ToolDefinition<Input>, operation: Operation, args: Input) {
  const parsed = definition.input.safeParse(args);
  if (parsed.success) {
    try {
      return operation.facts?.(parsed.data as JsonObject);
    } catch (error) {
      throw new Fault('internal', 'the tool could not say what its arguments affect', error);
    }
  }
  const path = ['args', ...(parsed.error.issues[0]?.path.map(String) ?? [])].join('.');
  throw new Refusal('invalid', `\`${path}\` is not what the tool takes`, { path });
}

async function evidenceOf(gate: Gate, actionId: string, ref: string | null): Promise<Json> {
  if (ref === null) return null;
  const events = await gate.ledger.events({ kind: 'action', id: actionId });
  const at = events.find((event) => event.payloads.includes(ref));
  const bytes = at && (await gate.ledger.payload(at.record, at.revision, ref));
  return bytes === undefined ? null : resultIn(parseTrusted(new TextDecoder().decode(bytes)));
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

/** The pin of a tool. Refuses `invalid` for a schema that has no description, such as one with a transformation. */
function digestOf<Input>({ name, version, input }: ToolDefinition<Input>): string {
  try {
    return operationDigest({ connector: 'tool', codeVersion: version, operation: name, args: input });
  } catch {
    throw new Refusal('invalid', 'the input of a tool needs a schema that JSON Schema can describe', { path: 'input' });
  }
}

function checkedDefinition<Input>(definition: ToolDefinition<Input>): void {
  const { name, version, project = 'tools', risk = 'irreversible', timeoutMs = TIMEOUT_MS } = definition;
  const named = PATTERNS.operation.test(name) && PATTERNS.project.test(project) && typeof version === 'string';
  if (!named || version === '') throw new Refusal('invalid', 'a tool has a name, a version and a project');
  if (!CLASSES.includes(risk)) throw new Refusal('invalid', 'this is no risk', { path: 'risk' });
  if (Number.isSafeInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= LIMITS.callMsMax) return;
  throw new Refusal('invalid', 'a call takes a whole number of milliseconds, a day at most', { path: 'timeoutMs' });
}

function toolOperation<Input>(definition: ToolDefinition<Input>, log: Log | undefined): Operation {
  checkedDefinition(definition);
  const { name, input, risk = 'irreversible', reconcile } = definition;
  const typed = (call: Pick<Call, 'argsText'>): Input => freeze(parseTrusted(call.argsText)) as Input;
  return {
    digest: digestOf(definition),
    args: input,
    timeoutMs: definition.timeoutMs ?? TIMEOUT_MS,
    inProcess: true,
    dedupe: 'none',
    classify: () => risk,
    facts: (args) => ({
      target: definition.target?.(args as Input) ?? name,
      ...(definition.amount === undefined ? {} : { amount: definition.amount(args as Input) }),
    }),
    summary: (call) =>
      Object.entries(definition.summary?.(typed(call)) ?? {}).map(([line, value]) => ({ name: line, value })),
    ...(definition.preview === undefined
      ? {}
      : {
          preview: async (call: Call) => ({
            mediaType: 'text/plain' as const,
            text: (await definition.preview?.(typed(call))) ?? '',
          }),
        }),
    execute: (call) => runTool(definition, typed(call), call, log),
    ...(reconcile === undefined
      ? {}
      : {
          async reconcile(call: Call): Promise<Outcome | undefined> {
            const result = await reconcile(typed(call), call.idempotencyKey);
            return result === undefined ? undefined : { result };
          },
        }),
  };
}

/** INVARIANT: only the function itself can say that it had no effect, not what follows it (app.tool.no-effect). */
async function runTool<Input>(
  definition: ToolDefinition<Input>,
  args: Input,
  call: Call,
  log: Log | undefined,
): Promise<Outcome> {
  const { name, noEffectIf, undo } = definition;
  let result: Json;
  try {
    const context = { idempotencyKey: call.idempotencyKey, signal: call.signal };
    result = (await definition.execute(args, context)) ?? null;
  } catch (error) {
    if (error instanceof NoEffect || noEffectIf?.(error) === true) return { result: 'failed', code: 'no_effect' };
    log?.write('warn', `the tool ${name} threw: its outcome is unknown`, error);
    return { result: 'unknown', code: 'exception' };
  }
  const evidence = { result, ...(undo === undefined ? {} : { undo: undo(args, result) as unknown as Json }) };
  return { result: 'confirmed', evidence };
}

/** A copy that the function can't change: it gets what was signed, and nobody after it gets anything else. */
function freeze(value: Json): Json {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value as JsonObject)) freeze(inner);
    Object.freeze(value);
  }
  return value;
}
