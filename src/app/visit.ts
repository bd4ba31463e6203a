/**
 * Who comes to a door: a token is looked up in the ledger and lets its agent in, for what its scope covers and until it
 * ends. Nothing else about a caller is believed.
 * Source: spec authority (agents), doors (HTTP API).
 */
import type { Caller } from '../actions/index.js';
import { Refusal } from '../core/index.js';
import { readToken, tokenHash, tokenKind, tokenRefusal } from '../identity/index.js';
import type { Ledger } from '../ledger/index.js';

/** The caller that a token lets in now. Refuses `unauthenticated`, with one answer for every reason. */
export async function callerOfToken(ledger: Ledger, now: number, text: string): Promise<Caller> {
  const token = readToken(text);
  if (token === undefined) throw new Refusal('unauthenticated', 'this token lets nobody in');
  const state = (await ledger.read(tokenKind, token.tokenId))?.state;
  const refused = tokenRefusal(state, tokenHash(token.tokenId, token.secret), now);
  if (refused !== undefined || state === undefined) {
    throw refused ?? new Refusal('unauthenticated', 'this token lets nobody in');
  }
  const { agent, scope } = state;
  return { principal: agent, scope, ...(scope.on_behalf ? { mayActForOthers: true } : {}) };
}
