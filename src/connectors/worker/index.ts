/**
 * `worker`: runs a function that lives in a process of an application. The operator declares the operation; a worker
 * that is connected here, and registered exactly that declaration, claims the launch and says what happened.
 *
 * It promises: no attempt begins that nobody is there to answer; one worker gets a call, once, and not after its time;
 * what was claimed and is not answered is unknown, what was not claimed certainly had no effect.
 * Source: spec actions (connectors: worker), doors (workers).
 */
import * as z from 'zod';
import { canonicalize, contentRef, isJsonObject, type Json, LIMITS } from '../../core/index.js';
import type { Call, Connector, Facts, Operation, SummaryLine } from '../connector.js';
import { argsOf, lineNameOf } from '../http/fields.js';
import { dedupeOf } from '../http/index.js';
import { lazyDigest, mayBegin, parseArgs } from '../operation.js';
import type { Asked, WorkerDesk } from './desk.js';
import type { Declared, workerConfig } from './schema.js';

export { type Seat, WorkerDesk, type WorkOffer, type WorkWhat } from './desk.js';
export { workerConfig } from './schema.js';

export interface WorkerOptions {
  readonly config: ReturnType<(typeof workerConfig)['parse']>;
  readonly desk: WorkerDesk;
  /** Wall time in milliseconds since the epoch. */
  readonly now: () => number;
}

const CONNECTOR = 'worker';
const CODE_VERSION = '1';

export function workerConnector({ config, desk, now }: WorkerOptions): Connector {
  const operations = new Map(
    Object.entries(config.operations).map(([name, declared]) => [name, operationOf(name, declared, desk, now)]),
  );
  desk.declare(
    new Map(
      Object.entries(config.operations).map(([name, { version }]) => {
        const { args, digest } = operations.get(name) as Operation;
        return [name, { pin: workerPin(version, z.toJSONSchema(args) as Json), digest }];
      }),
    ),
  );
  return {
    name: CONNECTOR,
    operations: [...operations.keys()],
    operation: async (name) => operations.get(name),
  };
}

/** What a worker says of its function, and the declaration of it, in one form: its version and its schema. */
export function workerPin(version: string, schema: Json): string {
  const { $schema: _, ...described } = isJsonObject(schema) ? schema : {};
  const required = Array.isArray(described['required']) ? [...described['required']].map(String).sort() : [];
  return contentRef(canonicalize({ version, schema: { ...described, required } }));
}

type Args = Readonly<Record<string, Json>>;

function operationOf(name: string, declared: Declared, desk: WorkerDesk, now: () => number): Operation {
  const schema = argsOf(declared.args, {
    inSegment: new Set(),
    inQuery: new Set(),
    currency: declared.facts.currency,
  });
  const read = (args: Args) => parseArgs(schema, args) as Args;
  // INVARIANT: another declaration, version or schema is another operation (connectors.worker.pinned).
  const pinned = `${CODE_VERSION} ${contentRef(canonicalize(declared as unknown as Json))}`;
  const digest = lazyDigest({ connector: CONNECTOR, codeVersion: pinned, operation: name, args: schema });
  const asked = (project: string) => ({ project, operation: name, digest: digest() });
  return {
    get digest() {
      return digest();
    },
    args: schema,
    timeoutMs: declared.timeout,
    dedupe: dedupeOf(declared),
    classify: () => declared.class,
    facts: (args) => factsOf(name, declared, read(args)),
    summary: (call) => linesOf(declared, read(call.args)),
    lacks: (project) => desk.lacks(asked(project)),
    // INVARIANT: where nobody is there to answer, nothing is launched (connectors.worker.present).
    prepare: async (call) => {
      desk.reserve(call.actionId, asked(call.project));
      return {};
    },
    execute: async (call) => {
      if (!schema.safeParse(call.args).success) return { result: 'failed', code: 'invalid' };
      if (!mayBegin(call, now())) return { result: 'failed', code: 'too_late' };
      const sendBy = call.deadline - declared.timeout + LIMITS.launchToCallMsMax;
      const answer = await desk.ask({ what: 'run', call, asked: asked(call.project), sendBy, signal: call.signal });
      return answer ?? { result: 'failed', code: 'not_claimed' };
    },
    ...(declared.reconcile ? { reconcile: (call: Call) => whatBecame(call, asked(call.project), desk, now) } : {}),
  };
}

/** What only a worker says that did not ask its function. */
const NOT_ASKED: ReadonlySet<string | undefined> = new Set(['never_called', 'invalid', 'too_late', 'not_claimed']);

/**
 * Asks a worker, where one is connected; undefined where it can't tell.
 * INVARIANT: that nothing was called now tells nothing of what was called then (connectors.worker.asked).
 */
function whatBecame(call: Call, asked: Asked, desk: WorkerDesk, now: () => number) {
  if (desk.lacks(asked) !== undefined) return Promise.resolve(undefined);
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(LIMITS.workerReconcileMsMax)]);
  const deadline = now() + LIMITS.workerReconcileMsMax;
  const question = { ...call, deadline, signal };
  return desk
    .ask({ what: 'reconcile', call: question, asked, sendBy: now() + LIMITS.launchToCallMsMax, signal })
    .then((answer) => (answer?.result === 'unknown' || NOT_ASKED.has(answer?.code) ? undefined : answer));
}

/** An operation without a target of its own is about itself: a rule about a target never misses it. */
function factsOf(name: string, { facts }: Declared, args: Args): Facts {
  const [value, unit] = [args[facts.amount ?? ''], args[facts.currency ?? '']];
  return {
    target: facts.target === undefined ? name : String(args[facts.target]),
    ...(typeof value === 'number' && typeof unit === 'string' ? { amount: { amount: value, currency: unit } } : {}),
  };
}

function linesOf({ version }: Declared, args: Args): readonly SummaryLine[] {
  return [
    { name: 'runs in', value: `a worker of version ${version}` },
    ...Object.entries(args).map(([name, value]) => ({
      name: lineNameOf(name),
      value: typeof value === 'string' ? value : canonicalize(value),
    })),
  ];
}
