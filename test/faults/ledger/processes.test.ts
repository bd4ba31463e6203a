/**
 * Several processes on one file: none loses a commit, none forks a record, and none blocks its loop for the others.
 * Source: spec ledger (backends); reliability findings 2 to 4, T7, T30.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../../src/core/index.js';
import { LocalLedger, SqliteStore } from '../../../src/ledger/index.js';
import { openDatabase } from '../../../src/ledger/sqlite/database.js';
import { rejectsWith } from '../../contracts/ledger.js';
import { bundleChild, type Children } from '../../support/ledger-processes.js';
import {
  addWork,
  anyRandom,
  diaryKind,
  LEDGER_ID,
  roomKind,
  TEST_KINDS,
  wallClock,
} from '../../support/ledger-world.js';
import { type FreshFile, freshFile } from '../../support/sqlite-file.js';
import { StoreDecorator } from '../../support/store-decorator.js';
import { verifies } from '../../support/verifies.js';

function openLedger(path: string, newLedgerId?: string, clock = wallClock): LocalLedger {
  const store = new SqliteStore(path, newLedgerId);
  return new LocalLedger({ store, kinds: TEST_KINDS, clock, random: anyRandom });
}

/** Remembers how long each try for the lock blocked, in milliseconds. */
class CountingStore extends StoreDecorator {
  refused = 0;

  override begin(): boolean {
    const locked = super.begin();
    if (!locked) this.refused += 1;
    return locked;
  }
}

