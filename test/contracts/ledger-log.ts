/**
 * The part of the ledger's contract about the log: one order, followed by projections exactly once and by watchers without
 * a gap; and `verify`, which finds a log that is not the one that somebody remembers.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sha256Hex } from '../../src/core/index.js';
import type { Ledger, LogEntry } from '../../src/ledger/index.js';
import { added, addWork, DIARY, diaryKind, diaryProjection, roomKind } from '../support/ledger-world.js';
import { verifies } from '../support/verifies.js';
import { logOf, rejectsWith, type WithLedger } from './ledger.js';

export function logContract(withLedger: WithLedger): void {
  describe('the log', () => {
    orderContract(withLedger);
    projectionContract(withLedger);
  });
  describe('watching', () => watchContract(withLedger));
}

function orderContract(withLedger: WithLedger): void {
  it('puts all events in one order without gaps, under one running hash', () =>
    withLedger({}, async ({ ledger, another }) => {
      verifies('ledger.log.order');
      const ledgers = [ledger, await another()];
      const calls = Array.from({ length: 300 }, (_, i) => (ledgers[i % 2] ?? ledger).commit(addWork(`r${i % 7}`)));
      await Promise.all(calls);
      const entries = await logOf(ledger, 300);
      let before = `sha256:${'0'.repeat(64)}`;
      const revisions = new Map<string, number>();
      entries.forEach(({ sequence, logHash, event }, i) => {
        assert.equal(sequence, i + 1);
        before = `sha256:${sha256Hex(`${before}\n${event.hash}`)}`;
        assert.equal(logHash, before);
        assert.equal(event.revision, (revisions.get(event.record.id) ?? -1) + 1);
        revisions.set(event.record.id, event.revision);
      });
      assert.deepEqual(await ledger.head(), { sequence: 300, logHash: before });
      assert.deepEqual(
        (await ledger.log(100)).map(({ sequence }) => sequence),
        Array.from({ length: 200 }, (_, i) => i + 101),
      );
      assert.deepEqual(await ledger.log(300), []);
    }));

  it('verifies, also against the heads it had, and against none that it had not', () =>
    withLedger({}, async ({ ledger }) => {
      verifies('ledger.verify.remembered-head');
      assert.deepEqual((await ledger.verify({ sequence: 0, logHash: `sha256:${'0'.repeat(64)}` })).defects, []);
      for (let i = 0; i < 5; i += 1) await ledger.commit(addWork('a'));
      for (const { sequence, logHash } of await logOf(ledger, 5)) {
        const report = await ledger.verify({ sequence, logHash });
        assert.deepEqual([report.events, report.records, report.defects], [5, 1, []]);
      }
      const { sequence, logHash } = await ledger.head();
      for (const head of [
        { sequence: sequence + 1, logHash },
        { sequence, logHash: `sha256:${'1'.repeat(64)}` },
      ]) {
        assert.equal((await ledger.verify(head)).defects.length, 1);
      }
    }));
}

function projectionContract(withLedger: WithLedger): void {
  const projections = [diaryProjection];

  it('lets a projection follow every event exactly once, in order', () =>
    withLedger({ projections }, async ({ ledger, another }) => {
      verifies('ledger.projection.once');
      const ledgers = [ledger, await another()];
      await Promise.all(
        Array.from({ length: 100 }, (_, i) => (ledgers[i % 2] ?? ledger).commit(addWork(`noted${i % 9}`))),
      );
      const entries = await logOf(ledger, 200);
      const rooms = entries.filter(({ event }) => event.record.kind === 'room').map(({ event }) => event.hash);
      const noted = entries.filter(({ event }) => event.record.kind === 'thread').map(({ event }) => event.data.of);
      assert.deepEqual(noted, rooms);
      assert.equal((await ledger.readVerified(diaryKind, DIARY.id))?.state.entries, 100);
      assert.ok(entries.every(({ event }) => event.record.kind === 'room' || event.actor === 'engine:gate'));
    }));

  it('never dates an entry before the event that it follows from', () =>
    withLedger({ projections }, async ({ ledger, clock }) => {
      verifies('ledger.projection.once');
      clock.tick(60_000);
      await ledger.commit(addWork('late'));
      clock.tick(-60_000);
      await ledger.commit(addWork('noted', { reads: [{ kind: 'room', id: 'late' }] }));
      const [, cause, entry] = (await logOf(ledger, 3)).map(({ event }) => event);
      assert.ok(Number(entry?.at) >= Number(cause?.at));
    }));

  it('fails a unit over which a projection fails, and no other', () =>
    withLedger({ projections }, async ({ ledger }) => {
      verifies('ledger.projection.isolated');
      const poison = { decide: () => ({ events: [{ ...added('noted'), type: 'room-poisoned' }], outcome: null }) };
      const works = [addWork('noted1'), addWork('noted', poison), addWork('noted2'), addWork('plain')];
      const results = await Promise.allSettled(works.map((work) => ledger.commit(work)));
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
      );
      await rejectsWith('internal', Promise.reject((results[1] as PromiseRejectedResult).reason));
      assert.equal(await ledger.read(roomKind, 'noted'), undefined);
      assert.equal((await ledger.read(diaryKind, DIARY.id))?.state.entries, 2);
      assert.deepEqual((await ledger.verify()).defects, []);
    }));
}

/** Follows a log until it has `count` entries. */
async function follow(ledger: Ledger, after: number, count: number): Promise<readonly LogEntry[]> {
  const stop = new AbortController();
  const entries: LogEntry[] = [];
  for await (const entry of ledger.watch(after, stop.signal)) {
    entries.push(entry);
    if (entries.length === count) stop.abort();
  }
  return entries;
}

