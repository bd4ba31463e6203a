/** Being away, and recovering a ledger whose operators lost their keys. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditLedger } from '../../src/app/audit.js';
import { examine, homeAt, listPeople } from '../../src/app/index.js';
import { describeKey, describePerson } from '../../src/app/internal.js';
import { endOpenActions, recoverApprover, recoverable } from '../../src/app/recover.js';
import type { Act } from '../../src/approvals/index.js';
import { confirmationCode, keyId, keyKind, personKind, recoverLedger } from '../../src/identity/index.js';
import { addPasskeyAct, authenticator } from '../support/authenticator.js';
import {
  ALICE,
  addKeyAct,
  approve,
  BOB,
  carriedOut,
  codeOf,
  homeWorld,
  memoryWorld,
  personWithKey,
  proposed,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { defectsIn, type Forged, logOf } from '../support/logs.js';
import { verifies } from '../support/verifies.js';

const DAY = 24 * 3_600_000;

const awayAct = (person: string, until: number | null, delegate: string | null = null): Act => ({
  kind: 'registry',
  change: { change: 'away', person, until, delegate },
});

async function twoPeople(): Promise<World> {
  const world = await memoryWorld({ trust: TRUST.replace('separate:', 'quorum: 2\n    separate:') });
  await carriedOut(world, addKeyAct(BOB, ['approver', 'operator']));
  return world;
}

const personIn = async (world: World, id: string) => (await world.gate.ledger.read(personKind, id))?.state;

describe('somebody who is away', () => {
  it('says so themselves, for a year at most, and may name another approver', async () => {
    verifies('receipts.away.own');
    const world = await twoPeople();
    const until = world.clock.now() + 7 * DAY;
    const { request, also, summary } = await world.gate.requestAct(awayAct('human:bob', until, 'human:alice'));
    assert.deepEqual([request.approver, also], ['human:bob', []]);
    assert.ok(summary.includes('delegate: human:alice'));
    assert.equal(await codeOf(world.gate.submit(signed(request, ALICE))), 'foreign_authenticator');
    assert.equal(
      await codeOf(world.gate.requestAct(awayAct('human:bob', until), 'human:alice')),
      'approver_not_allowed',
      'also an operator sends nobody away',
    );
    await world.gate.submit(signed(request, BOB));
    assert.deepEqual((await personIn(world, 'human:bob'))?.away, { until, delegate: 'human:alice' });
    const by = (act: Act) => codeOf(carriedOut(world, act, BOB));
    const now = world.clock.now();
    assert.equal(await by(awayAct('human:bob', now)), 'invalid', 'in the past');
    assert.equal(await by(awayAct('human:bob', now + 366 * DAY + 1)), 'invalid', 'too long');
    assert.equal(await by(awayAct('human:bob', null, 'human:alice')), 'invalid', 'back with a delegate');
    for (const delegate of ['human:bob', 'human:nobody']) {
      assert.equal(await by(awayAct('human:bob', until, delegate)), 'approvers', delegate);
    }
    assert.equal(await codeOf(world.gate.requestAct(awayAct('human:nobody', until))), 'approvers');
    await carriedOut(world, awayAct('human:bob', now + 366 * DAY), BOB);
    await carriedOut(world, awayAct('human:bob', null), BOB);
    assert.equal((await personIn(world, 'human:bob'))?.away, null);
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('may sign as before, and counts as before', async () => {
    verifies('receipts.away.powerless');
    const world = await twoPeople();
    const before = await proposed(world, { args: { text: 'before' } });
    await carriedOut(world, awayAct('human:bob', world.clock.now() + DAY, 'human:alice'), BOB);
    const after = await proposed(world, { args: { text: 'after' } });
    for (const actionId of [before, after]) {
      const { content } = await world.gate.show(actionId);
      assert.deepEqual([content.approvers, content.quorum], [['human:alice', 'human:bob'], 2]);
      await approve(world, actionId);
      assert.equal(await codeOf(world.gate.execute(actionId)), 'receipt_required', 'the delegate is no second person');
      await approve(world, actionId, BOB);
      assert.equal((await world.gate.execute(actionId)).state, 'confirmed');
    }
  });

  it('is shown by lists until the day has come', async () => {
    verifies('receipts.away.shown');
    verifies('receipts.people.list');
    const world = await twoPeople();
    const until = world.clock.now() + DAY;
    await carriedOut(world, awayAct('human:bob', until, 'human:alice'), BOB);
    await carriedOut(world, addPasskeyAct(authenticator('human:alice')));
    const { people, keys } = await listPeople(world.gate.ledger);
    const bob = people.find(({ person }) => person === 'human:bob');
    assert.ok(bob !== undefined);
    assert.match(describePerson(bob, until - 1), /^away until \d{4}-.*Z, human:alice stands in$/);
    assert.equal(describePerson(bob, until), 'active');
    assert.equal(describePerson({ ...bob, state: 'removed' }, until - 1), 'removed');
    const words = keys.map((key) => describeKey(key, { state: 'active' })).sort();
    assert.deepEqual(words, ['active, passkey (ES256)', 'active, software key', 'active, software key']);
  });
});

/** The same world with a gate that was opened anew. */
async function reopened(world: World): Promise<World> {
  return { ...world, gate: await world.another() };
}

