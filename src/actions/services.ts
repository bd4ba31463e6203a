/**
 * What the gate's services are given: the ledger, the clock, chance, the trust configuration and the doors out.
 * `app` fills it; tests fill it with other clocks and stores.
 */
import type { ProofVerifier } from '../approvals/index.js';
import type { Connector, Log, Preconditions } from '../connectors/index.js';
import {
  type Clock,
  type Failpoint,
  type IdMinter,
  type JsonObject,
  LIMITS,
  type Random,
  Refusal,
  type Timer,
  type Tracing,
} from '../core/index.js';
import type { TokenScope } from '../identity/index.js';
import type { Ledger, RecordRef, View } from '../ledger/index.js';
import type { PolicyEngine, TrustConfig } from '../policy/index.js';
import type { ActionMemo } from './memo.js';

/** The active trust configuration, and the head of its record at which it was read. */
export interface ActiveTrust {
  readonly config: TrustConfig;
  readonly version: string;
  readonly head: string;
}

/** What a work item adds to an action: preconditions of the gate itself, judged again in the commit. */
export interface WorkItemFacts {
  /** Their names begin with `package_`; no connector sees them. */
  readonly preconditions: Preconditions;
  readonly reads: readonly RecordRef[];
  /** Whether they are still those of the records that the commit holds. */
  holds(view: View): boolean;
}

export interface Services {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdMinter;
  readonly proofs: ProofVerifier;
  readonly memo: ActionMemo;
  readonly policy: PolicyEngine;
  readonly failpoint: Failpoint;
  /** Absent: nothing is told. */
  readonly log?: Log;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing;
  trust(): ActiveTrust;
  /** Reads the active configuration anew, after another process changed it. */
  reloadTrust(): Promise<void>;
  connector(name: string): Connector | undefined;
  secret(name: string): Promise<string | undefined>;
  /** What a work item demands of an action with these arguments; absent where work items are words alone. */
  workItem?(workItem: string | null, args: JsonObject): Promise<WorkItemFacts | undefined>;
  /** Why this gate may launch nothing at present; undefined when it may. */
  launchBarrier(): Refusal | undefined;
  /** A timer that rings after some milliseconds: what bounds every wait for somebody else's code. */
  timer(ms: number): Timer;
}

/** Who asks, as the door authenticated it. */
export interface Caller {
  /** `agent:NAME` or `engine:NAME`; a person arises only from a receipt. */
  readonly principal: string;
  /** Whether it may name others on whose behalf it asks. */
  readonly mayActForOthers?: boolean;
  /** Set for a person who is signed in: they read, ask and take back, and sign for everything else. */
  readonly session?: true;
  /** What its token lets it ask for; absent for a process of the store's owner. */
  readonly scope?: TokenScope;
  /** The person who changed the action that this caller had proposed. */
  readonly editedBy?: string;
}

/** What `decide` answers when a fact was computed from a record that changed since: the caller starts again. */
export const STALE = new Refusal('busy', 'the record changed meanwhile');

/** What `decide` answers when this process has an older trust configuration than the ledger. */
export const STALE_TRUST = new Refusal('busy', 'the trust configuration changed meanwhile');

/**
 * Why nothing is launched by a clock that was set back: the other side's time went on, and with it what it still knows
 * of earlier calls.
 * INVARIANT: a clock that stands before the log launches nothing (actions.launch.clock).
 */
export function clockBarrier({ behindMs }: View): Refusal | undefined {
  if (behindMs <= LIMITS.clockBehindMsMax) return undefined;
  const next = 'set the clock; it may also have run ahead before: see docs/explanation/time.md';
  return new Refusal('busy', 'the clock stands before the last event of the ledger', { next });
}

/** Runs work that commits on facts, again when the facts were stale, at most three times. */
export async function withFreshFacts<T>(services: Services, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const stale = error === STALE || error === STALE_TRUST;
      if (!stale) throw error;
      if (attempt >= LIMITS.commitAttemptsMax) throw new Refusal('busy', 'other callers changed the same record first');
      if (error === STALE_TRUST) await services.reloadTrust();
    }
  }
}
