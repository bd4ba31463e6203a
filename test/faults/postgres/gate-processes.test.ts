/**
 * Gates in processes of their own on one database, killed and stopped at any step, beside a gate that lives: whatever they
 * left, another one finds either no launch and the nonce intact, or a launch whose outcome it establishes. Never a second
 * call, and no call of a gate that others may have taken for dead.
 * Source: spec ledger (leases), actions (launch); reliability (harness B).
 */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { auditLedger, type CountersignGate, open } from '../../../src/app/index.js';
import { LIMITS, Refusal } from '../../../src/core/index.js';
import { migratePostgres, PostgresLedger } from '../../../src/ledger/postgres/index.js';
import { rejectsWith } from '../../contracts/ledger.js';
import { loggedNoop } from '../../support/gate-child.js';
import { bundleGateChild, type Children, childHome, type Line } from '../../support/gate-processes.js';
import { sending, signed } from '../../support/gate-world.js';
import { addWork, LEDGER_ID, TEST_KINDS, wallClock } from '../../support/ledger-world.js';
import { testDatabase } from '../../support/postgres.js';
import { onDatabase } from '../../support/postgres-server.js';
import { verifies } from '../../support/verifies.js';

const POINTS = [
  'ledger.before-commit',
  'ledger.after-commit',
  'launch.before-commit',
  'launch.after-commit',
  'launch.before-call',
  'launch.after-call',
  'launch.before-settle',
  'launch.after-settle',
] as const;
const KILLS_PER_POINT = 3;
const RANDOM_KILLS = 12;
/** Past every deadline and grace of what a killed process left. */
const LATER_MS = 100_000;

const KILLS = [
  ...POINTS.flatMap((point) => Array.from({ length: KILLS_PER_POINT }, (_, at) => ({ point, hit: 1 + at * 2 }))),
  ...Array.from({ length: RANDOM_KILLS }, (_, at) => ({ point: 'any moment', hit: at })),
];

interface World {
  readonly folder: string;
  readonly url: string;
  /** A gate of this process, with a home of its own, and a clock that is so far ahead. */
  gate(aheadMs?: number): Promise<CountersignGate>;
  /** Time goes on, for the gates of this process and for the processes that start from now on. */
  goOn(ms: number): void;
  callsOf(id: string): number;
}

async function withWorld(check: (world: World) => Promise<void>): Promise<void> {
  const { url, drop } = await testDatabase();
  const { folder, remove } = await childHome(url);
  const opened: CountersignGate[] = [];
  let gone = 0;
  const gate = async (aheadMs = 0) => {
    const home = join(folder, `home${opened.length}`);
    cpSync(join(folder, 'home'), home, { recursive: true });
    const clock = { now: () => Date.now() + aheadMs + gone, monotonic: () => performance.now() };
    const one = await open({ home, connectors: [loggedNoop(folder, () => clock.now())], clock });
    opened.push(one);
    return one;
  };
  const callsOf = (id: string) => {
    const path = join(folder, 'calls.log');
    return existsSync(path)
      ? readFileSync(path, 'utf8')
          .split('\n')
          .filter((line) => line.startsWith(id)).length
      : 0;
  };
  try {
    const goOn = (ms: number) => {
      gone += ms;
      writeFileSync(join(folder, 'ahead'), String(gone));
    };
    await check({ folder, url, gate, callsOf, goOn });
  } finally {
    for (const one of opened) await one.close().catch(() => undefined);
    remove();
    await drop();
  }
}

async function idsIn(gate: CountersignGate, ...states: string[]): Promise<readonly string[]> {
  const { rows, next } = await gate.list({ states });
  assert.equal(next, undefined, 'one page is enough');
  return rows.map(({ id }) => id).sort();
}

/** What the process said is there, and what it left is brought to an end by a gate that lives. */
async function lookAfter(gate: CountersignGate, world: World, lines: readonly Line[]): Promise<number> {
  for (const line of lines) {
    assert.equal(line.error, undefined);
    if (line.settled !== undefined) assert.equal((await gate.show(line.settled as string)).state, line.state);
    else if (line.approved !== undefined) {
      assert.ok(!['proposed', 'cancelled'].includes((await gate.show(line.approved as string)).state));
    }
  }
  const launched = await idsIn(gate, 'launched');
  assert.ok(launched.length <= 1, 'one process runs one action at a time');
  assert.deepEqual((await gate.recover()).unknown, launched);
  for (const id of launched) {
    const isDone = existsSync(join(world.folder, 'effects', `${id}.json`));
    assert.equal((await gate.reconcile(id)).state, isDone ? 'confirmed' : 'failed');
    assert.ok(world.callsOf(id) === 1 || !isDone, 'an effect without a call');
  }
  for (const id of await idsIn(gate, 'approved')) {
    assert.equal(world.callsOf(id), 0, 'what was not launched was not called');
    assert.equal((await gate.execute(id)).state, 'confirmed', 'its receipt is intact');
  }
  for (const id of await idsIn(gate, 'proposed')) await gate.cancel(id);
  return launched.length;
}