const FRESH = personWithKey('human:alice', 21);

describe('a ledger whose operators lost their keys', () => {
  const typed = (ledgerId: string, who = FRESH) => confirmationCode(ledgerId, who.key.publicKey);

  it('is recovered while no gate is open, by the code of its new key', async () => {
    verifies('receipts.recover.terminal');
    const world = await homeWorld();
    const home = homeAt(world.folder, {});
    const { ledger_id } = await world.gate.identity();
    assert.equal(await codeOf(recoverable(home)), 'busy');
    assert.equal(await codeOf(recoverApprover(home, FRESH.keyText, typed(ledger_id))), 'busy');
    await world.gate.close();
    assert.deepEqual(await recoverable(home), { ledgerId: ledger_id });
    for (const other of ['', 'AAAA-AAAA', typed('f'.repeat(32)), typed(ledger_id, ALICE)]) {
      assert.equal(await codeOf(recoverApprover(home, FRESH.keyText, other)), 'forbidden');
    }
    assert.equal(await codeOf(recoverApprover(home, ALICE.keyText, typed(ledger_id, ALICE))), 'invalid', 'a known key');
    await recoverApprover(home, FRESH.keyText, typed(ledger_id));
    await world.close();
    const bare = await homeWorld({ bare: true });
    await bare.gate.close();
    assert.equal(await codeOf(recoverable(homeAt(bare.folder, {}))), 'forbidden');
    await bare.close();
  });

  it('has another epoch then: what was signed and asked before is void, and the new key signs', async () => {
    verifies('receipts.recover.epoch');
    const world = await homeWorld();
    const home = homeAt(world.folder, {});
    const { ledger_id } = await world.gate.identity();
    await carriedOut(world, addKeyAct(BOB));
    const ready = await proposed(world);
    await approve(world, ready);
    const waiting = await world.gate.request(await proposed(world, { args: { text: 'b' } }));
    const act = await world.gate.requestAct(addKeyAct(personWithKey('human:eve', 9)));
    await world.gate.close();
    const done = await recoverApprover(home, FRESH.keyText, typed(ledger_id));
    assert.deepEqual([done.person, done.epoch, done.revoked], ['human:alice', 1, [keyId(ALICE.key.publicKey)]]);
    const after = await reopened(world);
    assert.equal((await after.gate.identity()).epoch, 1);
    assert.equal(await codeOf(after.gate.execute(ready)), 'audience', 'its approval is void');
    await endOpenActions(home);
    assert.equal(await codeOf(after.gate.execute(ready)), 'decision_required');
    assert.equal(await codeOf(after.gate.submit(signed(act.request))), 'audience');
    assert.notEqual(await codeOf(after.gate.submit(signed(waiting.request))), 'it was not refused');
    assert.equal(after.connector.calls.length, 0);
    const next = await proposed(after, { args: { text: 'after' } });
    const asked = await after.gate.request(next, { approver: 'human:alice' });
    assert.equal(await codeOf(after.gate.submit(signed(asked.request, ALICE))), 'revoked_authenticator');
    await approve(after, next, FRESH);
    assert.equal((await after.gate.execute(next)).state, 'confirmed');
    const other = await proposed(after, { args: { text: 'bob' } });
    await approve(after, other, BOB);
    await carriedOut(after, addKeyAct(personWithKey('human:eve', 9)), FRESH);
    assert.deepEqual((await auditLedger(after.gate.ledger)).defects, []);
    await world.close();
  });

  it('may get a new operator, or one who had fewer roles; who was removed stays so', async () => {
    verifies('receipts.recover.bounded');
    const world = await homeWorld();
    const home = homeAt(world.folder, {});
    const { ledger_id } = await world.gate.identity();
    await carriedOut(world, addKeyAct(BOB, ['viewer']));
    const eve = personWithKey('human:eve', 9);
    await carriedOut(world, addKeyAct(eve));
    await carriedOut(world, { kind: 'registry', change: { change: 'remove-person', person: 'human:eve' } });
    await world.gate.close();
    const [bob, carol, again] = [
      ['human:bob', 22],
      ['human:carol', 23],
      ['human:eve', 24],
    ].map(([name, seed]) => personWithKey(name as string, seed as number));
    assert.ok(bob !== undefined && carol !== undefined && again !== undefined);
    await recoverApprover(home, bob.keyText, typed(ledger_id, bob));
    await recoverApprover(home, carol.keyText, typed(ledger_id, carol));
    assert.equal(await codeOf(recoverApprover(home, again.keyText, typed(ledger_id, again))), 'unknown_approver');
    const after = await reopened(world);
    assert.deepEqual((await personIn(after, 'human:bob'))?.roles, ['viewer', 'approver', 'operator']);
    assert.deepEqual((await personIn(after, 'human:carol'))?.roles, ['approver', 'operator']);
    assert.equal((await after.gate.ledger.read(keyKind, keyId(BOB.key.publicKey)))?.state.state, 'revoked');
    const { recoveries, defects } = await auditLedger(after.gate.ledger);
    assert.deepEqual([recoveries.map(({ person }) => person), defects], [['human:bob', 'human:carol'], []]);
    await world.close();
  });

  it('shows it for ever: in its state, to doctor, to the audit', async () => {
    verifies('receipts.recover.shown');
    const world = await homeWorld();
    const home = homeAt(world.folder, {});
    const { ledger_id } = await world.gate.identity();
    await world.gate.close();
    await recoverApprover(home, FRESH.keyText, typed(ledger_id));
    const after = await reopened(world);
    const { recovered } = await after.gate.identity();
    assert.deepEqual(
      recovered.map(({ person }) => person),
      ['human:alice'],
    );
    assert.equal((await auditLedger(after.gate.ledger)).recoveries.length, 1);
    await after.gate.close();
    const findings = await examine({ home: home.folder });
    const told = findings.find(({ name }) => name === 'recovered');
    assert.match(told?.found ?? '', /^human:alice was confirmed again at the terminal on \d{4}-/);
    await world.close();
  });

  it('registers one key with it: a log in which a recovery did more does not verify', async () => {
    verifies('receipts.recover.bounded');
    const world = await memoryWorld();
    const bob = personWithKey('human:bob', 22);
    const eve = personWithKey('human:eve', 9);
    const ids = [bob, eve].map(({ key }) => keyId(key.publicKey)) as [string, string];
    const writes = [
      { kind: 'ledger', id: 'ledger' },
      ...['human:bob', 'human:eve'].map((id) => ({ kind: 'person', id }) as const),
      ...ids.map((id) => ({ kind: 'key', id }) as const),
    ] as const;
    await world.gate.ledger.commit({
      actor: 'human:bob',
      writes: [...writes],
      decide: (view) => {
        const events = recoverLedger(view, 'human:bob', bob.key.publicKey, []);
        assert.ok(Array.isArray(events));
        const { key } = eve;
        const authorization = { recovery: 'terminal' };
        const data = { key_id: ids[1], person: 'human:eve', public_key: key.publicKey, authorization };
        const more = { record: { kind: 'key', id: ids[1] }, type: 'key-added', data } as const;
        const person = { person: 'human:bob', roles: ['auditor'], authorization };
        const roles = { record: { kind: 'person', id: 'human:bob' }, type: 'person-recovered', data: person } as const;
        return { events: [...events, more, roles], outcome: null };
      },
    });
    const { defects } = await auditLedger(world.gate.ledger);
    assert.deepEqual(
      defects.map(({ where }) => where),
      [`key/${ids[1]}#0`, 'person/human:bob#1'],
    );
  });

  it('is not taken for recovered by an event without one', async () => {
    verifies('receipts.recover.bounded');
    const world = await memoryWorld();
    const events = await logOf(world.gate.ledger);
    const alice = keyId(ALICE.key.publicKey);
    const data = { authorization: { recovery: 'terminal' } };
    const record = { kind: 'key', id: alice } as const;
    const last = events.at(-1) as Forged;
    const forged: Forged = { ...last, record, revision: 1, type: 'key-revoked', data };
    assert.deepEqual(await defectsIn(world.gate.ledger, [...events, forged]), [
      'no receipt of kind registry stands behind this',
    ]);
  });
});
