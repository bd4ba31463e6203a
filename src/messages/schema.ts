/**
 * The shape of a message: natural language inside metadata that a machine can check. Types and names alone; what
 * makes a message valid stands in `validate.ts`, its one byte form in `canonical.ts`.
 *
 * An optional field that is empty, zero or false means the same as one that is absent, and has the same bytes.
 * Source: spec messages (canonical bytes), the envelope package that it documents.
 */

/** The only version of the schema. */
export const MESSAGE_VERSION = 'v1';

/** What a message does. */
export const INTENTS = ['assert', 'query', 'request', 'challenge', 'retract', 'escalate'] as const;
export type Intent = (typeof INTENTS)[number];

/** How the sender knows what it says. Self-reported; `verified` has to name its source and evidence. */
export const EPISTEMICS = ['verified', 'inferred', 'assumed', 'untrusted-input'] as const;
export type Epistemic = (typeof EPISTEMICS)[number];

/** Set, to `true`, on a message whose text held fields that this version does not know. It is no part of the bytes. */
export const UNKNOWN_FIELDS: unique symbol = Symbol('unknown fields');

/** Where a payload comes from. */
export type Provenance = {
  /** Such as `tool:grep`, `model:self`, `engine:gate`. */
  readonly source: string;
  /** The hops, oldest first. */
  readonly chain?: readonly string[];
  /** Content addresses of what backs the payload. */
  readonly evidence?: readonly string[];
};

/** One message, by the names of the wire. The fields stand in the order of their bytes. */
export type Message = {
  readonly version: string;
  /** Unique within its thread. */
  readonly id: string;
  /** A standing group in which the thread lives. */
  readonly room?: string;
  readonly thread_id: string;
  /** Recipients; none = everybody in the room. */
  readonly to?: readonly string[];
  /** Id of the message that this one answers; `challenge` and `retract` need it. */
  readonly in_reply_to?: string;
  readonly intent: Intent;
  readonly epistemic: Epistemic;
  /** Self-reported, 0 to 1. */
  readonly confidence: number;
  /** Content addresses of what is shared with the recipients. */
  readonly context_refs?: readonly string[];
  /** Hash of the thread's message before this one. */
  readonly prev_hash?: string;
  readonly provenance: Provenance;
  /** How many hops it may be relayed; 0 = no limit. */
  readonly max_hops?: number;
  /** How many tokens the reply may cost; 0 = no limit. */
  readonly cost_budget?: number;
  readonly ack_required?: boolean;
  /** What is said. */
  readonly payload: string;
  /** The Ed25519 public key that signed, 64 hex digits; also who the sender is. */
  readonly signer?: string;
  /** The signature, 128 hex digits. */
  readonly signature?: string;
  readonly [UNKNOWN_FIELDS]?: true;
};
