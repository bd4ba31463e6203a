/**
 * The trust configuration: what the operator decided about connectors, people and policy. Pure.
 * It is a closed schema: an unknown key is refused, because a misspelt bound would silently be none.
 * Source: spec authority (trust configuration, approval rules), doors (configuration).
 */
import * as z from 'zod';
import {
  ACTION_CLASSES,
  DURATION,
  DURATION_WORDS,
  digest,
  type Json,
  LIMITS,
  PATTERNS,
  parseDuration,
} from '../core/index.js';
import { StoredPolicy, WrittenPolicy } from './rule-schema.js';

/** The one record of kind `config`. */
export const CONFIG_RECORD = { kind: 'config', id: 'trust' } as const;

/** `90s`, `15m`, `24h` or `7d`, as milliseconds. */
const WrittenDuration = z
  .string()
  .regex(DURATION, DURATION_WORDS)
  .transform((text) => parseDuration(text) ?? 0);

/** Milliseconds, as the ledger holds a duration. */
const StoredDuration = z.int().min(1);

const ClassName = z.enum(ACTION_CLASSES);

/** `*` stands for any characters but `/`; a pattern without one is an exact name. */
const Pattern = z.string().min(1).max(LIMITS.targetCharsMax);

const Match = z.strictObject({
  project: Pattern.optional(),
  connector: Pattern.optional(),
  operation: Pattern.optional(),
  target: Pattern.optional(),
  class: z.array(ClassName).min(1).optional(),
});

const GROUP = /^group:[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)/;

/** Ways of signing. */
export const METHODS = ['webauthn', 'ed25519'] as const;

const ruleFields = {
  title: z.string().min(1).max(200),
  match: Match.default({}),
  /** `*` is any confirmed approver, else names such as `human:alice` and `group:finance`. */
  approvers: z
    .array(z.union([z.literal('*'), z.string().regex(PATTERNS.human), z.string().regex(GROUP)]))
    .min(1)
    .max(LIMITS.approversMax),
  /** How many distinct people have to approve. */
  quorum: z.int().min(1).max(LIMITS.quorumMax).default(1),
  methods: z
    .array(z.enum(METHODS))
    .min(1)
    .default([...METHODS]),
  /**
   * Who may not approve: the proposer itself, the person who owns the proposing agent, the person who edited the
   * action.
   */
  separate: z.array(z.enum(['proposer', 'owner', 'editor'])).default(['proposer']),
  /** Whether a software key counts for class costly. */
  software_key_for_costly: z.boolean().default(false),
  /** What follows the last approval: nothing, a launch by whoever still waits for it, or a launch at once. */
  launch: z.enum(['on_execute', 'when_waiting', 'on_approval']).default('when_waiting'),
  /** Who is told when nobody has decided by the due time. */
  escalate_to: z.array(z.string().regex(PATTERNS.human)).max(LIMITS.approversMax).default([]),
};

function ruleWith<Written extends z.ZodType<number>>(duration: Written) {
  return z.strictObject({
    ...ruleFields,
    expires: duration.refine((ms) => ms <= LIMITS.approveWithinMsMax, 'at most 30 days').optional(),
    due: duration.refine((ms) => ms <= LIMITS.approveWithinMsMax, 'at most 30 days').optional(),
    remind: duration.refine((ms) => ms <= LIMITS.approveWithinMsMax, 'at most 30 days').optional(),
    launch_within: duration.refine((ms) => ms <= LIMITS.launchWithinMsMax, 'at most 7 days').optional(),
  });
}

const WrittenRule = ruleWith(WrittenDuration);
const StoredRule = ruleWith(StoredDuration);
export type ApprovalRule = z.infer<typeof StoredRule>;

const Agent = z.strictObject({
  owner: z.string().regex(PATTERNS.human).optional(),
  /** Actions of this agent that may wait for people at once, and that it may ask people for in an hour. */
  pending_max: z.union([z.literal('none'), z.int().min(1).max(LIMITS.pendingMaxMax)]).default(LIMITS.pendingMaxDefault),
  asks_per_hour: z
    .union([z.literal('none'), z.int().min(1).max(LIMITS.asksPerHourMax)])
    .default(LIMITS.asksPerHourDefault),
});
export type AgentSettings = z.infer<typeof Agent>;

const configFields = {
  version: z.literal(1),
  /** The name of the ledger, in every summary. */
  name: z.string().min(1).max(64),
  mode: z.literal('enforce'),
  /** Agents that the owner of the store may speak as, by the name behind `agent:`. */
  agents: z.record(z.string().regex(PATTERNS.name), Agent.prefault({}).nullable()).prefault({ local: {} }),
  /** People who approve together, by the name behind `group:`. */
  groups: z
    .record(z.string().regex(PATTERNS.name), z.array(z.string().regex(PATTERNS.human)).min(1).max(LIMITS.approversMax))
    .default({}),
  /** Where passkeys are made and used: the domain that they belong to, and the exact origins of the pages. */
  webauthn: z
    .strictObject({
      rp_id: z.string().regex(/^[a-z0-9][a-z0-9.-]{0,252}$/),
      origins: z
        .array(z.string().regex(/^https?:\/\/[a-z0-9.:[\]-]{1,300}$/))
        .min(1)
        .max(16),
    })
    .optional(),
  connectors: z.record(z.string(), z.json()).default({}),
  /** Who is told what, over which channel: read in full by `notifications`. Absent: nobody is. */
  notifications: z.json().optional(),
  /** Names that `{"$secret":"NAME"}` may use, and where each comes from: `env:NAME` or `file:PATH`. */
  secrets: z
    .record(z.string().regex(PATTERNS.secretName), z.string().regex(/^(env:[A-Za-z_][A-Za-z0-9_]*|file:\/.+)$/))
    .default({}),
};

/** The configuration as a person writes it. */
export const WrittenTrustConfig = z.strictObject({
  ...configFields,
  policy: WrittenPolicy.prefault({}),
  approvals: z.array(WrittenRule).max(1_000).default([]),
});

/** The configuration as the ledger holds it: the same with every default and with durations in milliseconds. */
export const TrustConfig = z.strictObject({
  ...configFields,
  policy: StoredPolicy.prefault({}),
  approvals: z.array(StoredRule).max(1_000).default([]),
});
export type TrustConfig = z.infer<typeof TrustConfig>;

/** The digest of a configuration: `policy_version`. */
export function policyVersion(config: TrustConfig): string {
  return digest('countersign-config/1', config as unknown as Json);
}
