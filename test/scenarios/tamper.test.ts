/**
 * What was approved is what is launched, or nothing is: every stored field of an approved action is changed by a byte
 * behind the gate's back, and everything else that a launch reads is changed in front of it.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { auditLedger, backupTo, type CountersignGate, examine } from '../../src/app/index.js';
import { keyId } from '../../src/identity/index.js';
import type { PolicyEngine } from '../../src/policy/index.js';
import {
  ALICE,
  addKeyAct,
  approve,
  approved,
  BOB,
  carriedOut,
  codeOf,
  configAct,
  homeWorld,
  memoryWorld,
  personWithKey,
  proposed,
  signed,
  TRUST,
  type World,
  type WorldOptions,
} from '../support/gate-world.js';
import { type Cell, flipped, RawStore, type Value } from '../support/raw-store.js';
import { tamper } from '../support/sqlite-file.js';
import { verifies } from '../support/verifies.js';

/** Places in the log, and columns that lists alone look at: they say nothing of the action, so they don't stop it. */
const ASIDE = ['events.sequence', 'events.log_hash', 'records.project', 'records.due', 'records.version'];
const FOUND_BY = ['records.status', 'records.principal', 'records.lookup'];

/** The columns by which an action is found do stop it: by them its duplicates are noticed. */
function isAside({ table, column, of }: Cell): boolean {
  const name = `${table}.${column}`;
  return ASIDE.includes(name) || (FOUND_BY.includes(name) && !of.startsWith('action/'));
}

/** Bytes that are tried of one field. */
const PLACES_MAX = 24;

function placesOf(value: Value): readonly number[] {
  if (value === null || typeof value === 'number') return [0, 1];
  const { length } = Buffer.from(value as string);
  const step = Math.max(1, Math.floor(length / PLACES_MAX));
  return Array.from({ length: Math.max(1, Math.ceil(length / step)) }, (_, at) => at * step);
}

async function recordsOf(world: World, actionId: string) {
  const { approvals } = await world.gate.show(actionId);
  return [
    { kind: 'action', id: actionId },
    { kind: 'request', id: approvals[0]?.request_id ?? '' },
    { kind: 'key', id: keyId(ALICE.key.publicKey) },
    { kind: 'person', id: 'human:alice' },
    { kind: 'ledger', id: 'ledger' },
    { kind: 'config', id: 'trust' },
  ];
}

describe('one changed byte in the store', () => {
  for (const fresh of [false, true]) {
    it(`stops the launch${fresh ? ' also in a gate that was opened after' : ''}`, { timeout: 120_000 }, async () => {
      verifies('actions.launch.stored-bytes');
      verifies('actions.load.recomputed');
      verifies('actions.launch.indexed');
      const world = await homeWorld();
      const actionId = await approved(world, { args: { text: 'pay the invoice', account: 'acme' }, target: 'acme' });
      const raw = new RawStore(world.folder);
      const through: string[] = [];
      let tried = 0;
      for (const cell of raw.cells(await recordsOf(world, actionId))) {
        if (isAside(cell)) continue;
        for (const at of fresh ? [placesOf(cell.value)[0] ?? 0] : placesOf(cell.value)) {
          const value = flipped(cell.value, at);
          if (!raw.write(cell, value)) continue;
          tried += 1;
          await attempt(world, actionId, cell, fresh, through);
          raw.restore(cell, value);
        }
      }
      raw.close();
      assert.deepEqual(through, []);
      assert.ok(tried > (fresh ? 60 : 800), String(tried));
      assert.equal(world.connector.calls.length, 0);
      assert.equal((await world.gate.execute(actionId)).state, 'confirmed', 'unchanged it is launched');
      await world.close();
    });
  }

  it('in what only lists and the log use launches the signed bytes or nothing, and the audit finds it', async () => {
    verifies('actions.launch.stored-bytes');
    verifies('audit.every-byte');
    for (const column of ASIDE) {
      const world = await homeWorld();
      const actionId = await approved(world);
      const bytes = await world.gate.args(actionId);
      const raw = new RawStore(world.folder);
      const records = [{ kind: 'action', id: actionId }];
      const cell = raw.cells(records).find(({ table, column: name }) => `${table}.${name}` === column) as Cell;
      assert.ok(raw.write(cell, flipped(cell.value, 1)), column);
      raw.close();
      await world.gate.execute(actionId).catch((error: { code: string }) => assert.match(error.code, /^[a-z_]+$/));
      for (const { argsText, target } of world.connector.effects)
        assert.deepEqual([argsText, target], [bytes, 'customers']);
      const another = await world.another();
      const found = await auditLedger(another.ledger).then(
        ({ defects }) => defects.length > 0,
        () => true,
      );
      assert.ok(found || column === 'records.version', column);
      await world.close();
    }
  });
});

