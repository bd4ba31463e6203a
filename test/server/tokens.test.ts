/** What an operator signs for when a token is replaced. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { requestToken, rotateToken } from '../../src/app/internal.js';
import { carriedOut, codeOf, signed } from '../support/gate-world.js';
import { newToken, type ServerWorld, serverWorld, WHOLE } from '../support/server-world.js';
import { verifies } from '../support/verifies.js';

describe('a token that replaces another one', () => {
  let world: ServerWorld;
  before(async () => {
    world = await serverWorld();
  });
  after(() => world.close());

  const SCOPE = { projects: ['acme'], connectors: ['counting', 'http/*'], verbs: ['read'] as const };

  it('is signed for with its agent and what it lets it do', async () => {
    verifies('authority.token.rotated');
    const before = await world.token('agent:shown', SCOPE as object);
    const { token, issued } = await rotateToken(world.gate, before.id);
    for (const line of [
      'agent: agent:shown',
      'projects: acme',
      'connectors: counting, http/*',
      'may: read',
      'may ask on behalf of others: no',
    ]) {
      assert.ok(issued.summary.includes(line), `${line}\n${issued.summary.join('\n')}`);
    }
    await world.gate.submit(signed(issued.request));
    assert.equal((await world.client(token).call('identity', {})).principal, 'agent:shown');
  });

  it('is of the same agent and scope, whatever the change says', async () => {
    verifies('authority.token.rotated');
    const before = await world.token('agent:same', SCOPE as object);
    const now = world.clock.now();
    const { id, hash } = newToken(world);
    const known = { agent: 'agent:same', scope: { ...WHOLE, ...SCOPE } };
    for (const other of [{ agent: 'agent:other' }, { scope: WHOLE }, { scope: { ...known.scope, on_behalf: true } }]) {
      const change = { change: 'rotate-token', token_id: id, replaces: before.id, hash, ...known, ...other } as const;
      const act = { kind: 'agent', change: { ...change, expires: now + 10_000, overlap_until: now } } as never;
      assert.equal(await codeOf(carriedOut(world, act)), 'invalid');
    }
  });

  it('replaces none that is over: what has ended begins by being asked for', async () => {
    verifies('authority.token.rotated');
    const before = await world.token('agent:over', {}, 1_000);
    const early = await rotateToken(world.gate, before.id);
    world.clock.advance(1_000);
    assert.equal(await codeOf(world.gate.submit(signed(early.issued.request))), 'state');
    assert.equal(await codeOf(rotateToken(world.gate, before.id)), 'state');
    assert.equal(await codeOf(world.client(early.token).call('identity', {})), 'unauthenticated');
    await requestToken(world.gate, 'agent:over');
  });
});
