/**
 * What a store on a server alone can suffer: connections that are cut at any piece of a commit, backends that are ended, a
 * server that is killed. Whatever happens, each caller gets the answer of what became of its work.
 * Source: spec ledger (backends); reliability (harness C, D).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOurs } from '../../../src/core/index.js';
import { type Ledger, registerKinds } from '../../../src/ledger/index.js';
import { migratePostgres, PostgresLedger } from '../../../src/ledger/postgres/index.js';
import { cuttingProxy } from '../../support/cutting-proxy.js';
import {
  addWork,
  claimOf,
  diaryKind,
  diaryProjection,
  LEDGER_ID,
  roomKind,
  wallClock,
} from '../../support/ledger-world.js';
import { testDatabase } from '../../support/postgres.js';
import { freshDatabase, onDatabase, PostgresServer } from '../../support/postgres-server.js';
import { verifies } from '../../support/verifies.js';

const kinds = registerKinds([roomKind, diaryKind]);

const openOn = (url: string) => PostgresLedger.open({ url, kinds, clock: wallClock, projections: [diaryProjection] });

/** Commits many units, with a claim and without, and demands that those answered are those that stand. */
async function commitMany(ledger: Ledger, count: number, tag: string): Promise<number> {
  const works = Array.from({ length: count }, (_, i) =>
    addWork(i % 2 === 0 ? 'noted' : `plain${i % 5}`, i % 3 === 0 ? { claim: claimOf(`${tag} ${i}`) } : {}, { by: 1 }),
  );
  const results = await Promise.allSettled(works.map((work) => ledger.commit(work)));
  const failed = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  assert.deepEqual(
    failed.map((error) => `${isOurs(error) && error.code} ${error.cause ?? error}`),
    [],
  );
  for (const one of results) {
    assert.ok(one.status === 'fulfilled' && !one.value.replayed && one.value.events.length === 1);
  }
  return results.length;
}

async function totalOf(ledger: Ledger): Promise<number> {
  const ids = ['noted', ...[0, 1, 2, 3, 4].map((i) => `plain${i}`)];
  const found = await Promise.all(ids.map((id) => ledger.readVerified(roomKind, id)));
  return found.reduce((sum, one) => sum + (one?.state.total ?? 0), 0);
}

async function assertWhole(ledger: Ledger, total: number): Promise<void> {
  assert.equal(await totalOf(ledger), total);
  const report = await ledger.verify(await ledger.head());
  assert.deepEqual(report.defects, []);
}

describe('a connection that is lost', () => {
  for (const when of ['before', 'behind'] as const) {
    it(`at any piece of a commit, ${when} it is handed on, costs no answer and no commit`, async () => {
      verifies('postgres.lost-commit');
      const { url, drop } = await testDatabase();
      await migratePostgres(url, LEDGER_ID);
      const proxy = await cuttingProxy(url);
      const ledger = await openOn(proxy.url);
      let total = 0;
      let cuts = 0;
      for (let n = 1; n <= 40; n += 1) {
        proxy.cutAt(n, when);
        for (const count of [5, 1, 6]) total += await commitMany(ledger, count, `n${n} ${count}`);
        if (proxy.pieces >= n) cuts += 1;
      }
      proxy.cutAt(Number.POSITIVE_INFINITY, 'before');
      assert.ok(cuts >= 10, `${cuts} cuts`);
      await assertWhole(ledger, total);
      await ledger.close();
      await proxy.close();
      await drop();
    });
  }

  it('because its backend is ended, at any time, costs no answer and no commit', async () => {
    verifies('postgres.lost-commit');
    const { url, drop } = await testDatabase();
    await migratePostgres(url, LEDGER_ID);
    const ledger = await openOn(url);
    let ended = 0;
    let done = false;
    const ending = (async () => {
      while (!done) {
        const rows = await onDatabase(
          url,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'countersign' AND random() < 0.5`,
        );
        ended += rows.length;
        await new Promise((resolve) => setTimeout(resolve, 4));
      }
    })();
    let total = 0;
    try {
      for (let round = 0; round < 400 && ended < 30; round += 1) total += await commitMany(ledger, 40, `r${round}`);
    } finally {
      done = true;
      await ending;
    }
    assert.ok(ended >= 30, `${ended} backends`);
    await assertWhole(ledger, total);
    await ledger.close();
    await drop();
  });

  it('because the server is killed loses no answered commit, and what waits is answered when it is back', async () => {
    verifies('postgres.server-killed');
    const server = new PostgresServer();
    await server.start();
    const { url } = await freshDatabase(server.url('postgres'));
    await migratePostgres(url, LEDGER_ID);
    const ledger = await openOn(url);
    let total = 0;
    for (let round = 0; round < 4; round += 1) {
      const working = (async () => {
        for (let i = 0; i < 12; i += 1) total += await commitMany(ledger, 30, `k${round} ${i}`);
      })();
      await new Promise((resolve) => setTimeout(resolve, 20 + 30 * round));
      await server.kill();
      await server.start();
      await working;
    }
    await assertWhole(ledger, total);
    await ledger.close();
    await server.remove();
  });

  it('for too long is a fault of the store, and no native error', async () => {
    verifies('postgres.server-gone');
    const server = new PostgresServer();
    await server.start();
    const { url } = await freshDatabase(server.url('postgres'));
    await migratePostgres(url, LEDGER_ID);
    let elapsed = 0;
    const clock = { now: () => Date.now(), monotonic: () => (elapsed += 1_000) };
    const ledger = await PostgresLedger.open({ url, kinds, clock });
    await server.kill();
    await assert.rejects(ledger.commit(addWork('a')), (error: unknown) => isOurs(error) && error.code === 'store');
    await ledger.close();
    await server.remove();
  });
});
