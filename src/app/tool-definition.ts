/**
 * The definition of a tool: read once where it is made, and turned into the operation that the gate runs. Its functions
 * are the application's own; what target and amount answer is copied before it is used.
 *
 * A throw of `execute` is an unknown outcome, unless it is a `NoEffect` or `noEffectIf` says that nothing can have
 * happened.
 * Source: spec doors (embedding), actions (connectors: tool).
 */
import * as z from 'zod';
import { type Call, type Facts, type Log, type Operation, type Outcome, operationDigest } from '../connectors/index.js';
import {
  ACTION_CLASSES,
  type ActionClass,
  frozen,
  type Json,
  type JsonObject,
  LIMITS,
  NoEffect,
  PATTERNS,
  parseTrusted,
  plainCopy,
  Refusal,
} from '../core/index.js';

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
  readonly input: z.ZodType<Input>;
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

const TIMEOUT_MS = 60_000;

/** A definition as it was when it was read: with its defaults, and with functions that nobody exchanges. */
export type ReadDefinition<Input> = ToolDefinition<Input> &
  Required<Pick<ToolDefinition<Input>, 'project' | 'risk' | 'timeoutMs'>>;

const FUNCTIONS = ['target', 'amount', 'summary', 'preview', 'execute', 'noEffectIf', 'reconcile', 'undo'] as const;

/** Refuses `invalid` for what is no definition of a tool. */
export function readDefinition<Input>(given: ToolDefinition<Input>): ReadDefinition<Input> {
  const { name, version, project, risk, timeoutMs, input, isSchema, functions } = partsOf(given);
  const plain = [name, version, project].every((text) => typeof text === 'string' && text !== '');
  if (!plain || !PATTERNS.operation.test(name) || !PATTERNS.project.test(project)) {
    throw new Refusal('invalid', 'a tool has a name, a version and a project');
  }
  if (!ACTION_CLASSES.includes(risk)) throw new Refusal('invalid', 'this is no risk', { path: 'risk' });
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > LIMITS.callMsMax) {
    throw new Refusal('invalid', 'a call takes a whole number of milliseconds, a day at most', { path: 'timeoutMs' });
  }
  if (!isSchema) throw new Refusal('invalid', 'the input of a tool is a schema of zod', { path: 'input' });
  const own: Record<string, unknown> = {};
  for (const [path, value] of functions) {
    if (value === undefined && path !== 'execute') continue;
    if (typeof value !== 'function') throw new Refusal('invalid', `\`${path}\` is a function`, { path });
    own[path] = (...args: unknown[]) => Reflect.apply(value, given, args);
  }
  return { name, version, project, risk, timeoutMs, input, ...own } as ReadDefinition<Input>;
}

/** Each part of it, read once. */
function partsOf<Input>(given: ToolDefinition<Input>) {
  try {
    const { name, version, project = 'tools', risk = 'irreversible', timeoutMs = TIMEOUT_MS, input } = given;
    const functions = FUNCTIONS.map((field): readonly [string, unknown] => [field, given[field]]);
    const isSchema = typeof input.safeParse === 'function';
    return { name, version, project, risk, timeoutMs, input, isSchema, functions };
  } catch {
    // Whatever the object throws is its own, and may hold anything.
    throw new Refusal('invalid', 'the definition of a tool can not be read');
  }
}

/** The pin of a tool. Refuses `invalid` for a schema that has no description, such as one with a transformation. */
function digestOf<Input>({ name, version, input }: ToolDefinition<Input>): string {
  try {
    return operationDigest({ connector: 'tool', codeVersion: version, operation: name, args: input });
  } catch {
    throw new Refusal('invalid', 'the input of a tool needs a schema that JSON Schema can describe', { path: 'input' });
  }
}

/** What a tool's own functions say that a call affects. */
const SaidFacts = z.object({
  target: z.string().optional(),
  amount: z.object({ amount: z.number(), currency: z.string() }).optional(),
});

/** Refuses `invalid` for answers that can be no target or amount. */
function factsOf<Input>({ name, target, amount }: ToolDefinition<Input>, args: Input): Facts {
  const said = SaidFacts.safeParse(plainCopy({ target: target?.(args), amount: amount?.(args) }));
  if (!said.success) {
    const path = String(said.error.issues[0]?.path[0] ?? 'target');
    throw new Refusal('invalid', `the tool says no ${path} that could be one`, { path });
  }
  const { data } = said;
  return { target: data.target ?? name, ...(data.amount === undefined ? {} : { amount: data.amount }) };
}

export function toolOperation<Input>(definition: ReadDefinition<Input>, log: Log | undefined): Operation {
  const { input, risk, timeoutMs, summary, preview, reconcile } = definition;
  // A copy that the function can't change: it gets what was signed, and nobody after it gets anything else.
  const typed = (call: Pick<Call, 'argsText'>): Input => frozen(parseTrusted(call.argsText)) as Input;
  return {
    digest: digestOf(definition),
    args: input,
    timeoutMs,
    inProcess: true,
    dedupe: 'none',
    classify: () => risk,
    facts: (args) => factsOf(definition, args as Input),
    summary: (call) => {
      const said = plainCopy(summary?.(typed(call)) ?? {}, { bytesMax: LIMITS.argsBytesMax });
      return Object.entries(said).map(([line, value]) => ({ name: line, value }));
    },
    ...(preview === undefined
      ? {}
      : {
          preview: async (call: Call) => ({
            mediaType: 'text/plain' as const,
            text: (await preview(typed(call))) ?? '',
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
    if (isWithoutEffect(error, noEffectIf)) return { result: 'failed', code: 'no_effect' };
    log?.write('warn', `the tool ${name} threw: its outcome is unknown`, error);
    return { result: 'unknown', code: 'exception' };
  }
  try {
    const told = { result, ...(undo === undefined ? {} : { undo: undo(args, result) as unknown as Json }) };
    return { result: 'confirmed', evidence: plainCopy(told, { bytesMax: LIMITS.contentBytesMax }) };
  } catch (error) {
    log?.write('warn', `the answer of the tool ${name} can not be kept: its outcome is unknown`, error);
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
