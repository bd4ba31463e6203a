/**
 * The file as it stands at each point of a commit, as a process leaves it that dies there: copied, opened anew, verified.
 * And a disk that is full in the middle of the work.
 * Source: spec reliability (harness D, F); spec ledger (backends).
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import type { FailpointName } from '../../../src/core/index.js';
import { LocalLedger, SqliteStore } from '../../../src/ledger/index.js';
import {
  addWork,
  anyRandom,
  claimOf,
  diaryProjection,
  HandClock,
  LEDGER_ID,
  roomKind,
  TEST_KINDS,
} from '../../support/ledger-world.js';
import { copyFile, freshFile } from '../../support/sqlite-file.js';
import { verifies } from '../../support/verifies.js';

function openOn(store: SqliteStore, failpoint?: (name: FailpointName) => void): LocalLedger {
  const options = { kinds: TEST_KINDS, clock: new HandClock(), random: anyRandom, projections: [diaryProjection] };
  return new LocalLedger({ ...options, store, ...(failpoint === undefined ? {} : { failpoint }) });
}

/** Commits until the store refuses, then frees space with `heal` and checks that only what was answered stands. */
async function fillUp(store: SqliteStore, heal: () => void): Promise<void> {
  const ledger = openOn(store);
  let answered = 0;
  let failed: unknown;
  while (failed === undefined && answered < 5_000) {
    await ledger.commit(addWork('noted', { claim: claimOf(`c${answered}`) }, { by: 1, label: 'x'.repeat(4_000) })).then(
      () => {
        answered += 1;
      },
      (error: unknown) => {
        failed = error;
      },
    );
  }
  assert.equal((failed as { code: string }).code, 'store');
  assert.ok(answered > 10, `${answered} commits`);
  assert.equal((await ledger.readVerified(roomKind, 'noted'))?.state.total, answered);
  assert.deepEqual((await ledger.verify()).defects, []);
  heal();
  const { replayed } = await ledger.commit(addWork('noted', { claim: claimOf(`c${answered}`) }));
  assert.equal(replayed, false);
  assert.equal((await ledger.readVerified(roomKind, 'noted'))?.state.total, answered + 1);
  assert.deepEqual((await ledger.verify()).defects, []);
  await ledger.close();
}

describe('a process that dies at any point of a commit', () => {
  it('leaves a file with all of the commit or nothing of it', async () => {
    verifies('ledger.faults.crash-points');
    const { path, folder, remove } = freshFile();
    const copies: { readonly path: string; readonly name: FailpointName; readonly commits: number }[] = [];
    let commits = 0;
    const ledger = openOn(new SqliteStore(path, LEDGER_ID), (name) => {
      const copy = `${folder}/${copies.length}.db`;
      copyFile(path, copy);
      copies.push({ path: copy, name, commits });
    });
    for (; commits < 40; commits += 1) await ledger.commit(addWork(commits % 2 ? 'noted' : 'plain'));
    await ledger.close();
    assert.equal(copies.length, 80);
    for (const copy of copies) {
      const died = openOn(new SqliteStore(copy.path));
      const expected = copy.name === 'ledger.after-commit' ? copy.commits + 1 : copy.commits;
      const totals = await Promise.all(['noted', 'plain'].map((id) => died.readVerified(roomKind, id)));
      assert.equal(
        totals.reduce((sum, found) => sum + (found?.state.total ?? 0), 0),
        expected,
      );
      assert.deepEqual((await died.verify()).defects, []);
      await died.close();
    }
    remove();
  });

  it('keeps every answered commit when the disk is full', async (context) => {
    verifies('ledger.faults.disk-full');
    const { folder, remove } = freshFile();
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', folder], { stdio: 'ignore' });
    } catch {
      remove();
      return context.skip('this system lets nobody mount a small disk here');
    }
    try {
      const grow = () => execFileSync('mount', ['-o', 'remount,size=32m', folder], { stdio: 'ignore' });
      await fillUp(new SqliteStore(`${folder}/ledger.db`, LEDGER_ID), grow);
    } finally {
      execFileSync('umount', [folder]);
      remove();
    }
  });
});