describe('a content that is gone', () => {
  it('is found by the audit and by a backup, whichever it is, and a doctor goes on behind it', async () => {
    verifies('audit.gone');
    const world = await homeWorld();
    const gate = world.gate as CountersignGate;
    const ran = await approved(world);
    await gate.execute(ran);
    const waits = await proposed(world, { args: { text: 'another', account: 'customers' } });
    await gate.comment(waits, 'hello');
    const target = join(world.folder, '..', 'backup.db');
    assert.deepEqual((await auditLedger(gate.ledger)).defects, []);
    for (const kind of ['action', 'comment', 'thread']) {
      tamper(gate.home.store, (database) => {
        database.exec(`DELETE FROM payloads WHERE sequence IN
          (SELECT sequence FROM events WHERE kind = '${kind}' AND payloads <> '[]' ORDER BY sequence LIMIT 1)`);
      });
      const [first, ...more] = (await auditLedger(gate.ledger)).defects.filter(({ where }) => where.startsWith(kind));
      assert.match(first?.what ?? '', /a payload is gone, and nothing says that it was erased/);
      assert.deepEqual(more, []);
    }
    assert.equal(await codeOf(backupTo(gate, target)), 'corrupt');
    const found = await examine({ home: world.folder });
    assert.ok(
      found.some(({ name, level }) => name === 'thread' && level === 'problem'),
      JSON.stringify(found),
    );
    await world.close();
  });
});

async function attempt(world: World, actionId: string, cell: Cell, fresh: boolean, through: string[]): Promise<void> {
  const name = `${cell.table}.${cell.column} of ${cell.of}`;
  const gate = fresh ? await world.another().catch((error: unknown) => error as { code?: string }) : world.gate;
  if (!('execute' in gate)) {
    assert.match(gate.code ?? '', /^[a-z_]+$/, name);
    return;
  }
  try {
    await gate.execute(actionId);
    through.push(name);
  } catch (error) {
    assert.match((error as { code?: string }).code ?? String(error), /^[a-z_]+$/, name);
  }
  if (world.connector.calls.length > 0) through.push(`${name}: called`);
  world.connector.calls.length = 0;
  if (fresh) await gate.close();
}

/** A world with an approved action; something changes; nothing is called. */
async function changedBetween(
  code: string,
  change: (world: World, actionId: string) => Promise<void> | void,
  options: WorldOptions = {},
  operation = 'send',
): Promise<void> {
  for (const make of [memoryWorld, homeWorld]) {
    const world = await make(options);
    const actionId = await approved(world, { operation });
    await change(world, actionId);
    assert.equal(await codeOf(world.gate.execute(actionId)), code);
    assert.equal(world.connector.calls.length, 0);
    assert.equal((await world.gate.show(actionId)).attempts.length, 0);
    await world.close();
  }
}

