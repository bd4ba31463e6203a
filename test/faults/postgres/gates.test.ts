/**
 * Several gates on one database: who may launch and recover, what one decides another learns at once, and what becomes of
 * the launches of a gate that died.
 * Source: spec ledger (leases), actions (launch).
 */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type CountersignGate, confirmationCode, homeAt, initialize, open } from '../../../src/app/index.js';
import { bootstrapApprover } from '../../../src/app/internal.js';
import { type Failpoint, isOurs, LIMITS } from '../../../src/core/index.js';
import { Lease } from '../../../src/ledger/postgres/lease.js';
import { CountingConnector } from '../../support/counting-connector.js';
import { ALICE, FakeClock, sending, signed, TRUST } from '../../support/gate-world.js';
import { testDatabase } from '../../support/postgres.js';
import { onDatabase } from '../../support/postgres-server.js';
import { verifies } from '../../support/verifies.js';

interface Gates {
  readonly url: string;
  readonly clock: FakeClock;
  readonly connector: CountingConnector;
  /** A gate with a home of its own, on the one database. */
  another(failpoint?: Failpoint): Promise<CountersignGate>;
}

async function withGates(check: (gates: Gates) => Promise<void>): Promise<void> {
  const { url, drop } = await testDatabase();
  const root = mkdtempSync(join(tmpdir(), 'countersign-gates-'));
  const clock = new FakeClock();
  const connector = new CountingConnector();
  const first = homeAt(join(root, 'home0'), {});
  const { ledgerId } = await initialize(first, { trust: TRUST, demo: true, store: url });
  const opened: CountersignGate[] = [];
  const another = async (failpoint?: Failpoint) => {
    const folder = join(root, `home${opened.length + 1}`);
    cpSync(first.folder, folder, { recursive: true });
    const hook = failpoint === undefined ? {} : { failpoint };
    const gate = await open({ home: folder, clock, connectors: [connector], ...hook });
    opened.push(gate);
    return gate;
  };
  try {
    const gate = await another();
    const code = confirmationCode(ledgerId, ALICE.key.publicKey);
    await bootstrapApprover(gate.ledger, ledgerId, ALICE.keyText, code, 'demo');
    await check({ url, clock, connector, another });
  } finally {
    for (const gate of opened) await gate.close();
    await drop();
    rmSync(root, { recursive: true, force: true });
  }
}

describe('gates with homes of their own on one database', () => {
  it('learn at once what another one was told, and launch it', () =>
    withGates(async ({ another, connector }) => {
      verifies('postgres.gates');
      const [asking, launching] = [await another(), await another()];
      for (let round = 0; round < 3; round += 1) {
        const { action_id } = await asking.propose(sending({ target: `customer ${round}` }));
        const { request } = await asking.request(action_id);
        const { sequence } = await launching.ledger.head();
        const stop = new AbortController();
        const told = (async () => {
          for await (const { event } of launching.ledger.watch(sequence, stop.signal)) {
            if (event.record.id === action_id && event.type === 'action-approved') return performance.now();
          }
          return Number.POSITIVE_INFINITY;
        })();
        await asking.approve(action_id, signed(request));
        const decidedAt = performance.now();
        const tookMs = (await told) - decidedAt;
        assert.ok(tookMs < 150, `${tookMs} ms`);
        assert.equal((await launching.execute(action_id)).state, 'confirmed');
        assert.equal((await asking.show(action_id)).state, 'confirmed');
      }
      assert.equal(connector.calls.length, 3);
    }));

  it('launch one action once, however many try', () =>
    withGates(async ({ another, connector }) => {
      verifies('postgres.gates');
      const gates = [await another(), await another(), await another()];
      const [gate] = gates as [CountersignGate];
      const { action_id } = await gate.propose(sending());
      await gate.approve(action_id, signed((await gate.request(action_id)).request));
      const results = await Promise.allSettled(Array.from({ length: 24 }, (_, i) => gates[i % 3]?.execute(action_id)));
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
      assert.equal(connector.calls.length, 1);
    }));

  it('recover the launch of one that died', () =>
    withGates(async ({ another, clock, connector }) => {
      verifies('postgres.gates');
      const dying = await another((name) => {
        if (name === 'launch.before-call') throw new Error('the gate dies here');
      });
      const living = await another();
      const { action_id } = await dying.propose(sending());
      await dying.approve(action_id, signed((await dying.request(action_id)).request));
      await assert.rejects(dying.execute(action_id));
      assert.deepEqual((await living.recover()).unknown, [], 'its call may still go on');
      clock.advance(24 * 3_600_000);
      assert.deepEqual((await living.recover()).unknown, [action_id]);
      assert.equal((await dying.show(action_id)).state, 'unknown');
      assert.equal(connector.calls.length, 0);
    }));

  it('launch and recover nothing without a lease, and settle what they know', () =>
    withGates(async ({ another, connector, url }) => {
      verifies('postgres.lease');
      const gate = await another();
      const leases = await onDatabase(url, 'SELECT gate FROM countersign.leases WHERE until > clock_timestamp()');
      assert.equal(leases.length, 2);
      const { action_id } = await gate.propose(sending());
      await gate.approve(action_id, signed((await gate.request(action_id)).request));
      const lapsed = Object.assign(gate.ledger, {
        leaseBarrier: () =>
          new Lease(
            async () => undefined,
            () => 0,
          ).barrier(),
      });
      const isBusy = (error: unknown) => isOurs(error) && error.code === 'busy';
      await assert.rejects(gate.execute(action_id), isBusy);
      await assert.rejects(gate.recover(), isBusy);
      assert.equal((await gate.show(action_id)).state, 'approved');
      let asked = 0;
      Object.assign(lapsed, {
        leaseBarrier: () =>
          asked++ === 0
            ? undefined
            : new Lease(
                async () => '',
                () => 0,
              ).barrier(),
      });
      const { state, code } = await gate.execute(action_id);
      assert.deepEqual([state, code], ['failed', 'never_called']);
      assert.equal(connector.calls.length, 0);
    }));
});

describe('a lease', () => {
  it('is held from before the server was asked, and never beyond its time', async () => {
    verifies('postgres.lease');
    let now = 1_000;
    let answer: string | undefined = 'gate-1';
    const asked: string[] = [];
    const lease = new Lease(
      async ({ name }) => {
        asked.push(name);
        now += 100;
        return answer;
      },
      () => now,
    );
    assert.equal(lease.barrier()?.code, 'busy');
    await lease.renew();
    now = 1_000 + LIMITS.leaseMs - 1;
    assert.equal(lease.barrier(), undefined);
    now += 1;
    assert.equal(lease.barrier()?.code, 'busy');
    answer = undefined;
    await lease.renew();
    assert.equal(lease.barrier()?.code, 'busy', 'the server gave none');
    answer = 'gate-2';
    await lease.renew();
    assert.equal(lease.barrier(), undefined);
    assert.deepEqual(asked, ['takeLease', 'renewLease', 'takeLease', 'takeLease']);
    await lease.end();
    assert.equal(lease.barrier()?.code, 'busy');
  });
});
