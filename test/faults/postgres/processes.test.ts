/**
 * Several gates on one database: none loses a commit, none forks a record, none waits for ever for another.
 * Source: spec ledger (backends); reliability T7, T30.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { registerKinds } from '../../../src/ledger/index.js';
import { migratePostgres, PostgresLedger } from '../../../src/ledger/postgres/index.js';
import { bundleChild, type Children } from '../../support/ledger-processes.js';
import { budgetKind, diaryKind, diaryProjection, LEDGER_ID, roomKind, wallClock } from '../../support/ledger-world.js';
import { testDatabase } from '../../support/postgres.js';
import { onDatabase } from '../../support/postgres-server.js';
import { verifies } from '../../support/verifies.js';

const kinds = registerKinds([roomKind, diaryKind, budgetKind]);

const openOn = (url: string) => PostgresLedger.open({ url, kinds, clock: wallClock, projections: [diaryProjection] });

describe('gates that share one database', () => {
  let children: Children;
  before(async () => {
    children = await bundleChild();
  });
  after(() => children.remove());

  async function inDatabase(check: (url: string) => Promise<void>): Promise<void> {
    const { url, drop } = await testDatabase();
    await migratePostgres(url, LEDGER_ID);
    try {
      await check(url);
    } finally {
      await drop();
    }
  }

  it('land 250 commits each of four processes on one record: no gap, no fork', () =>
    inDatabase(async (url) => {
      verifies('postgres.processes');
      const started = Array.from({ length: 4 }, (_, i) => children.start(url, 'write', `p${i}`, 250));
      await Promise.all(started.map((child) => child.line('ready')));
      for (const child of started) child.go();
      const lines = await Promise.all(started.map((child) => child.line('revisions')));
      await Promise.all(started.map(({ ended }) => ended));
      const revisions = lines.flatMap((line) => line.revisions as number[]).sort((a, b) => a - b);
      assert.deepEqual(
        revisions,
        Array.from({ length: 1_000 }, (_, i) => i),
      );
      const ledger = await openOn(url);
      assert.equal((await ledger.readVerified(roomKind, 'noted'))?.state.total, 1_000);
      assert.equal((await ledger.readVerified(diaryKind, 'diary'))?.state.entries, 1_000);
      const report = await ledger.verify();
      assert.deepEqual([report.events, report.head.sequence, report.defects], [2_000, 2_000, []]);
      await ledger.close();
    }));

  it('let one of 64 callers in four processes use a nonce, and refuse 63', () =>
    inDatabase(async (url) => {
      verifies('postgres.nonce-race');
      const started = Array.from({ length: 4 }, (_, i) => children.start(url, 'nonce', `p${i}-`, 16));
      await Promise.all(started.map((child) => child.line('ready')));
      for (const child of started) child.go();
      const lines = await Promise.all(started.map((child) => child.line('codes')));
      const codes = lines.flatMap((line) => line.codes as string[]);
      assert.equal(codes.filter((code) => code === 'won').length, 1);
      assert.equal(codes.filter((code) => code === 'replay').length, 63);
      await Promise.all(started.map(({ ended }) => ended));
      const ledger = await openOn(url);
      assert.deepEqual((await ledger.verify()).defects, []);
      await ledger.close();
    }));

  it('never lock each other out, whatever records their batches share', () =>
    inDatabase(async (url) => {
      verifies('postgres.no-deadlock');
      const deadlocks = () =>
        onDatabase<[number]>(url, 'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()');
      const started = Array.from({ length: 4 }, (_, i) => children.start(url, 'overlap', `p${i}`, 300));
      await Promise.all(started.map((child) => child.line('ready')));
      for (const child of started) child.go();
      const lines = await Promise.all(started.map((child) => child.line('failed')));
      await Promise.all(started.map(({ ended }) => ended));
      assert.deepEqual(
        lines.flatMap((line) => line.failed as string[]),
        [],
      );
      assert.deepEqual(await deadlocks(), [[0]]);
      const ledger = await openOn(url);
      const report = await ledger.verify();
      assert.deepEqual([report.events, report.defects], [2_400, []]);
      await ledger.close();
    }));

  it('lose no acknowledged commit when they are killed, and another puts what they left in order at once', () =>
    inDatabase(async (url) => {
      verifies('postgres.killed');
      const acknowledged = new Map<string, unknown>();
      const watcher = await openOn(url);
      for (let round = 0; round < 8; round += 1) {
        const started = [0, 1, 2].map((i) => children.start(url, 'until-killed', `r${round}p${i}`));
        await Promise.all(started.map((child) => child.line('key')));
        for (const child of started) {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 15));
          child.process.kill('SIGKILL');
        }
        await Promise.all(started.map(({ ended }) => ended));
        for (const { lines } of started)
          for (const { key, hash } of lines) if (key) acknowledged.set(String(key), hash);
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      assert.deepEqual(await onDatabase(url, 'SELECT 1 FROM countersign.unsequenced'), []);
      const report = await watcher.verify();
      assert.deepEqual(report.defects, []);
      const found = new Map<string, string>();
      for await (const { sequence, event } of watcher.watch(0, new AbortController().signal)) {
        const claims = event.data.claims as { taken: string[][] } | undefined;
        if (claims !== undefined) found.set(claims.taken[0]?.[2] as string, event.hash);
        if (sequence === report.head.sequence) break;
      }
      assert.ok(acknowledged.size > 50, `${acknowledged.size} commits`);
      for (const [key, hash] of acknowledged) assert.equal(found.get(key), hash, key);
      await watcher.close();
    }));

  it('go on when one of them is stopped in the middle of its work', () =>
    inDatabase(async (url) => {
      verifies('postgres.stopped');
      const ledger = await openOn(url);
      for (let round = 0; round < 3; round += 1) {
        const stopped = children.start(url, 'until-killed', `s${round}`);
        await stopped.line('key');
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
        stopped.process.kill('SIGSTOP');
        const { sequence } = await ledger.head();
        const works = await Promise.all(
          ['noted', 'plain', 'other'].map((id) =>
            ledger.commit({
              actor: 'agent:bot',
              writes: [{ kind: 'room', id }],
              decide: () => ({
                events: [{ record: { kind: 'room', id }, type: 'room-added', data: {} }],
                outcome: null,
              }),
            }),
          ),
        );
        assert.equal(works.length, 3);
        assert.ok((await ledger.head()).sequence >= sequence + 3, 'the log went on');
        stopped.process.kill('SIGKILL');
        await stopped.ended;
      }
      assert.deepEqual((await ledger.verify()).defects, []);
      await ledger.close();
    }));
});