describe('processes that share one file', () => {
  let children: Children;
  before(async () => {
    children = await bundleChild();
  });
  after(() => children.remove());

  async function inFile(check: (file: FreshFile) => Promise<void>): Promise<void> {
    const file = freshFile();
    await openLedger(file.path, LEDGER_ID).close();
    try {
      await check(file);
    } finally {
      file.remove();
    }
  }

  for (const processes of [2, 4]) {
    it(`lets ${processes} processes land 250 commits each on one record: no gap, no fork`, () =>
      inFile(async ({ path }) => {
        verifies('ledger.sqlite.processes');
        const started = Array.from({ length: processes }, (_, i) => children.start(path, 'write', `p${i}`, 250));
        await Promise.all(started.map((child) => child.line('ready')));
        for (const child of started) child.go();
        const lines = await Promise.all(started.map((child) => child.line('revisions')));
        await Promise.all(started.map(({ ended }) => ended));
        const revisions = lines.flatMap((line) => line.revisions as number[]).sort((a, b) => a - b);
        assert.deepEqual(
          revisions,
          Array.from({ length: processes * 250 }, (_, i) => i),
        );
        const ledger = openLedger(path);
        assert.equal((await ledger.read(roomKind, 'noted'))?.state.total, processes * 250);
        assert.equal((await ledger.readVerified(diaryKind, 'diary'))?.state.entries, processes * 250);
        const report = await ledger.verify();
        assert.deepEqual([report.events, report.defects], [processes * 500, []]);
        await ledger.close();
      }));
  }

  it('lets one of 64 callers in four processes use a nonce, and refuses 63', () =>
    inFile(async ({ path }) => {
      verifies('ledger.sqlite.nonce-race');
      const started = Array.from({ length: 4 }, (_, i) => children.start(path, 'nonce', `p${i}-`, 16));
      await Promise.all(started.map((child) => child.line('ready')));
      for (const child of started) child.go();
      const lines = await Promise.all(started.map((child) => child.line('codes')));
      const codes = lines.flatMap((line) => line.codes as string[]);
      assert.equal(codes.filter((code) => code === 'won').length, 1);
      assert.equal(codes.filter((code) => code === 'replay').length, 63);
      await Promise.all(started.map(({ ended }) => ended));
    }));

  it('waits for the lock of another process on the loop, and for 50 ms at most inside a try', () =>
    inFile(async ({ path }) => {
      verifies('ledger.sqlite.busy');
      // The time inside a try is SQLite's own bound, read back from a connection: a clock would measure the machine.
      const { database } = openDatabase(path);
      assert.equal(database.pragma('busy_timeout', { simple: true }), LIMITS.storeBusyMsMax);
      database.close();
      assert.ok(LIMITS.storeBusyMsMax <= 50);
      const store = new CountingStore(new SqliteStore(path));
      const ledger = new LocalLedger({ store, kinds: TEST_KINDS, clock: wallClock, random: anyRandom });
      const holder = children.start(path, 'hold', '', 600);
      await holder.line('held');
      let turns = 0;
      const timer = setInterval(() => {
        turns += 1;
      }, 1);
      await ledger.commit(addWork('a'));
      clearInterval(timer);
      await holder.ended;
      assert.ok(store.refused >= 1, 'the lock was held by the other process');
      assert.ok(turns >= store.refused, 'the loop turned between the tries');
      await ledger.close();
    }));

  it('answers busy when others keep the lock for too long, and nothing was written', () =>
    inFile(async ({ path }) => {
      verifies('ledger.sqlite.busy');
      let elapsed = 0;
      // Ten seconds pass within a few tries.
      const clock = { now: () => Date.now(), monotonic: () => (elapsed += 2_500) };
      const ledger = openLedger(path, undefined, clock);
      const holder = children.start(path, 'hold', '', 800);
      await holder.line('held');
      await rejectsWith('busy', ledger.commit(addWork('a')));
      await holder.ended;
      assert.equal(await ledger.read(roomKind, 'a'), undefined);
      await ledger.commit(addWork('a'));
      await ledger.close();
    }));

  it('opens in many processes at once', () =>
    inFile(async ({ path }) => {
      verifies('ledger.sqlite.processes');
      const started = Array.from({ length: 8 }, () => children.start(path, 'open'));
      await Promise.all(started.map(({ ended }) => ended));
      assert.ok(started.every(({ process }) => process.exitCode === 0));
    }));

  it('copies a whole store while other processes write, and the copy verifies', () =>
    inFile(async ({ path, folder }) => {
      verifies('ledger.sqlite.backup');
      const writers = [0, 1].map((i) => children.start(path, 'until-killed', `p${i}`));
      await Promise.all(writers.map((child) => child.line('key')));
      const ledger = openLedger(path);
      const known = await ledger.head();
      for (let copy = 0; copy < 5; copy += 1) {
        const target = `${folder}/copy${copy}.db`;
        await Promise.all([ledger.backup(target), ledger.commit(addWork('a'))]);
        const copied = openLedger(target);
        assert.deepEqual((await copied.verify(known)).defects, []);
        await copied.close();
      }
      for (const { process } of writers) process.kill('SIGKILL');
      await Promise.all(writers.map(({ ended }) => ended));
      await ledger.close();
    }));

  it('loses no acknowledged commit when it is killed a hundred times', () =>
    inFile(async ({ path }) => {
      verifies('ledger.sqlite.killed');
      const acknowledged = new Map<string, unknown>();
      for (let round = 0; round < 25; round += 1) {
        const started = [0, 1, 2, 3].map((i) => children.start(path, 'until-killed', `r${round}p${i}`));
        await Promise.all(started.map((child) => child.line('key')));
        for (const child of started) {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 15));
          child.process.kill('SIGKILL');
        }
        await Promise.all(started.map(({ ended }) => ended));
        for (const { lines } of started)
          for (const { key, hash } of lines) if (key) acknowledged.set(String(key), hash);
      }
      const ledger = openLedger(path);
      const report = await ledger.verify();
      assert.deepEqual(report.defects, []);
      const found = new Map<string, string>();
      for (let at = 0; at < report.head.sequence; ) {
        for (const { sequence, event } of await ledger.log(at)) {
          at = sequence;
          const claims = event.data.claims as { taken: string[][] } | undefined;
          if (claims !== undefined) found.set(claims.taken[0]?.[2] as string, event.hash);
        }
      }
      assert.ok(acknowledged.size > 500, `${acknowledged.size} commits`);
      for (const [key, hash] of acknowledged) assert.equal(found.get(key), hash, key);
      await ledger.close();
    }));
});
