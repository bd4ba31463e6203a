/**
 * A connector is a door out: it carries one launched action to the world and says, as certainly as it can, what
 * happened.
 *
 * It promises: `classify`, `facts` and `summary` are pure; `snapshot`, `preview` and `prepare` have no effect;
 * `execute` is called at most once per attempt and answers `confirmed` or `failed` only where it is certain, else
 * `unknown`.
 * It refuses nothing by itself but bad arguments: who may do what is the gate's to decide.
 * Source: spec actions (connectors).
 */
import type { ZodType } from 'zod';
import type { ActionClass, Json } from '../core/index.js';

export type { ActionClass };

export interface Amount {
  /** Minor units: 0 to 2^53 - 1. */
  readonly amount: number;
  /** ISO 4217, three capital letters. */
  readonly currency: string;
}

/**
 * What the arguments themselves say; a proposal that differs is refused. Without a target here, the proposal's
 * target is itself the operand: the connector acts on that and on nothing else.
 */
export interface Facts {
  readonly target?: string;
  readonly amount?: Amount;
}

/** One line of a summary: a name of at most 32 lower-case letters, digits and spaces, and a value in any text. */
export interface SummaryLine {
  readonly name: string;
  readonly value: string;
}

/** Facts of the outside world that must still hold at launch: a head SHA, a price, a preview's digest. */
export type Preconditions = Readonly<Record<string, string>>;

/** The connector's own view of what will change, made from content that the preconditions name, never a live name. */
export interface Preview {
  readonly mediaType: 'text/x-diff' | 'text/plain' | 'application/json';
  readonly text: string;
}

/** What an operation may look at before a launch. `prepared` exists once `prepare` ran. */
export interface Call {
  readonly actionId: string;
  /** 1 for the first launch of the action; 0 before any launch. */
  readonly attempt: number;
  readonly project: string;
  readonly operation: string;
  readonly target: string;
  readonly args: Readonly<Record<string, Json>>;
  /** The canonical bytes of `args`, exactly as they were signed. */
  readonly argsText: string;
  readonly amount?: Amount;
  readonly preconditions?: Preconditions;
  readonly prepared?: Json;
  /** Content by its address `sha256:…`; undefined when the gate does not hold it. */
  content(ref: string): Promise<Uint8Array | undefined>;
  /** A secret by its name; undefined when none is configured under it. */
  secret(name: string): Promise<string | undefined>;
  /** Milliseconds since the epoch after which the answer no longer counts as certain. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  /** The action id: the same for every attempt. */
  readonly idempotencyKey: string;
  /** The span that the call is in, for whoever is asked to go on with; undefined where nothing is traced. */
  readonly traceparent?: string | undefined;
}

/** What became of a call. `failed` means: certainly no effect, and none can follow. */
export interface Outcome {
  readonly result: 'confirmed' | 'failed' | 'unknown';
  /** A short word for a program, such as `not_mergeable`. */
  readonly code?: string;
  /** The name of the effect outside: a commit, a payment. */
  readonly externalRef?: string;
  /** Small facts that support the result. Kept as the action's evidence. */
  readonly evidence?: Json;
}

/** Whether a repeated call under the same idempotency key has no second effect. Outside the window: as `none`. */
export type Dedupe =
  | 'none'
  | { readonly windowMs: number | 'forever'; readonly comparesBody: boolean; readonly cachesErrors: boolean };

export interface Operation {
  /** Pins what will run: `sha256:…` over the connector's name and code version, the operation and its schema. */
  readonly digest: string;
  /** The closed schema of the arguments. */
  readonly args: ZodType;
  readonly timeoutMs: number;
  /**
   * Set where the operation exists in one process alone: its lines are kept with the proposal, so that a person
   * reads and
   * signs them elsewhere. The launch renders them again, and refuses when they differ.
   */
  readonly inProcess?: true;
  readonly dedupe: Dedupe;
  /** What keeps it from being launched in this process at present, whatever its arguments. */
  lacks?(project: string): Problem | undefined;
  /** The floor of the class for these arguments. */
  classify(args: Readonly<Record<string, Json>>): ActionClass;
  facts?(args: Readonly<Record<string, Json>>): Facts;
  /** The operation's own lines, from typed fields only. */
  summary(call: Call): readonly SummaryLine[];
  snapshot?(call: Call): Promise<Preconditions>;
  preview?(call: Call): Promise<Preview>;
  /** Before the launch's commit, without an effect; kept in the attempt and given to `execute` and `reconcile`. */
  prepare?(call: Call): Promise<Json>;
  execute(call: Call): Promise<Outcome>;
  /** Asks the world what became of the call; undefined when it can't tell. `failed` only where no effect can follow. */
  reconcile?(call: Call): Promise<Outcome | undefined>;
}

/** From what has to be looked at to what only helps to search. */
export type LogLevel = 'error' | 'warn' | 'debug';

/** Where the gate and its connectors tell what no caller is told, such as the cause of a fault. It never throws. */
export interface Log {
  /** One line: what happened, in a few words of ours, and what was caught. */
  write(level: LogLevel, what: string, cause?: unknown): void;
}

/** What is not as it has to be, in one clause, and what the operator should do about it. */
export interface Problem {
  readonly found: string;
  readonly next: string;
}

export interface Connector {
  readonly name: string;
  /** The names of all operations, for listings. */
  readonly operations: readonly string[];
  operation(name: string): Promise<Operation | undefined>;
  /**
   * What keeps it from working here; empty when nothing does. Has no effect outside, and never rejects. `secret` finds
   * what a call would be given, where whoever looks can know it.
   */
  check?(secret?: Call['secret']): Promise<readonly Problem[]>;
}