describe('between approval and launch nothing is called once', () => {
  it('the code of the operation is another one', async () => {
    verifies('actions.launch.operation-pinned');
    await changedBetween('binding_changed', ({ connector }) => {
      Object.assign(connector, { codeVersion: '2' });
    });
  });

  it('the operation is of a higher class', async () => {
    verifies('actions.launch.class-floor');
    await changedBetween('binding_changed', ({ connector }) => {
      Object.assign(connector, { class: 'costly' });
    });
  });

  it('the operation or the connector is gone', async () => {
    verifies('actions.launch.operation-pinned');
    await changedBetween('operation', ({ connector }) => {
      Object.assign(connector, { missing: true });
    });
    await changedBetween('connector', ({ gate }) => {
      Object.assign(gate.services, { connector: () => undefined });
    });
  });

  it('a precondition no longer holds', async () => {
    verifies('actions.launch.preconditions');
    const change = ({ connector }: World) => {
      Object.assign(connector, { outside: { head: 'two' } });
    };
    await changedBetween('stale_precondition', change, {}, 'guarded');
  });

  it('the trust configuration is another one, here or by another process', async () => {
    verifies('actions.launch.policy-changed');
    const other = TRUST.replace('name: test', 'name: tested');
    await changedBetween('policy_changed', async (world) => carriedOut(world, await configAct(world, other)));
    await changedBetween('policy_changed', async (world) => {
      const another = await world.another();
      const { request } = await another.requestAct(await configAct(world, other));
      await another.submit(signed(request));
    });
  });

  it('the approver is gone, or the key that signed', async () => {
    verifies('actions.launch.registry');
    const withBob = async (world: World) => carriedOut(world, addKeyAct(BOB, ['approver', 'operator']));
    await changedBetween('unknown_approver', async (world) => {
      await withBob(world);
      const change = { change: 'remove-person', person: 'human:alice' } as const;
      await carriedOut(world, { kind: 'registry', change }, BOB);
    });
    await changedBetween('revoked_authenticator', async (world) => {
      const more = personWithKey('human:alice', 3);
      await carriedOut(world, addKeyAct(more));
      const change = { change: 'revoke-key', key_id: keyId(ALICE.key.publicKey) } as const;
      await carriedOut(world, { kind: 'registry', change }, more);
    });
  });

  it('policy denies, throws, says nothing or never answers', async () => {
    verifies('actions.launch.policy-again');
    const ask = { outcome: 'REQUIRE_APPROVAL', determinedBy: ['test'], reason: 'ask' } as const;
    const cases: readonly (readonly [string, () => unknown])[] = [
      ['policy_denied', () => ({ ...ask, outcome: 'DENY' })],
      ['policy_error', () => ({ ...ask, outcome: 'DENY', code: 'policy_error' })],
      [
        'policy_error',
        () => {
          throw new Error('broken');
        },
      ],
      ['policy_error', () => undefined],
      ['policy_error', () => null],
      ['policy_error', () => ({ outcome: 'MAYBE', determinedBy: [], reason: '' })],
      ['policy_error', () => ({ outcome: 'ALLOW' })],
      ['policy_error', () => ({ outcome: 'ALLOW', determinedBy: 'all', reason: 'x' })],
      ['policy_error', () => 'ALLOW'],
      ['policy_error', () => new Promise(() => undefined)],
    ];
    for (const [code, answer] of cases) {
      let isLaunch = false;
      const policy: PolicyEngine = { decide: async () => (isLaunch ? (answer() as typeof ask) : ask) };
      const world = await memoryWorld({ policy });
      const actionId = await approved(world);
      isLaunch = true;
      assert.equal(await codeOf(world.gate.execute(actionId)), code, String(answer));
      assert.equal(world.connector.calls.length, 0);
    }
  });

  it('policy asks for a person where it had allowed it', async () => {
    verifies('actions.launch.policy-again');
    let outcome: 'ALLOW' | 'REQUIRE_APPROVAL' = 'ALLOW';
    const policy: PolicyEngine = { decide: async () => ({ outcome, determinedBy: [], reason: 'as told' }) };
    const world = await memoryWorld({ policy });
    const actionId = await proposed(world);
    assert.equal((await world.gate.show(actionId)).state, 'approved');
    outcome = 'REQUIRE_APPROVAL';
    assert.equal(await codeOf(world.gate.execute(actionId)), 'receipt_required');
    await approve(world, actionId);
    assert.equal((await world.gate.execute(actionId)).state, 'confirmed');
  });

  it('its time has passed, to the millisecond, whatever the queue', async () => {
    verifies('actions.launch.deadline');
    for (const late of [-1, 0, 1]) {
      const world = await memoryWorld();
      const actionId = await approved(world, { launch_within_ms: 5_000 });
      world.clock.advance(5_000 + late);
      const found = await world.gate.execute(actionId).then(
        ({ state }) => state,
        ({ code }: { code: string }) => code,
      );
      assert.equal(found, late < 0 ? 'confirmed' : 'expired');
      assert.equal(world.connector.calls.length, late < 0 ? 1 : 0);
    }
  });

  it('an approval comes at its deadline or after', async () => {
    verifies('actions.machine.approve-by');
    for (const late of [-1, 0, 1]) {
      const world = await memoryWorld();
      const actionId = await proposed(world, { approve_within_ms: 5_000 });
      const { request } = await world.gate.request(actionId);
      world.clock.advance(5_000 + late);
      const attached = world.gate.approve(actionId, signed(request));
      const found = await attached.then(
        ({ state }) => state,
        ({ code }: { code: string }) => code,
      );
      assert.equal(found, late < 0 ? 'approved' : 'expired');
    }
  });
});
