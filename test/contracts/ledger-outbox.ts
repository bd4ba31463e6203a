/**
 * The part of the ledger's contract about the outbox: an entry is put once, a try belongs to one process, the place in the
 * log moves with the entries that were made of it, and one holder delivers.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NewOutboxEntry, Outbox } from '../../src/ledger/index.js';
import { addWork } from '../support/ledger-world.js';
import { verifies } from '../support/verifies.js';
import type { WithLedger } from './ledger.js';

const key = (no: number) => no.toString(16).padStart(64, '0');

export function outboxEntry(no: number, more: Partial<NewOutboxEntry> = {}): NewOutboxEntry {
  return {
    key: key(no),
    channel: 'chat',
    notice: 'asked',
    body: `{"no":${no}}`,
    at: 1_000 + no,
    until: 9_000,
    ...more,
  };
}

async function waiting(outbox: Outbox): Promise<readonly string[]> {
  return (await outbox.due('chat', 1_000_000, 100)).map((entry) => entry.key);
}

export function outboxContract(withLedger: WithLedger): void {
  describe('the outbox', () => {
    putContract(withLedger);
    tryContract(withLedger);
    leaseContract(withLedger);
    clearContract(withLedger);
  });
}

function putContract(withLedger: WithLedger): void {
  it('keeps one entry for a key, whoever puts it and however often', () =>
    withLedger({}, async ({ ledger, another }) => {
      verifies('ledger.outbox.once');
      const second = await another();
      const puts = Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? ledger : second).outbox.put([outboxEntry(i % 4)]),
      );
      assert.deepEqual(new Set(await Promise.all(puts)), new Set([true]));
      assert.deepEqual(await waiting(ledger.outbox), [key(0), key(1), key(2), key(3)]);
      const [first] = await second.outbox.due('chat', 1_000, 100);
      assert.deepEqual(first, { ...outboxEntry(0), state: 'waiting', tries: 0, due: 1_000, ended: null, code: null });
      assert.deepEqual(await ledger.outbox.due('chat', 999, 100), [], 'nothing is due before its time');
      assert.equal((await ledger.outbox.due('chat', 1_003, 2)).length, 2, 'the oldest first, and no more than asked');
    }));

  it('moves its place in the log with the entries that were made of it, for one of several at a time', () =>
    withLedger({}, async ({ ledger, another }) => {
      verifies('ledger.outbox.cursor');
      const second = await another();
      assert.equal(await ledger.outbox.cursor(), undefined);
      const firsts = await Promise.all(
        [ledger, second].map((one, no) => one.outbox.put([outboxEntry(no)], { from: undefined, to: 5 })),
      );
      assert.deepEqual([...firsts].sort(), [false, true]);
      assert.equal((await waiting(ledger.outbox)).length, 1, 'who came second wrote nothing');
      assert.equal(await second.outbox.cursor(), 5);
      assert.equal(await second.outbox.put([outboxEntry(7)], { from: 4, to: 9 }), false);
      assert.deepEqual([await second.outbox.cursor(), (await waiting(ledger.outbox)).length], [5, 1]);
      assert.equal(await second.outbox.put([outboxEntry(7), outboxEntry(8)], { from: 5, to: 9 }), true);
      assert.equal(await ledger.outbox.put([], { from: 9, to: 12 }), true);
      assert.deepEqual([await ledger.outbox.cursor(), (await waiting(ledger.outbox)).length], [12, 3]);
    }));

  it('is no part of the log, and the ledger verifies as before', () =>
    withLedger({}, async ({ ledger }) => {
      verifies('ledger.outbox.apart');
      await ledger.commit(addWork('a'));
      const before = await ledger.head();
      await ledger.outbox.put([outboxEntry(1)], { from: undefined, to: before.sequence });
      await ledger.outbox.begin(key(1), 0, 2_000);
      await ledger.outbox.end(key(1), 1, { state: 'delivered', at: 1_500, code: null });
      assert.deepEqual(await ledger.head(), before);
      assert.deepEqual((await ledger.verify(before)).defects, []);
    }));
}

function tryContract(withLedger: WithLedger): void {
  it('gives each try to one process, and tells how the last one ended', () =>
    withLedger({}, async ({ ledger, another }) => {
      verifies('ledger.outbox.try');
      const second = await another();
      await ledger.outbox.put([outboxEntry(1)]);
      const takers = Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? ledger : second));
      const taken = await Promise.all(takers.map((one) => one.outbox.begin(key(1), 0, 4_000)));
      assert.equal(taken.filter((won) => won).length, 1);
      assert.deepEqual(await second.outbox.due('chat', 3_999, 10), [], 'it is not due while it is tried');
      const failed = { state: 'waiting', at: 3_000, code: 'status_500' } as const;
      assert.equal(await second.outbox.end(key(1), 1, failed), true);
      const [again] = await ledger.outbox.due('chat', 4_000, 10);
      assert.deepEqual([again?.tries, again?.code, again?.ended], [1, 'status_500', null]);
      assert.equal(await ledger.outbox.begin(key(1), 1, 8_000), true);
      assert.equal(await second.outbox.end(key(1), 1, failed), false, 'an earlier try says nothing any more');
      assert.equal(await ledger.outbox.end(key(1), 2, { state: 'dead', at: 5_000, code: 'tries' }), true);
      assert.equal(await ledger.outbox.end(key(1), 2, failed), false, 'what has ended stays so');
      assert.equal(await ledger.outbox.begin(key(1), 2, 9_000), false);
      await second.outbox.put([outboxEntry(1)]);
      assert.deepEqual(await waiting(ledger.outbox), [], 'and is not put again');
      const [dead] = await second.outbox.list(['dead'], 10);
      assert.deepEqual(
        [dead?.key, dead?.state, dead?.tries, dead?.ended, dead?.code],
        [key(1), 'dead', 2, 5_000, 'tries'],
      );
    }));
}

function leaseContract(withLedger: WithLedger): void {
  it('has one holder of the lease to deliver, until it ends or is given back', () =>
    withLedger({}, async ({ ledger, another }) => {
      verifies('ledger.outbox.lease');
      const second = await another();
      assert.equal(await ledger.leases.hold('outbox', 'one', 60_000), true);
      assert.equal(await second.leases.hold('outbox', 'two', 60_000), false);
      assert.equal(await ledger.leases.hold('outbox', 'one', 60_000), true, 'its holder renews it');
      await second.leases.release('outbox', 'two');
      assert.equal(await second.leases.hold('outbox', 'two', 60_000), false, 'nobody gives back what another holds');
      await ledger.leases.release('outbox', 'one');
      assert.equal(await second.leases.hold('outbox', 'two', 1), true);
    }));

  it('names what somebody holds, as long as they do', () =>
    withLedger({}, async ({ ledger, another, clock }) => {
      verifies('ledger.leases.held');
      const second = await another();
      assert.deepEqual(await ledger.leases.held('waits/'), []);
      await ledger.leases.hold('waits/b/1', '1', 60_000);
      await second.leases.hold('waits/a/2', '2', 60_000);
      await second.leases.hold('waits/a/3', '3', 50);
      await second.leases.hold('waitsless', '4', 60_000);
      assert.deepEqual([...(await ledger.leases.held('waits/'))].sort(), ['waits/a/2', 'waits/a/3', 'waits/b/1']);
      assert.deepEqual(await ledger.leases.held('waits/b'), ['waits/b/1']);
      await second.leases.release('waits/a/2', '2');
      clock.set(clock.now() + 50);
      await new Promise((resolve) => setTimeout(resolve, 60));
      assert.deepEqual(await ledger.leases.held('waits/'), ['waits/b/1']);
    }));

  it('gives the lease to another when its holder is silent', () =>
    withLedger({}, async ({ ledger, another, clock }) => {
      verifies('ledger.outbox.lease');
      const second = await another();
      assert.equal(await ledger.leases.hold('outbox', 'one', 50), true);
      assert.equal(await second.leases.hold('outbox', 'two', 50), false);
      clock.set(clock.now() + 50);
      await new Promise((resolve) => setTimeout(resolve, 60));
      assert.equal(await second.leases.hold('outbox', 'two', 60_000), true);
      assert.equal(await ledger.leases.hold('outbox', 'one', 60_000), false);
    }));
}

function clearContract(withLedger: WithLedger): void {
  it('counts by channel and state, and forgets what ended long ago or is too much', () =>
    withLedger({}, async ({ ledger }) => {
      verifies('ledger.outbox.bounded');
      const { outbox } = ledger;
      await outbox.put(Array.from({ length: 6 }, (_, no) => outboxEntry(no, { channel: no < 2 ? 'mail' : 'chat' })));
      for (let no = 0; no < 5; no += 1) {
        await outbox.begin(key(no), 0, 9_000);
        await outbox.end(key(no), 1, { state: no === 4 ? 'dead' : 'delivered', at: 2_000 + no, code: null });
      }
      const counted = async () =>
        (await outbox.counts()).map(({ channel, state, count }) => `${channel} ${state} ${count}`).sort();
      assert.deepEqual(await counted(), ['chat dead 1', 'chat delivered 2', 'chat waiting 1', 'mail delivered 2']);
      assert.equal(await outbox.clear(2_001, 100, 100), 1, 'what ended before');
      assert.equal(await outbox.clear(0, 3, 100), 1, 'what is beyond the newest three');
      assert.equal(await outbox.clear(0, 3, 100), 0);
      assert.deepEqual(await counted(), ['chat dead 1', 'chat delivered 2', 'chat waiting 1']);
      assert.equal(await outbox.clear(9_999, 0, 2), 2, 'no more at once than asked');
      assert.equal(await outbox.clear(9_999, 0, 9), 1);
      assert.deepEqual(await counted(), ['chat waiting 1'], 'what waits stays');
    }));
}
