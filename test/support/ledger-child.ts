/**
 * A process of its own that works on a ledger's file, for tests with several of them and for those that are killed.
 * It is told what to do by its arguments: file, mode, name, count. It answers one line of JSON for each thing done.
 *
 * `write`: that many commits on one record. `nonce`: that many callers at once with one and the same nonce. `until-killed`:
 * commits one behind the other, each acknowledged, until the process is killed. `hold`: keeps the write lock for so many
 * milliseconds. `open`: opens, reads the head, closes. `verify`: verifies. `overlap`: that many commits, each on several
 * records of a few, in any order. In place of a file stands the URL of a database.
 */
import { writeSync } from 'node:fs';
import { isOurs } from '../../src/core/index.js';
import { type Ledger, LocalLedger, SqliteStore } from '../../src/ledger/index.js';
import { PostgresLedger } from '../../src/ledger/postgres/index.js';
import { added, addWork, anyRandom, claimOf, diaryProjection, room, TEST_KINDS, wallClock } from './ledger-world.js';

/** Synchronous, so that a line is out of this process before the next commit begins. */
function tell(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

async function work(ledger: Ledger, mode: string, name: string, count: number): Promise<void> {
  if (mode === 'write') {
    const calls = Array.from({ length: count }, (_, i) =>
      ledger.commit(addWork('noted', {}, { by: 1, from: `${name} ${i}` })),
    );
    const results = await Promise.all(calls);
    tell({ revisions: results.flatMap(({ events }) => events.map(({ revision }) => revision)) });
  }
  if (mode === 'nonce') {
    const calls = Array.from({ length: count }, (_, i) =>
      ledger.commit(addWork(`${name}${i}`, { once: [{ scope: 'nonce', key: 'the one' }] })),
    );
    const results = await Promise.allSettled(calls);
    tell({
      codes: results.map((r) => (r.status === 'fulfilled' ? 'won' : isOurs(r.reason) ? r.reason.code : 'native')),
    });
  }
  if (mode === 'until-killed') {
    for (let i = 0; ; i += 1) {
      const claims = { claim: claimOf(`${name} ${i}`), once: [{ scope: 'nonce', key: `${name} ${i}` }] };
      const { events } = await ledger.commit(addWork(i % 2 ? 'noted' : 'plain', claims));
      tell({ key: `${name} ${i}`, hash: events[0]?.hash });
    }
  }
  if (mode === 'overlap') {
    const some = () => [0, 1, 2, 3, 4, 5].map((i) => `r${i}`).sort(() => Math.random() - 0.5);
    let left = count;
    const results = await Promise.allSettled(
      Array.from({ length: 16 }, async () => {
        while (left-- > 0) {
          const [a = '', b = '', c = ''] = some();
          const decide = () => ({ events: [added(a), added(b)], outcome: null });
          await ledger.commit({ actor: 'agent:bot', reads: [room(c)], writes: [room(a), room(b)], decide });
        }
      }),
    );
    tell({ failed: results.flatMap((r) => (r.status === 'rejected' ? [String(r.reason.code)] : [])) });
  }
  if (mode === 'verify') {
    const { events, defects } = await ledger.verify();
    tell({ events, defects: defects.length });
  }
  if (mode === 'open') tell({ head: await ledger.head() });
}

async function main(): Promise<void> {
  const [path = '', mode = '', name = '', count = '0'] = process.argv.slice(2);
  if (path.startsWith('postgres:')) {
    const projections = [diaryProjection];
    await run(
      await PostgresLedger.open({ url: path, kinds: TEST_KINDS, clock: wallClock, projections }),
      mode,
      name,
      count,
    );
    return;
  }
  const store = new SqliteStore(path);
  if (mode === 'hold') {
    while (!store.begin()) await new Promise((resolve) => setTimeout(resolve, 5));
    tell({ held: true });
    await new Promise((resolve) => setTimeout(resolve, Number(count)));
    store.rollback();
    store.close();
    return;
  }
  const projections = [diaryProjection];
  const ledger = new LocalLedger({ store, kinds: TEST_KINDS, clock: wallClock, random: anyRandom, projections });
  await run(ledger, mode, name, count);
}

async function run(ledger: Ledger, mode: string, name: string, count: string): Promise<void> {
  tell({ ready: true });
  if (mode === 'write' || mode === 'nonce' || mode === 'overlap')
    await new Promise((resolve) => process.stdin.once('data', resolve));
  await work(ledger, mode, name, Number(count));
  await ledger.close();
  process.exit(0);
}

void main();
