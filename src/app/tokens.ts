/**
 * Tokens of agents, as the store's owner asks for them: made here, shown once, and good when an operator has signed.
 * Source: spec authority (agents), doors (command line: agent).
 */
import type { IssuedAct } from '../approvals/index.js';
import { base64urlEncode, LIMITS, PATTERNS, Refusal } from '../core/index.js';
import { type TokenScope, type TokenState, tokenHash, tokenKind, tokenText } from '../identity/index.js';
import type { Ledger } from '../ledger/index.js';
import { epochOf, standingIn } from './epoch.js';
import type { Gate } from './gate.js';

export interface IssuedToken {
  /** The only copy of the token: the ledger keeps its hash. */
  readonly token: string;
  readonly token_id: string;
  readonly issued: IssuedAct;
}

/** What agents ask for, on everything. Running what others asked for is named apart. */
export const WHOLE_SCOPE: TokenScope = {
  projects: ['*'],
  connectors: ['*'],
  verbs: ['read', 'propose', 'execute', 'cancel'],
  on_behalf: false,
};

/** Makes a token of an agent and asks an operator to sign for it. `ms` is how long it is good: 90 days when absent. */
export async function requestToken(
  gate: Gate,
  agent: string,
  scope: TokenScope = WHOLE_SCOPE,
  ms: number = LIMITS.tokenMsDefault,
): Promise<IssuedToken> {
  if (!PATTERNS.agent.test(agent)) {
    throw new Refusal('invalid', 'an agent is named `agent:NAME`', { path: 'agent' });
  }
  const { token_id, token, hash } = minted(gate);
  const expires = gate.services.clock.now() + ms;
  const change = { change: 'add-token', token_id, agent, hash, scope, expires } as const;
  return { token, token_id, issued: await gate.requestAct({ kind: 'agent', change }) };
}

/**
 * Makes a token in the place of another of the same agent and scope, which stays good for `overlapMs`. Refuses
 * `unknown_token`, and `state` for one that is over.
 */
export async function rotateToken(
  gate: Gate,
  replaces: string,
  ms: number = LIMITS.tokenMsDefault,
  overlapMs: number = LIMITS.tokenOverlapMsDefault,
): Promise<IssuedToken> {
  const known = PATTERNS.token.test(replaces) ? await gate.ledger.read(tokenKind, replaces) : undefined;
  if (known === undefined) throw new Refusal('unknown_token', 'there is no such token');
  const now = gate.services.clock.now();
  const { agent, scope, expires } = known.state;
  if (expires <= now) throw new Refusal('state', 'the token is over: add another one');
  const { token_id, token, hash } = minted(gate);
  const change = { change: 'rotate-token', token_id, replaces, agent, scope, hash, expires: now + ms } as const;
  const issued = await gate.requestAct({ kind: 'agent', change: { ...change, overlap_until: now + overlapMs } });
  return { token, token_id, issued };
}

function minted({ services }: Gate) {
  const token_id = services.ids.mint('tok');
  const secret = base64urlEncode(services.random.bytes(32));
  return { token_id, token: tokenText(token_id, secret), hash: tokenHash(token_id, secret) };
}

/** A token as it counts now: one of an earlier epoch lets nobody in. */
export interface TokenRow extends Omit<TokenState, 'state'> {
  readonly state: TokenState['state'] | 'void';
}

/** Every token that there is or was, as many as the limit. */
export async function listTokens(ledger: Ledger): Promise<readonly TokenRow[]> {
  const epoch = await epochOf(ledger);
  const tokens: TokenRow[] = [];
  for (let after: string | undefined; tokens.length < LIMITS.grantRowsMax; ) {
    const page = await ledger.list({ kind: 'token', ...(after === undefined ? {} : { after }) });
    for (const { id } of page.rows) {
      const state = (await ledger.readVerified(tokenKind, id))?.state;
      if (state !== undefined) tokens.push({ ...state, state: standingIn(epoch, state) });
    }
    if (page.next === undefined) break;
    after = page.next;
  }
  return tokens;
}
