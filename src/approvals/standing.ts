/**
 * A standing approval: signed once, it stands for approvals of exactly bounded actions until it is used up, over or
 * revoked. What a launch takes of it is reserved in the launch's own commit, settled by a confirmation, given back on a
 * certain failure alone, and held while the outcome is unknown. Pure.
 * Source: spec authority (standing approvals).
 */
import * as z from 'zod';
import {
  ACTION_CLASSES,
  type ActionClass,
  isPlainTarget,
  type Json,
  type JsonObject,
  LIMITS,
  matchesPattern,
  PATTERNS,
  Refusal,
  sameJson,
} from '../core/index.js';
import type { Kind, LedgerEvent, NewEvent, RecordRef } from '../ledger/index.js';

const Whole = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** An argument has to be exactly this, or a whole number within a range. */
const Member = z.union([
  z.strictObject({ is: z.json() }),
  z
    .strictObject({ min: z.int().optional(), max: z.int().optional() })
    .refine(({ min, max }) => (min ?? max) !== undefined && (min ?? -Infinity) <= (max ?? Infinity)),
]);

/** A reader of records leaves `__proto__` out: a bound that somebody asked for is never left out. */
function areNamed(args: unknown): boolean {
  return Object.keys(args ?? {}).every((name) => !name.startsWith('__'));
}

export const Grant = z
  .strictObject({
    project: z.string().regex(PATTERNS.project),
    /** Who may use it, as `agent:NAME`. */
    agents: z.array(z.string().regex(PATTERNS.agent)).min(1).max(LIMITS.approversMax),
    connector: z.string().regex(PATTERNS.project),
    /** Each operation with the digest of the code that may run. */
    operations: z.record(z.string().regex(PATTERNS.operation), z.string().regex(PATTERNS.sha256)),
    /** `*` stands for any characters within one segment between slashes. */
    target: z.string().min(1).max(LIMITS.targetCharsMax),
    /** The highest class that it stands for. */
    class: z.enum(ACTION_CLASSES),
    /** Members of the arguments that are bounded; others are free. */
    args: z.unknown().refine(areNamed).pipe(z.record(z.string(), Member)).default({}),
    /** Minor units of one action, and of all of them together. */
    per_action: Whole.optional(),
    total: Whole.optional(),
    currency: z.string().regex(PATTERNS.currency).optional(),
    /** How many actions. */
    count: z.int().min(1).max(LIMITS.grantCountMax),
    /** Milliseconds since the epoch. */
    until: z.int().min(1),
  })
  .refine(
    ({ per_action, total, currency }) => (currency !== undefined) === (per_action !== undefined || total !== undefined),
    'it has a `currency` where it has `per_action` or `total`, and only there',
  )
  .refine(({ operations }) => Object.keys(operations).length > 0, 'it names an operation at least')
  .refine(
    ({ per_action = 0, total, count }) =>
      Number.isSafeInteger(per_action * count) && per_action <= (total ?? per_action),
    '`per_action` is not above `total`, and with `count` a number that can be told exactly',
  );
export type Grant = z.infer<typeof Grant>;

/** What a receipt of kind standing may authorize. */
export const StandingChange = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('open'), grant_id: z.string().regex(PATTERNS.grant), grant: Grant }),
  z.strictObject({ op: z.literal('revoke'), grant_id: z.string().regex(PATTERNS.grant) }),
]);
export type StandingChange = z.infer<typeof StandingChange>;

/** What a grant can be used for, as the gate holds it. */
export interface GrantSubject {
  readonly project: string;
  readonly proposed_by: string;
  readonly connector: string;
  readonly operation: string;
  readonly operation_digest: string;
  readonly target: string;
  readonly class: string;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly flags: readonly string[];
  readonly replaces: string | null;
  readonly edited_by: string | null;
}

/** Who signed a grant, and with which key. */
export type GrantSigner = { readonly person: string; readonly key_id: string };

/** What an open attempt holds of a grant. */
export type GrantHold = { readonly action_id: string; readonly attempt: number; readonly amount: number };

export type GrantState = {
  /** As it was signed: see `grantIn`. */
  readonly grant: Json;
  readonly state: 'active' | 'revoked';
  readonly signers: readonly GrantSigner[];
  /** Of the ledger when it was signed: a restore or a recovery ends every grant before it. */
  readonly epoch: number;
  readonly holds: readonly GrantHold[];
  /** Confirmed: how many actions, and minor units of them together. */
  readonly used: number;
  readonly spent: number;
};

export function grantIn(state: GrantState): Grant {
  return state.grant as unknown as Grant;
}

export function grantRecord(id: string): RecordRef {
  return { kind: 'grant', id };
}

export const grantKind: Kind<GrantState> = {
  name: 'grant',
  version: 1,
  keepsDocument: true,
  evolve: (state, event) => evolve(state, event),
  columns: (state) => ({
    project: grantIn(state).project,
    status: state.state,
    ...(isUsable(state) ? { due: grantIn(state).until, lookup: grantKey(grantIn(state)) } : {}),
  }),
};

/** Whether anything could ever be taken of it again, but for its time. */
function isUsable(state: GrantState): boolean {
  return state.state === 'active' && state.used < grantIn(state).count;
}

/** Under which an action's grants are found. */
export function grantKey({ project, connector }: Pick<GrantSubject, 'project' | 'connector'>): string {
  return `${project} ${connector}`;
}