describe('a gate on PostgreSQL, as a process beside others', () => {
  let children: Children;
  before(async () => {
    children = await bundleGateChild();
  });
  after(() => children.remove());

  it(`never calls twice and loses nothing, over ${KILLS.length} kills`, { timeout: 240_000 }, () =>
    withWorld(async (world) => {
      verifies('postgres.gates-killed');
      const living = await world.gate();
      let cut = 0;
      for (const [at, { point, hit }] of KILLS.entries()) {
        const child = children.start(world.folder, 'cycles', `kill ${at}`, point, String(hit));
        if (point === 'any moment') {
          await child.line('ready');
          setTimeout(() => child.process.kill('SIGKILL'), 1 + ((hit * 37) % 120));
        }
        assert.equal(await child.ended, 'SIGKILL', JSON.stringify(child.lines.at(-1)));
        world.goOn(LATER_MS);
        cut += await lookAfter(living, world, child.lines);
      }
      assert.ok(cut >= 8, `only ${cut} launches were cut`);
      const { defects } = await auditLedger(living.ledger, await living.ledger.head());
      assert.deepEqual(defects, []);
      let byReceipt = 0;
      for (const id of await idsIn(living, 'confirmed', 'failed')) {
        const { attempts } = await living.show(id);
        assert.equal(attempts.length, 1);
        assert.ok(world.callsOf(id) <= 1, 'no action was called twice');
        byReceipt += attempts[0]?.authorization.kind === 'receipts' ? 1 : 0;
      }
      const nonces = "SELECT count(*)::int FROM countersign.claims WHERE scope = 'nonce'";
      assert.deepEqual(await onDatabase(world.url, nonces), [[byReceipt]]);
    }),
  );

  it('makes no call when it was stopped past its lease, however soon it goes on', { timeout: 60_000 }, () =>
    withWorld(async (world) => {
      verifies('postgres.stopped-lease');
      const living = await world.gate();
      const leaseMs = 500;
      const stopMs = 1_200;
      assert.ok(stopMs < LIMITS.launchToCallMsMax, 'the launch itself is not too late');
      const ask = async () => {
        const { action_id } = await living.propose(sending({ connector: 'shell-noop' }));
        await living.approve(action_id, signed((await living.request(action_id)).request));
        return action_id;
      };
      const id = await ask();
      const child = children.start(world.folder, 'pause', id, String(leaseMs));
      await child.line('stopping');
      assert.equal((await living.show(id)).state, 'launched');
      const alive = 'SELECT count(*)::int FROM countersign.leases WHERE until > clock_timestamp()';
      await new Promise((resolve) => setTimeout(resolve, stopMs));
      assert.deepEqual(await onDatabase(world.url, alive), [[1]], 'the lease of the stopped gate ran out');
      child.process.kill('SIGCONT');
      const settled = await child.line('action_id');
      assert.deepEqual([settled.state, settled.code], ['failed', 'never_called']);
      await child.ended;
      assert.equal(world.callsOf(id), 0);
      assert.equal((await living.show(id)).state, 'failed');
    }),
  );

  it('ends what is overdue once, however many gates look at the same time', () =>
    withWorld(async (world) => {
      verifies('postgres.expiry-once');
      const asking = await world.gate();
      const ids = await Promise.all(
        Array.from({ length: 12 }, async (_, i) => {
          const call = sending({ connector: 'shell-noop', target: `customer ${i}`, approve_within_ms: 60_000 });
          return (await asking.propose(call)).action_id;
        }),
      );
      const gates = await Promise.all([0, 1, 2].map(() => world.gate(LATER_MS)));
      const done = await Promise.all([...gates, ...gates].map((gate) => gate.recover()));
      assert.deepEqual(done.flatMap(({ expired }) => expired).sort(), [...ids].sort());
      for (const id of ids) {
        const events = await asking.ledger.events({ kind: 'action', id });
        assert.equal(events.filter(({ type }) => type === 'action-cancelled').length, 1);
      }
      Object.assign(asking.ledger, { leaseBarrier: () => new Refusal('busy', 'no lease') });
      await rejectsWith('busy', asking.recover());
    }));
});

describe('events that wait for their place', () => {
  it('are bounded: a gate whose log is too far behind refuses work until it went on', async () => {
    verifies('postgres.unsequenced');
    const { url, drop } = await testDatabase();
    await migratePostgres(url, LEDGER_ID);
    const ledger = await PostgresLedger.open({ url, kinds: TEST_KINDS, clock: wallClock, unsequencedMax: 3 });
    const lock = "SELECT pg_advisory_xact_lock(hashtextextended('countersign sequencer', 7)), pg_sleep(2)";
    const held = onDatabase(url, lock);
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (const id of ['a', 'b', 'c']) await ledger.commit(addWork(id));
    await rejectsWith('busy', ledger.commit(addWork('d')));
    await held;
    await ledger.head();
    await ledger.commit(addWork('d'));
    const { events, defects } = await ledger.verify(await ledger.head());
    assert.deepEqual([events, defects], [4, []]);
    assert.ok(LIMITS.unsequencedMax > LIMITS.batchUnitsMax);
    await ledger.close();
    await drop();
  });
});
