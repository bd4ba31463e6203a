/** A server over a gate in a home, on ports that the system chooses, with agents that have tokens. */

import type { CountersignGate } from '../../src/app/index.js';
import type { Act } from '../../src/approvals/index.js';
import { type Client, connect } from '../../src/client/index.js';
import { base64urlEncode, IdMinter } from '../../src/core/index.js';
import { type TokenScope, tokenHash, tokenText } from '../../src/identity/index.js';
import { type Serving, serve } from '../../src/server/index.js';
import { carriedOut, homeWorld, type World, type WorldOptions } from './gate-world.js';

export const WHOLE: TokenScope = {
  projects: ['*'],
  connectors: ['*'],
  verbs: ['read', 'propose', 'execute', 'cancel'],
  on_behalf: false,
};

export interface ServerWorld extends World {
  readonly serving: Serving;
  /** A new token of an agent, in force. */
  token(
    agent?: string,
    scope?: Partial<TokenScope>,
    ms?: number,
  ): Promise<{ readonly id: string; readonly text: string }>;
  client(token: string): Client;
  /** A request as anybody could send it. */
  raw(path: string, init?: RequestInit): Promise<Response>;
}

let made = 0;

/** A token that nobody signed for yet. */
export function newToken(world: World): { readonly id: string; readonly secret: string; readonly hash: string } {
  made += 1;
  const ids = new IdMinter(world.clock, { bytes: (count) => new Uint8Array(count).fill(made) });
  const id = ids.mint('tok');
  const secret = base64urlEncode(new Uint8Array(32).fill(made));
  return { id, secret, hash: tokenHash(id, secret) };
}

/** A token of an agent that the first approver signed for. */
export async function addToken(world: World, agent: string): Promise<string> {
  const { id, secret, hash } = newToken(world);
  const change = { change: 'add-token', token_id: id, agent, hash, scope: WHOLE } as const;
  await carriedOut(world, { kind: 'agent', change: { ...change, expires: world.clock.now() + 3_600_000 } });
  return tokenText(id, secret);
}

export async function serverWorld(options: WorldOptions & { readonly publicUrl?: string } = {}): Promise<ServerWorld> {
  const world = await homeWorld(options);
  const { publicUrl = 'http://localhost:0' } = options;
  const serving = await serve(world.gate as CountersignGate, { publicUrl, version: '0.0.0' });
  return {
    ...world,
    serving,
    async token(agent = 'agent:bot', scope = {}, ms = 3_600_000) {
      const { id, secret, hash } = newToken(world);
      const expires = world.clock.now() + ms;
      const change = {
        change: 'add-token',
        token_id: id,
        agent,
        hash,
        scope: { ...WHOLE, ...scope },
        expires,
      } as const;
      await carriedOut(world, { kind: 'agent', change } satisfies Act);
      return { id, text: tokenText(id, secret) };
    },
    client: (token) => connect({ url: serving.publicUrl, token }),
    raw: (path, init = {}) => fetch(new URL(path, serving.publicUrl), init),
    async close() {
      await serving.close();
      await world.close();
    },
  };
}
