/**
 * Tokens of agents: what a program shows at a door to be an agent, what it may ask for, and until when. Pure.
 *
 * The ledger holds the hash of a token, never the token: whoever made it has the only copy. A person's signature adds,
 * replaces and revokes them; a token approves nothing, whoever holds it.
 * Source: spec authority (approvers and keys: agents).
 */
import * as z from 'zod';
import { digest, type JsonObject, LIMITS, matchesPattern, PATTERNS, Refusal, sameJson } from '../core/index.js';
import type { Kind, LedgerEvent, NewEvent, RecordRef, View } from '../ledger/index.js';
import { ledgerKind } from './machine.js';
import { LEDGER_RECORD } from './schema.js';

/**
 * What a token lets an agent do. `propose` asks for actions and for people; `execute` launches and checks outcomes;
 * `work` runs what was launched, as a worker; `package` reads packages and changes them by envelopes.
 */
export const VERBS = ['read', 'propose', 'execute', 'cancel', 'work', 'package'] as const;
export type Verb = (typeof VERBS)[number];

const Patterns = z.array(z.string().min(1).max(LIMITS.targetCharsMax)).min(1).max(LIMITS.approversMax);

export const TokenScope = z.strictObject({
  /** Names, or patterns of them. */
  projects: Patterns,
  connectors: Patterns,
  verbs: z.array(z.enum(VERBS)).min(1).max(VERBS.length),
  /** Whether it may name others on whose behalf it asks. */
  on_behalf: z.boolean(),
});
export type TokenScope = z.infer<typeof TokenScope>;

const TokenId = z.string().regex(PATTERNS.token);
const Hash = z.string().regex(PATTERNS.sha256);
const Expires = z.int().min(1);

/** What a receipt of kind agent may authorize. */
export const AgentChange = z.discriminatedUnion('change', [
  z.strictObject({
    change: z.literal('add-token'),
    token_id: TokenId,
    agent: z.string().regex(PATTERNS.agent),
    hash: Hash,
    scope: TokenScope,
    expires: Expires,
  }),
  /** Another token with the same scope; the one before stays good until `overlap` is over. */
  z.strictObject({
    change: z.literal('rotate-token'),
    token_id: TokenId,
    replaces: TokenId,
    /** As the token before has them: whoever signs is shown them. */
    agent: z.string().regex(PATTERNS.agent),
    scope: TokenScope,
    hash: Hash,
    expires: Expires,
    overlap_until: Expires,
  }),
  z.strictObject({ change: z.literal('revoke-token'), token_id: TokenId }),
]);
export type AgentChange = z.infer<typeof AgentChange>;

export type TokenState = {
  readonly token_id: string;
  readonly agent: string;
  readonly hash: string;
  readonly scope: TokenScope;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  readonly state: 'active' | 'revoked';
  readonly added_at: number;
  /** Of the ledger when it was added: a restore or a recovery ends every token before it. */
  readonly epoch: number;
  /** The token that this one replaced. */
  readonly replaces: string | null;
};

export const tokenKind: Kind<TokenState> = {
  name: 'token',
  version: 1,
  evolve: (state, event) => evolve(state, event),
  columns: (state) => ({ status: state.state, principal: state.agent, lookup: state.agent }),
};

export function tokenRecord(id: string): RecordRef {
  return { kind: 'token', id };
}

function evolve(state: TokenState | undefined, event: LedgerEvent): TokenState {
  switch (event.type) {
    case 'token-added': {
      const { authorization: _, claims: __, ...token } = event.data;
      return { ...(token as unknown as Omit<TokenState, 'state' | 'added_at'>), state: 'active', added_at: event.at };
    }
    case 'token-shortened':
      return { ...(state as TokenState), expires: event.data['expires'] as number };
    case 'token-revoked':
      return { ...(state as TokenState), state: 'revoked' };
    default:
      return state as TokenState;
  }
}

/** The records that a change writes or looks at. */
export function changedTokens(change: AgentChange): readonly RecordRef[] {
  const own = tokenRecord(change.token_id);
  return change.change === 'rotate-token' ? [own, tokenRecord(change.replaces)] : [own];
}

