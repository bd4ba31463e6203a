/**
 * The part of the ledger's contract about claims: idempotency keys and nonces.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Refusal } from '../../src/core/index.js';
import { addWork, claimOf, room, roomKind } from '../support/ledger-world.js';
import { verifies } from '../support/verifies.js';
import { logOf, rejectsWith, type WithLedger } from './ledger.js';

const refused = { decide: () => new Refusal('state', 'not now') };

export function claimContract(withLedger: WithLedger): void {
  describe('claims', () => {
    it('answers the same command under a key with its recorded outcome, and writes nothing', () =>
      withLedger({}, async ({ ledger, another }) => {
        verifies('ledger.claims.recorded-outcome');
        const first = await ledger.commit(addWork('a', { claim: claimOf('key one') }, { by: 7 }));
        assert.deepEqual([first.outcome, first.replayed, first.events.length], [{ total: 7 }, false, 1]);
        for (const asked of [ledger, await another()]) {
          const again = await asked.commit(addWork('a', { claim: claimOf('key one') }, { by: 7 }));
          assert.deepEqual([again.outcome, again.replayed, again.events.length], [{ total: 7 }, true, 0]);
        }
        assert.equal((await ledger.events(room('a'))).length, 1);
        assert.equal((await logOf(ledger, 1)).length, 1);
      }));

    it('records an outcome of null as well, also within one batch', () =>
      withLedger({}, async ({ ledger }) => {
        verifies('ledger.claims.recorded-outcome');
        const work = addWork('a', { claim: claimOf('null') });
        const silent = {
          ...work,
          decide: (view: Parameters<typeof work.decide>[0]) => {
            const decided = work.decide(view);
            return decided instanceof Refusal ? decided : { ...decided, outcome: null };
          },
        };
        const answers = await Promise.all([ledger.commit(silent), ledger.commit(silent)]);
        assert.deepEqual(
          answers.map(({ outcome, replayed }) => [outcome, replayed]),
          [
            [null, false],
            [null, true],
          ],
        );
        assert.equal((await ledger.commit(silent)).outcome, null);
      }));

    it('refuses another command under a key that is taken, also within one batch', () =>
      withLedger({}, async ({ ledger }) => {
        verifies('ledger.claims.reuse');
        const one = ledger.commit(addWork('a', { claim: claimOf('key') }));
        const other = ledger.commit(addWork('b', { claim: claimOf('key', 'two') }));
        await Promise.all([one, rejectsWith('idempotency_reuse', other)]);
        await rejectsWith('idempotency_reuse', ledger.commit(addWork('b', { claim: claimOf('key', 'three') })));
        assert.equal(await ledger.read(roomKind, 'b'), undefined);
      }));

    it('keeps the keys of two principals and two scopes apart', () =>
      withLedger({}, async ({ ledger }) => {
        verifies('ledger.claims.reuse');
        const claims = [
          claimOf('key'),
          { ...claimOf('key', 'two'), principal: 'agent:other' },
          { ...claimOf('key', 'three'), scope: 'launch' },
          { ...claimOf('bot key', 'four'), principal: 'agent' },
        ];
        const all = claims.map((claim, i) => ledger.commit(addWork(`room${i}`, { claim })));
        assert.ok((await Promise.all(all)).every(({ replayed }) => !replayed));
      }));

    it('frees the claim and the nonce of a refused unit, also for the next one in its batch', () =>
      withLedger({}, async ({ ledger }) => {
        verifies('ledger.claims.refused-frees');
        const claims = { claim: claimOf('key'), once: [{ scope: 'nonce', key: 'n1' }] };
        const first = ledger.commit(addWork('a', { ...claims, ...refused }));
        const second = ledger.commit(addWork('a', claims));
        await rejectsWith('state', first);
        assert.equal((await second).replayed, false);
        await rejectsWith('state', ledger.commit(addWork('b', { once: [{ scope: 'nonce', key: 'n2' }], ...refused })));
        assert.equal((await ledger.commit(addWork('b', { once: [{ scope: 'nonce', key: 'n2' }] }))).replayed, false);
      }));

    it('lets a nonce be used once: 64 callers at once, and ever after', () =>
      withLedger({}, async ({ ledger, another }) => {
        verifies('ledger.once.one-winner');
        const work = (id: string) => addWork(id, { once: [{ scope: 'nonce', key: 'n' }] });
        const ledgers = [ledger, await another()];
        const calls = Array.from({ length: 64 }, (_, i) => (ledgers[i % 2] ?? ledger).commit(work(`r${i}`)));
        const results = await Promise.allSettled(calls);
        const codes = results.map((result) => (result.status === 'fulfilled' ? 'won' : result.reason.code));
        assert.equal(codes.filter((code) => code === 'won').length, 1);
        assert.equal(codes.filter((code) => code === 'replay').length, 63);
        await rejectsWith('replay', ledger.commit(work('late')));
      }));

    it('refuses a unit that names one nonce twice, and harms no other unit', () =>
      withLedger({}, async ({ ledger }) => {
        verifies('ledger.once.replay');
        const twice = [
          { scope: 'nonce', key: 'n' },
          { scope: 'nonce', key: 'n' },
        ];
        const other = ledger.commit(addWork('b'));
        await rejectsWith('replay', ledger.commit(addWork('a', { once: twice })));
        await other;
        await ledger.commit(addWork('a', { once: [{ scope: 'nonce', key: 'n' }] }));
      }));

    it('takes a claim in the event that it stands in, so that the chain covers it', () =>
      withLedger({}, async ({ ledger }) => {
        verifies('ledger.claims.in-the-chain');
        const claim = claimOf('key');
        const { events } = await ledger.commit(addWork('a', { claim, once: [{ scope: 'nonce', key: 'n' }] }));
        const taken = [
          ['nonce', '', 'n', ''],
          ['propose', 'agent:bot', 'key', claim.command],
        ];
        assert.deepEqual(events[0]?.data.claims, { taken, outcome: { total: 1 } });
        assert.deepEqual((await ledger.verify()).defects, []);
      }));

    it('demands an event of a unit that takes a claim', () =>
      withLedger({}, async ({ ledger }) => {
        verifies('ledger.claims.in-the-chain');
        const nothing = { claim: claimOf('key'), decide: () => ({ events: [], outcome: null }) };
        await rejectsWith('internal', ledger.commit(addWork('a', nothing)));
        assert.equal((await ledger.commit(addWork('a', { claim: claimOf('key') }))).replayed, false);
      }));
  });
}