function evolve(state: GrantState | undefined, event: LedgerEvent): GrantState {
  if (event.type === 'grant-opened') {
    const { grant, signers, epoch } = event.data as unknown as Pick<GrantState, 'grant' | 'signers' | 'epoch'>;
    return { grant, state: 'active', signers, epoch, holds: [], used: 0, spent: 0 };
  }
  const before = state as GrantState;
  const hold = event.data as unknown as GrantHold;
  const others = before.holds.filter((one) => one.action_id !== hold.action_id || one.attempt !== hold.attempt);
  const held = before.holds.find((one) => one.action_id === hold.action_id && one.attempt === hold.attempt);
  switch (event.type) {
    case 'grant-reserved':
      return { ...before, holds: [...before.holds, hold] };
    case 'grant-settled':
      return { ...before, holds: others, used: before.used + 1, spent: before.spent + (held?.amount ?? hold.amount) };
    case 'grant-released':
      return { ...before, holds: others };
    case 'grant-revoked':
      return { ...before, state: 'revoked' };
    default:
      return before;
  }
}

/** Whether a grant covers an action of this content with these arguments. */
export function covers(grant: Grant, subject: GrantSubject, args: JsonObject): boolean {
  return coversContent(grant, subject) && coversArgs(grant, args);
}

/**
 * INVARIANT: a grant never covers what is flagged, was changed by a person, or runs in the place of another
 * (authority.standing.flagged).
 */
export function coversContent(grant: Grant, subject: GrantSubject): boolean {
  const { flags, replaces, edited_by } = subject;
  const isFlagged = flags.some((flag) => flag === 'possible_duplicate' || flag === 'previously_denied');
  // A target pattern and a bound on money need facts: without them target and amount are what the agent says.
  if (isFlagged || flags.includes('facts_unknown') || replaces !== null || edited_by !== null) return false;
  const fits =
    grant.project === subject.project &&
    grant.agents.includes(subject.proposed_by) &&
    grant.connector === subject.connector &&
    Object.hasOwn(grant.operations, subject.operation) &&
    grant.operations[subject.operation] === subject.operation_digest &&
    isPlainTarget(subject.target) &&
    matchesPattern(grant.target, subject.target) &&
    ACTION_CLASSES.indexOf(subject.class as ActionClass) <= ACTION_CLASSES.indexOf(grant.class);
  return fits && coversMoney(grant, subject);
}

/** INVARIANT: what bounds money covers no action that names none (authority.standing.money). */
function coversMoney(grant: Grant, { amount, currency }: GrantSubject): boolean {
  if (grant.currency === undefined) return amount === null;
  return amount !== null && currency === grant.currency && amount <= (grant.per_action ?? amount);
}

export function coversArgs(grant: Grant, args: JsonObject): boolean {
  return Object.entries(grant.args).every(([name, bound]) => memberFits(args, name, bound));
}

function memberFits(args: JsonObject, name: string, bound: z.infer<typeof Member>): boolean {
  if (!Object.hasOwn(args, name)) return false;
  const value = args[name] as Json;
  if ('is' in bound) return sameJson(value, bound.is as Json);
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return false;
  return value >= (bound.min ?? Number.MIN_SAFE_INTEGER) && value <= (bound.max ?? Number.MAX_SAFE_INTEGER);
}

/** Why nothing can be taken of a grant now; undefined when it can. */
export function noRoom(state: GrantState | undefined, amount: number, now: number): Refusal | undefined {
  if (state?.state !== 'active') return new Refusal('no_cover', 'the standing approval was revoked');
  const { holds, used, spent } = state;
  const grant = grantIn(state);
  if (now >= grant.until) return new Refusal('no_cover', 'the standing approval is over');
  if (used + holds.length >= grant.count) return new Refusal('no_cover', 'the standing approval is used up');
  const held = holds.reduce((sum, one) => sum + one.amount, 0);
  const isOver = grant.total !== undefined && spent + held + amount > grant.total;
  return isOver ? new Refusal('no_cover', 'the total of the standing approval is used up') : undefined;
}

export function reserveGrant(id: string, hold: GrantHold): NewEvent {
  return { record: grantRecord(id), type: 'grant-reserved', data: { ...hold } };
}

/** What a certain outcome makes of what an attempt holds. */
export function settleGrant(id: string, outcome: 'confirmed' | 'failed', hold: GrantHold): NewEvent {
  const type = outcome === 'confirmed' ? 'grant-settled' : 'grant-released';
  return { record: grantRecord(id), type, data: { ...hold } };
}

/** Why a grant could not be opened: it would be over, or stand too long. */
export function spanRefusal({ until }: Pick<Grant, 'until'>, now: number): Refusal | undefined {
  if (until > now && until <= now + LIMITS.grantMsMax) return undefined;
  return new Refusal('invalid', 'a standing approval ends later than now, and in 30 days at most', { path: 'until' });
}

/** Opens or revokes a grant that people signed. Refuses `invalid` for one that would stand too long, `no_cover`. */
export function decideStanding(
  state: GrantState | undefined,
  change: StandingChange,
  { signers, epoch }: Pick<GrantState, 'signers' | 'epoch'>,
  authorization: JsonObject,
  now: number,
): NewEvent | Refusal {
  const record = grantRecord(change.grant_id);
  if (change.op === 'revoke') {
    if (state?.state !== 'active') return new Refusal('no_cover', 'there is no such standing approval');
    return { record, type: 'grant-revoked', data: { authorization } };
  }
  if (state !== undefined) return new Refusal('state', 'the standing approval stands already');
  const { grant } = change;
  const refused = spanRefusal(grant, now);
  if (refused !== undefined) return refused;
  const data = { grant: grant as unknown as Json, signers: [...signers], epoch, authorization };
  return { record, type: 'grant-opened', data };
}
