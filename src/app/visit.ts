/**
 * Who comes to a door: a token is looked up in the ledger and lets its agent in, for what its scope covers and until it
 * ends. Nothing else about a caller is believed.
 * Source: spec authority (agents), doors (HTTP API).
 */
import type { Caller } from '../actions/index.js';
import { Refusal } from '../core/index.js';
import { LEDGER_RECORD, ledgerKind, readToken, tokenHash, tokenKind, tokenRefusal } from '../identity/index.js';
import type { Ledger } from '../ledger/index.js';

/** The caller that a token lets in now. Refuses `unauthenticated`, with one answer for every reason. */
export async function callerOfToken(ledger: Ledger, now: number, text: unknown): Promise<Caller> {
  const token = typeof text === 'string' ? readToken(text) : undefined;
  if (token === undefined) throw new Refusal('unauthenticated', 'this token lets nobody in');
  const [known, identity, at] = await Promise.all([
    ledger.read(tokenKind, token.tokenId),
    ledger.read(ledgerKind, LEDGER_RECORD.id),
    lastAt(ledger),
  ]);
  const state = known?.state;
  const hash = tokenHash(token.tokenId, token.secret);
  const refused = tokenRefusal(state, hash, identity?.state.epoch ?? 0, Math.max(now, at));
  if (refused !== undefined || state === undefined) {
    throw refused ?? new Refusal('unauthenticated', 'this token lets nobody in');
  }
  const { agent, scope } = state;
  return { principal: agent, scope, ...(scope.on_behalf ? { mayActForOthers: true } : {}) };
}

/** INVARIANT: a token that time has ended stays ended when a clock is set back (authority.token.ends). */
async function lastAt(ledger: Ledger): Promise<number> {
  const { sequence } = await ledger.head();
  const [last] = await ledger.log(Math.max(0, sequence - 1));
  return last?.event.at ?? 0;
}
