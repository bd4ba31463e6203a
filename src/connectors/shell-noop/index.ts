/**
 * `shell-noop`: every operation writes one file, `<dir>/<action id>.json`. For tests, demonstrations and rehearsals.
 *
 * It promises: one effect for an action, whatever happens and however often it is called; `failed` only where the file
 * was not made and will not be. The file holds what came through the gate, so that it can be compared with what was
 * signed. `reconcile` says `failed` when the file is absent: that is certain because the gate asks only after the
 * deadline and its grace, and `execute` asks for the deadline and the signal directly before it links. A process that
 * is stopped for longer than the grace between these two steps is the one case that remains.
 * The target is the operand itself. Where the arguments name an account, or money, these are the action's facts.
 * Source: spec actions (connectors).
 */
import { access, constants, stat } from 'node:fs/promises';
import type { ZodType } from 'zod';
import { canonicalize, Fault, isActionId, type Json } from '../../core/index.js';
import type { Call, Connector, Dedupe, Facts, Operation, Outcome, Problem, SummaryLine } from '../connector.js';
import { lazyDigest, mayBegin, parseArgs } from '../operation.js';
import { readEffect, writeOnce } from './effect-file.js';
import { argsOf, type NoopArgs, OPERATIONS, type OperationName } from './schema.js';

export { shellNoopConfig } from './schema.js';

/** Milliseconds that a call may take. */
const TIMEOUT_MS = 10_000;
const DEDUPE: Dedupe = { windowMs: 'forever', comparesBody: true, cachesErrors: false };

export interface ShellNoopOptions {
  /** The folder of the effects, by its absolute path. It must exist. */
  readonly dir: string;
  /** Part of every operation's digest. */
  readonly codeVersion?: string;
  /** Wall time in milliseconds since the epoch. */
  readonly now?: () => number;
}

export function shellNoop(options: ShellNoopOptions): Connector {
  const names = Object.keys(OPERATIONS) as OperationName[];
  const operations = new Map<string, Operation>(names.map((name) => [name, noopOperation(name, options)]));
  return {
    name: 'shell-noop',
    operations: names,
    operation: async (name) => operations.get(name),
    check: () => check(options.dir),
  };
}

async function check(dir: string): Promise<readonly Problem[]> {
  try {
    if (!(await stat(dir)).isDirectory()) throw new Error('it is a file');
    await access(dir, constants.W_OK | constants.X_OK);
    return [];
  } catch {
    return [{ found: 'its folder is not there, or can not be written', next: `make the folder \`${dir}\`` }];
  }
}

function noopOperation(name: OperationName, options: ShellNoopOptions): Operation {
  const schema = argsOf(name);
  const { codeVersion = '1' } = options;
  const digest = lazyDigest({ connector: 'shell-noop', codeVersion, operation: name, args: schema });
  return {
    get digest() {
      return digest();
    },
    args: schema,
    timeoutMs: TIMEOUT_MS,
    dedupe: DEDUPE,
    classify: () => OPERATIONS[name],
    facts: (args) => factsOf(parseArgs(schema, args)),
    summary: (call) => summaryOf(parseArgs(schema, call.args)),
    execute: (call) => execute(call, schema, options),
    reconcile: (call) => reconcile(call, options),
  };
}

function factsOf(args: NoopArgs): Facts {
  const { account, amount, currency } = args;
  return {
    ...(account === undefined ? {} : { target: account }),
    ...(amount === undefined || currency === undefined ? {} : { amount: { amount, currency } }),
  };
}

function summaryOf(args: NoopArgs): SummaryLine[] {
  const lines: SummaryLine[] = [];
  if (args.text !== undefined) lines.push({ name: 'text', value: args.text });
  if (args.account !== undefined) lines.push({ name: 'account', value: args.account });
  if (args.amount !== undefined) lines.push({ name: 'amount in minor units', value: String(args.amount) });
  if (args.currency !== undefined) lines.push({ name: 'currency', value: args.currency });
  if (args.simulate !== undefined) lines.push({ name: 'simulate', value: args.simulate });
  return lines;
}

/** What the file holds: the call without its attempt, which is another one when the call is repeated. */
function bodyOf(call: Call): string {
  const body: Json = {
    action_id: call.idempotencyKey,
    project: call.project,
    operation: call.operation,
    target: call.target,
    args: call.args,
    amount: call.amount?.amount ?? null,
    currency: call.amount?.currency ?? null,
  };
  return `${canonicalize(body)}\n`;
}

/** The effect's name; undefined for a key that is no action id, since it could name any file. */
function fileOf(call: Call): string | undefined {
  return isActionId(call.idempotencyKey) ? `${call.idempotencyKey}.json` : undefined;
}

async function execute(call: Call, schema: ZodType<NoopArgs>, options: ShellNoopOptions): Promise<Outcome> {
  const now = options.now ?? Date.now;
  const parsed = schema.safeParse(call.args);
  const file = fileOf(call);
  if (!parsed.success || file === undefined) return { result: 'failed', code: 'invalid' };
  const args = parsed.data;
  if (args.simulate === 'fail') return { result: 'failed', code: 'simulated' };
  if (!mayBegin(call, now())) return { result: 'failed', code: 'too_late' };
  if (args.simulate === 'hang') {
    await untilCalledOff(call, now());
    return { result: 'unknown', code: 'aborted' };
  }
  const written = await writeOnce(options.dir, file, bodyOf(call), () => mayBegin(call, now()));
  if (written === 'too_late' || written === 'unwritable') return { result: 'failed', code: written };
  if (written === 'other') return { result: 'failed', code: 'body_differs' };
  if (args.simulate === 'lose-response') throw new Fault('internal', 'the answer was lost, as asked');
  return { result: 'confirmed', externalRef: file, evidence: { file, repeated: written === 'same' } };
}

async function reconcile(call: Call, options: ShellNoopOptions): Promise<Outcome | undefined> {
  const file = fileOf(call);
  const effect = file === undefined ? undefined : await readEffect(options.dir, file);
  if (file === undefined || effect === undefined) return undefined;
  if (effect === 'absent') return { result: 'failed', code: 'no_effect' };
  // Another text under this name can't come from this action, whose arguments never change.
  if (effect.text !== bodyOf(call)) return undefined;
  return { result: 'confirmed', externalRef: file, evidence: { file } };
}

/** Resolves when the signal aborts, and at the deadline at the latest. */
function untilCalledOff(call: Call, now: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      call.signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(Math.max(0, call.deadline - now), 2 ** 31 - 1));
    call.signal.addEventListener('abort', done, { once: true });
  });
}
