/**
 * The store and the connector don't stand still: bytes that change while a call runs or a commit waits, and a connector
 * whose answers are alive.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Operation } from '../../src/connectors/index.js';
import {
  ALICE,
  approve,
  approved,
  codeOf,
  homeWorld,
  memoryWorld,
  proposed,
  signed,
  type World,
} from '../support/gate-world.js';
import { type Cell, flipped, RawStore } from '../support/raw-store.js';
import { verifies } from '../support/verifies.js';

const CHANGED = ['payloads.bytes', 'events.data', 'events.actor'] as const;

function cellOf(raw: RawStore, actionId: string, what: string): Cell {
  return raw
    .cells([{ kind: 'action', id: actionId }])
    .find(({ table, column }) => `${table}.${column}` === what) as Cell;
}

describe('a byte that changes in the store', () => {
  for (const what of CHANGED) {
    it(`while a call runs stops the next launch: ${what}`, async () => {
      verifies('actions.launch.stored-bytes');
      const world = await homeWorld();
      const actionId = await approved(world);
      const raw = new RawStore(world.folder);
      const cell = cellOf(raw, actionId, what);
      world.connector.behave = async () => {
        assert.ok(raw.write(cell, flipped(cell.value, 30)));
        return { result: 'failed', code: 'refused' };
      };
      await world.gate.execute(actionId).catch(() => undefined);
      world.connector.behave = async (_call, effect) => effect();
      await approve(world, actionId).catch(() => undefined);
      assert.match(await codeOf(world.gate.execute(actionId)), /^[a-z_]+$/);
      assert.equal(world.connector.effects.length, 0);
      raw.close();
      await world.close();
    });
  }

  it('between the look at an action and a commit stops the launch', async () => {
    verifies('actions.launch.stored-bytes');
    for (const what of CHANGED) {
      const world = await homeWorld();
      const actionId = await proposed(world);
      const { request } = await world.gate.request(actionId, { approver: ALICE.key.person });
      const raw = new RawStore(world.folder);
      const cell = cellOf(raw, actionId, what);
      const { ledger } = world.gate;
      const commit = ledger.commit.bind(ledger);
      ledger.commit = (work) => {
        ledger.commit = commit;
        raw.write(cell, flipped(cell.value, 30));
        return commit(work);
      };
      await world.gate.approve(actionId, signed(request)).catch(() => undefined);
      assert.match(await codeOf(world.gate.execute(actionId)), /^[a-z_]+$/, what);
      assert.equal(world.connector.calls.length, 0, what);
      raw.close();
      await world.close();
    }
  });
});

/** Changes the operations that the connector hands out. */
function withOperation(world: World, change: (operation: Operation) => Partial<Operation>): void {
  const find = world.connector.operation.bind(world.connector);
  world.connector.operation = async (name) => {
    const operation = await find(name);
    return operation === undefined ? undefined : { ...operation, ...change(operation) };
  };
}

describe('a connector whose answers are alive', () => {
  it('is compared with what it answered, not with what its object says now', async () => {
    verifies('actions.connector.copied');
    const world = await memoryWorld();
    const outside = { price: '10' };
    withOperation(world, () => ({ snapshot: async () => outside }));
    const actionId = await approved(world);
    outside.price = '12';
    assert.equal(await codeOf(world.gate.execute(actionId)), 'stale_precondition');
    let price = '10';
    const getter = await memoryWorld();
    withOperation(getter, () => ({
      snapshot: async () => ({
        get price() {
          return price;
        },
      }),
    }));
    const other = await approved(getter);
    price = '12';
    assert.equal(await codeOf(getter.gate.execute(other)), 'stale_precondition');
    assert.equal(world.connector.calls.length + getter.connector.calls.length, 0);
  });

  it('keeps its own objects, and what is no plain data is a fault that leaves nothing behind', async () => {
    verifies('actions.connector.copied');
    const world = await memoryWorld();
    const client = { open: true, run: () => undefined };
    withOperation(world, () => ({ prepare: async () => ({ client }) as never }));
    const actionId = await approved(world);
    assert.equal(await codeOf(world.gate.execute(actionId)), 'internal');
    assert.ok(!Object.isFrozen(client));
    assert.equal((await world.gate.show(actionId)).state, 'approved');
    const steps = ['one'];
    const second = await memoryWorld();
    withOperation(second, () => ({ prepare: async () => Object.freeze({ steps }) }));
    second.connector.behave = async (_call, effect) => {
      steps.push('two');
      return effect();
    };
    const launched = await approved(second);
    await second.gate.execute(launched);
    assert.deepEqual((await second.gate.show(launched)).attempts[0]?.prepared, { steps: ['one'] });
  });

  it('that changes the arguments it is shown changes nothing', async () => {
    verifies('actions.propose.args-read-only');
    const world = await memoryWorld();
    withOperation(world, (operation) => ({
      facts: (args) => {
        assert.throws(() => Object.assign(args, { text: 'other' }), TypeError);
        return operation.facts?.(args) ?? {};
      },
    }));
    const actionId = await approved(world);
    await world.gate.execute(actionId);
    assert.deepEqual(world.connector.calls[0]?.args, { text: 'hello' });
  });

  it('that renders other lines at the launch is not launched', async () => {
    verifies('actions.launch.rendered-again');
    const world = await memoryWorld();
    let line = 'as shown';
    withOperation(world, () => ({ summary: () => [{ name: 'line', value: line }] }));
    const actionId = await approved(world);
    line = 'another';
    assert.equal(await codeOf(world.gate.execute(actionId)), 'summary_mismatch');
    assert.equal(world.connector.calls.length, 0);
  });

  it('may answer without a promise', async () => {
    verifies('actions.connector.bounded');
    const world = await memoryWorld();
    withOperation(world, () => ({ snapshot: (() => ({ head: 'one' })) as never, prepare: (() => null) as never }));
    const actionId = await approved(world);
    assert.equal((await world.gate.execute(actionId)).state, 'confirmed');
  });
});

describe('what the gate hands out', () => {
  it('is nobody’s to change', async () => {
    verifies('ledger.commit.frozen');
    const world = await homeWorld();
    const { proposed: launched } = await world.gate.proposeAndLaunch({
      project: 'acme',
      connector: 'counting',
      operation: 'note',
      target: 'customers',
      args: {},
    });
    const payloads = (launched.launched?.payloads ?? []) as string[];
    assert.throws(() => payloads.push('x'), TypeError);
    const actionId = await proposed(world);
    const page = await world.gate.list();
    assert.throws(() => (page.rows as unknown[]).splice(0), TypeError);
    assert.throws(() => Object.assign(page.rows[0] as object, { status: 'confirmed' }), TypeError);
    assert.ok((await world.gate.list()).rows.some(({ id }) => id === actionId));
    await world.close();
  });
});
