/**
 * What a program hands over to be a worker, read once: its operations with their schemas, and how much it runs at once.
 * Refuses `invalid`, with the name of what is none.
 */
import * as z from 'zod';
import { type Json, LIMITS, PATTERNS, parseTrusted, Refusal } from '../core/index.js';
import type { WorkDone } from './worker-job.js';

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

export interface WorkOperation<Input> {
  /** As the configuration of the gate declares it. */
  readonly version: string;
  /** A schema of zod that describes what the configuration declares, member by member. */
  readonly input: z.ZodType<Input>;
  /** Does it, once. What it answers is kept as the action's evidence. */
  readonly run: (args: Input, context: WorkContext) => Promise<Json | undefined>;
  readonly noEffectIf?: (error: unknown) => boolean;
  /** What became of a call under this key; undefined when it can't be told. */
  readonly reconcile?: (args: Input, idempotencyKey: string) => Promise<'confirmed' | 'failed' | undefined>;
}

export interface WorkerOptions<Inputs extends Readonly<Record<string, unknown>>> {
  /** By their names in the configuration. */
  readonly operations: { readonly [Name in keyof Inputs]: WorkOperation<Inputs[Name]> };
  /** Calls at once; 1 when absent. */
  readonly atOnce?: number;
  /** Called after each call. What it throws is ignored. */
  readonly onDone?: (done: WorkDone) => void;
}

export type AnyOperation = WorkOperation<unknown>;

export interface ReadWorker {
  readonly operations: ReadonlyMap<string, AnyOperation>;
  readonly described: { name: string; version: string; schema: never }[];
  readonly atOnce: number;
  onDone(done: WorkDone): void;
}

export function readWorker(given: unknown): ReadWorker {
  const { operations, atOnce = 1, onDone } = membersOf(given, 'a worker has operations', 'operations');
  const named = Object.entries(membersOf(operations, 'a worker has operations', 'operations'));
  if (named.length === 0 || named.length > LIMITS.workerOperationsMax) throw invalid('it has 1 to 64', 'operations');
  if (!Number.isSafeInteger(atOnce) || Number(atOnce) < 1 || Number(atOnce) > LIMITS.workerCallsMax) {
    throw invalid('a worker runs 1 to 64 calls at once', 'atOnce');
  }
  if (onDone !== undefined && typeof onDone !== 'function') throw invalid('`onDone` is a function', 'onDone');
  const read = named.map(([name, one]) => [name, readOperation(name, one)] as const);
  return {
    operations: new Map(read),
    described: read.map(([name, { version, input }]) => ({ name, version, schema: schemaOf(input) as never })),
    atOnce: Number(atOnce),
    onDone: (done) => {
      try {
        onDone?.(done);
      } catch {
        // What a program does with the news is its own.
      }
    },
  };
}

function readOperation(name: string, given: unknown): AnyOperation {
  const { version, input, run, noEffectIf, reconcile } = membersOf(given, 'an operation is an object', 'operations');
  if (!PATTERNS.operation.test(name)) throw invalid('an operation has a name', 'operations');
  if (typeof version !== 'string' || !/^[!-~]{1,64}$/.test(version)) {
    throw invalid('a version is a text without spaces', 'version');
  }
  if (typeof run !== 'function') throw invalid('`run` is a function', 'run');
  for (const [path, value] of Object.entries({ noEffectIf, reconcile })) {
    if (value !== undefined && typeof value !== 'function') throw invalid(`\`${path}\` is a function`, path);
  }
  return { version, input, run, noEffectIf, reconcile } as AnyOperation;
}

function schemaOf(input: z.ZodType): Json {
  try {
    return parseTrusted(JSON.stringify(z.toJSONSchema(input)));
  } catch {
    throw invalid('the input is a schema of zod that JSON Schema can describe', 'input');
  }
}

function membersOf(given: unknown, words: string, path: string): Readonly<Record<string, unknown>> {
  try {
    if (typeof given === 'object' && given !== null) return { ...given };
  } catch {
    // Told below.
  }
  throw invalid(words, path);
}

function invalid(words: string, path: string): Refusal {
  return new Refusal('invalid', words, { path });
}