/** Events of a change that was signed. Refuses `unknown_token`, `state`, `invalid`. */
export function decideAgent(view: View, change: AgentChange, authorization: JsonObject): readonly NewEvent[] | Refusal {
  const known = view.get(tokenKind, change.token_id)?.state;
  const epoch = view.get(ledgerKind, LEDGER_RECORD.id)?.state.epoch ?? 0;
  if (change.change === 'revoke-token') {
    if (known === undefined) return new Refusal('unknown_token', 'there is no such token');
    if (known.state === 'revoked') return new Refusal('state', 'the token was revoked already');
    return [{ record: tokenRecord(change.token_id), type: 'token-revoked', data: { authorization } }];
  }
  if (known !== undefined) return new Refusal('invalid', 'a token of this id stands already', { path: 'token_id' });
  if (change.expires <= view.now || change.expires > view.now + LIMITS.tokenMsMax) {
    return new Refusal('invalid', 'a token is good for a year at most', { path: 'expires' });
  }
  if (change.change === 'add-token') {
    const { change: _, ...token } = change;
    return [added({ ...token, epoch, replaces: null }, authorization)];
  }
  return rotated(view, change, epoch, authorization);
}

function rotated(
  view: View,
  { token_id, replaces, agent, scope, hash, expires, overlap_until }: Extract<AgentChange, { change: 'rotate-token' }>,
  epoch: number,
  authorization: JsonObject,
): readonly NewEvent[] | Refusal {
  const before = view.get(tokenKind, replaces)?.state;
  if (before === undefined) return new Refusal('unknown_token', 'there is no such token');
  if (before.state === 'revoked' || before.epoch !== epoch) {
    return new Refusal('state', 'the token was revoked or is of an earlier epoch: add another one');
  }
  // INVARIANT: what has ended is not prolonged: it is asked for anew, as it is then (authority.token.rotated).
  if (before.expires <= view.now) return new Refusal('state', 'the token is over: add another one');
  if (before.agent !== agent || !sameJson(before.scope, scope)) {
    return new Refusal('invalid', 'the token before is of another agent or scope', { path: 'scope' });
  }
  if (overlap_until > view.now + LIMITS.tokenOverlapMsMax) {
    return new Refusal('invalid', 'two tokens overlap for a week at most', { path: 'overlap_until' });
  }
  const record = tokenRecord(replaces);
  const data = { expires: Math.min(before.expires, overlap_until), authorization };
  return [
    added({ token_id, agent, hash, scope, expires, epoch, replaces }, authorization),
    { record, type: 'token-shortened', data },
  ];
}

function added(token: Omit<TokenState, 'state' | 'added_at'>, authorization: JsonObject): NewEvent {
  const data = { ...(token as unknown as JsonObject), authorization };
  return { record: tokenRecord(token.token_id), type: 'token-added', data };
}

/** What the ledger keeps of a token: SHA-256 in a domain of its own over its id and its secret. */
export function tokenHash(tokenId: string, secret: string): string {
  return digest('countersign-token/1', [tokenId, secret]);
}

/** The text that an agent shows: `tok_….SECRET`. */
export function tokenText(tokenId: string, secret: string): string {
  return `${tokenId}.${secret}`;
}

/** The two parts of a token; undefined for any other text. */
export function readToken(text: string): { readonly tokenId: string; readonly secret: string } | undefined {
  if (typeof text !== 'string') return undefined;
  const match = /^(tok_[0-9A-Z]{26})\.([A-Za-z0-9_-]{43})$(?!\n)/.exec(text);
  return match === null ? undefined : { tokenId: match[1] as string, secret: match[2] as string };
}

/** Why a token does not let its agent in now; undefined when it does. */
export function tokenRefusal(
  state: TokenState | undefined,
  hash: string,
  epoch: number,
  now: number,
): Refusal | undefined {
  // One answer for every reason: whoever guesses learns nothing.
  const stands = state?.state === 'active' && state.epoch === epoch && now < state.expires;
  const good = stands && state.hash === hash;
  return good ? undefined : new Refusal('unauthenticated', 'this token lets nobody in');
}

/** Whether a scope covers a verb on a project and a connector, where they are known. */
export function isInScope(
  scope: TokenScope,
  verb: Verb,
  { project, connector }: { readonly project?: string | undefined; readonly connector?: string | undefined },
): boolean {
  const fits = (patterns: readonly string[], name: string | undefined) =>
    name === undefined || patterns.some((pattern) => matchesPattern(pattern, name));
  return scope.verbs.includes(verb) && fits(scope.projects, project) && fits(scope.connectors, connector);
}