function watchContract(withLedger: WithLedger): void {
  it('goes on behind any entry, skips none and repeats none, while others commit', () =>
    withLedger({}, async ({ ledger, another }) => {
      verifies('ledger.watch.resumes');
      const second = await another();
      const watched = follow(ledger, 0, 450);
      for (let round = 0; round < 45; round += 1) {
        await Promise.all(
          Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? ledger : second).commit(addWork(`r${i}`))),
        );
      }
      const entries = await watched;
      assert.deepEqual(
        entries.map(({ sequence }) => sequence),
        Array.from({ length: 450 }, (_, i) => i + 1),
      );
      const resumed = await follow(ledger, 123, 20);
      assert.deepEqual(resumed, entries.slice(123, 143));
    }));

  it("wakes at a commit of this connection at once, and at another's within 150 ms", () =>
    withLedger({}, async ({ ledger, another }) => {
      verifies('ledger.watch.wakes');
      const second = await another();
      for (const writer of [ledger, second, second, ledger]) {
        const { sequence } = await ledger.head();
        const waiting = follow(ledger, sequence, 1);
        await new Promise((resolve) => setTimeout(resolve, 30));
        await writer.commit(addWork('a'));
        const committedAt = performance.now();
        await waiting;
        const tookMs = performance.now() - committedAt;
        assert.ok(tookMs < 150, `${tookMs} ms`);
      }
    }));

  it('ends when its signal aborts, also while it waits, and when the ledger closes', () =>
    withLedger({}, async ({ ledger, another }) => {
      verifies('ledger.watch.ends');
      const second = await another();
      const stop = new AbortController();
      const ended = [
        follow(second, 0, 1),
        (async () => {
          for await (const _ of ledger.watch(0, stop.signal)) assert.fail('nothing was committed');
        })(),
      ];
      await new Promise((resolve) => setTimeout(resolve, 30));
      stop.abort();
      await second.close();
      await Promise.all(ended);
      for await (const _ of ledger.watch(0, AbortSignal.abort())) assert.fail('aborted before it began');
    }));
}
