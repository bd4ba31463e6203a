/** People, keys and configuration change by signatures alone, and what was signed is what is done. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditLedger, confirmationCode, homeAt, initialize, makeKey, open, unlockKey } from '../../src/app/index.js';
import { bootstrapApprover } from '../../src/app/internal.js';
import { type Act, admitAct } from '../../src/approvals/index.js';
import { Refusal } from '../../src/core/index.js';
import { keyId, keyKind, personKind } from '../../src/identity/index.js';
import { ownVector } from '../../vectors/read.js';
import { readProjectFile } from '../support/files.js';
import {
  ALICE,
  addKeyAct,
  approve,
  BOB,
  carriedOut,
  codeOf,
  configAct,
  keyFileFor,
  memoryWorld,
  personWithKey,
  proposed,
  signed,
  TRUST,
} from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const OTHER = TRUST.replace('name: test', 'name: tested');
const revoke = (publicKey: string): Act => ({
  kind: 'registry',
  change: { change: 'revoke-key', key_id: keyId(publicKey) },
});
const remove = (person: string): Act => ({ kind: 'registry', change: { change: 'remove-person', person } });

describe('the first approver', () => {
  it('is confirmed once, by the code of this ledger and this key', async () => {
    verifies('authority.bootstrap.once');
    const world = await memoryWorld({ bare: true });
    const { ledger_id } = await world.gate.identity();
    const first = (typed: string, keyText = ALICE.keyText) =>
      bootstrapApprover(world.gate.ledger, ledger_id, keyText, typed, 'demo');
    const code = confirmationCode(ledger_id, ALICE.key.publicKey);
    const others = ['', '-', 'AAAA-AAAA', `${code}X`, confirmationCode(ledger_id, BOB.key.publicKey)];
    for (const typed of [...others, confirmationCode('f'.repeat(32), ALICE.key.publicKey)]) {
      assert.equal(await codeOf(first(typed)), 'forbidden', typed);
    }
    assert.equal(await codeOf(first(code, 'no key file')), 'format');
    await first(` ${code.toLowerCase().replace('-', ' ')} `);
    assert.deepEqual((await world.gate.ledger.read(personKind, 'human:alice'))?.state.roles, ['approver', 'operator']);
    assert.equal(await codeOf(first(code)), 'forbidden');
    const codeOfBob = confirmationCode(ledger_id, BOB.key.publicKey);
    assert.equal(await codeOf(first(codeOfBob, BOB.keyText)), 'forbidden');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('is confirmed by nothing that the library offers', async () => {
    verifies('app.public');
    const library = Object.keys(await import('../../src/app/index.js'));
    const internal = Object.keys(await import('../../src/app/internal.js'));
    for (const name of ['bootstrapApprover', 'damageCopy']) assert.ok(internal.includes(name), name);
    for (const name of internal) assert.ok(!library.includes(name), name);
    const { exports } = JSON.parse(readProjectFile('package.json'));
    const modules = Object.values(exports as Record<string, { default: string }>).map((entry) => entry.default);
    const doors = ['app', 'messages', 'connectors', 'client'].map((name) => `./dist/${name}/index.js`);
    assert.deepEqual(modules, doors);
  });

  it('of an ordinary ledger needs its terminal', async () => {
    verifies('authority.bootstrap.terminal');
    const { mkdtempSync, rmSync } = await import('node:fs');
    const root = mkdtempSync('/tmp/countersign-ordinary-');
    const home = homeAt(`${root}/home`, {});
    const { ledgerId } = await initialize(home, { trust: TRUST });
    const gate = await open({ home: home.folder });
    const code = confirmationCode(ledgerId, ALICE.key.publicKey);
    const by = (ceremony: 'demo' | 'terminal') =>
      bootstrapApprover(gate.ledger, ledgerId, ALICE.keyText, code, ceremony);
    assert.equal(await codeOf(by('demo')), 'no_terminal');
    await by('terminal');
    await gate.close();
    rmSync(root, { recursive: true });
  });

  it('has a sound key: one that anybody could sign for is refused here, at every later key, and when a file is opened', async () => {
    verifies('authority.keys.admitted');
    const { keys } = ownVector<{ keys: string[] }>('key-admission/small-order.json');
    const bare = await memoryWorld({ bare: true });
    const { ledger_id } = await bare.gate.identity();
    const world = await memoryWorld();
    for (const key of keys) {
      const text = keyFileFor('human:alice', key);
      const code = confirmationCode(ledger_id, key);
      assert.equal(await codeOf(bootstrapApprover(bare.gate.ledger, ledger_id, text, code, 'demo')), 'invalid');
      assert.equal(await codeOf(unlockKey(text, 'passphrase')), 'unknown_authenticator');
      const change = { change: 'add-key', person: 'human:eve', roles: ['approver'], public_key: key } as const;
      const act: Act = { kind: 'registry', change: { ...change, roles: [...change.roles] } };
      assert.equal(await codeOf(world.gate.requestAct(act)), 'invalid');
    }
    assert.equal((await bare.gate.identity()).bootstrapped, false);
  });
});

describe('a key', () => {
  it('in a file opens under its own passphrase alone, and shows a changed byte', { timeout: 60_000 }, async () => {
    verifies('authority.keys.file');
    const { mkdtempSync, readFileSync, rmSync, statSync } = await import('node:fs');
    const folder = mkdtempSync('/tmp/countersign-key-');
    const path = `${folder}/alice.key`;
    assert.equal(await codeOf(makeKey('0'.repeat(32), 'human:alice', 'short', path)), 'invalid');
    const made = await makeKey('0'.repeat(32), 'human:alice', 'a long passphrase', path);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(await codeOf(makeKey('0'.repeat(32), 'human:alice', 'a long passphrase', path)), 'invalid');
    const text = readFileSync(path, 'utf8');
    assert.equal((await unlockKey(text, 'a long passphrase')).publicKey, made.publicKey);
    assert.equal(await codeOf(unlockKey(text, 'another passphrase')), 'forbidden');
    assert.equal(await codeOf(unlockKey(text.replace('human:alice', 'human:bob'), 'a long passphrase')), 'forbidden');
    assert.equal(
      await codeOf(unlockKey(text.replace(made.publicKey, BOB.key.publicKey), 'a long passphrase')),
      'forbidden',
    );
    for (const broken of ['', '{}', text.slice(0, -20), text.replace('countersign-key/1', 'countersign-key/2')]) {
      assert.equal(await codeOf(unlockKey(broken, 'a long passphrase')), 'format');
    }
    rmSync(folder, { recursive: true });
  });

  it('of a new person is signed for by an operator; a further one by that person alone', async () => {
    verifies('authority.registry.add-key');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB));
    await approve(world, await proposed(world, { approvers: ['human:bob'] }), BOB);
    const more = personWithKey('human:bob', 5);
    const { request } = await world.gate.requestAct(addKeyAct(more));
    assert.equal(request.approver, 'human:bob');
    assert.equal(await codeOf(world.gate.submit(signed(request, ALICE))), 'foreign_authenticator');
    assert.equal(await codeOf(world.gate.submit(signed(request, more))), 'unknown_authenticator');
    await world.gate.submit(signed(request, BOB));
    assert.equal((await world.gate.ledger.read(keyKind, keyId(more.key.publicKey)))?.state.person, 'human:bob');
    assert.equal(await codeOf(carriedOut(world, addKeyAct(more), BOB)), 'invalid', 'it is registered already');
    const operator = addKeyAct(personWithKey('human:bob', 6), ['operator']);
    assert.equal(await codeOf(carriedOut(world, operator, BOB)), 'invalid', 'nobody raises their own role');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('of one new person is added once when two are signed for at once', async () => {
    verifies('authority.registry.add-key');
    const world = await memoryWorld();
    const acts = [addKeyAct(BOB), addKeyAct(personWithKey('human:bob', 7))];
    const requests = await Promise.all(acts.map((act) => world.gate.requestAct(act)));
    const results = await Promise.allSettled(requests.map(({ request }) => world.gate.submit(signed(request))));
    const codes = results.map((r) => (r.status === 'fulfilled' ? 'done' : (r.reason as { code: string }).code)).sort();
    assert.deepEqual(codes, ['approver_not_allowed', 'done']);
  });

  it('that is revoked voids at once what it signed and nobody launched', async () => {
    verifies('authority.registry.revoke');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB, ['approver', 'operator']));
    const actionId = await proposed(world);
    await approve(world, actionId, BOB);
    const { request: waiting } = await world.gate.request(await proposed(world, { args: { text: 'b' } }), {
      approver: 'human:bob',
    });
    await carriedOut(world, revoke(BOB.key.publicKey));
    assert.equal(await codeOf(world.gate.execute(actionId)), 'revoked_authenticator');
    assert.equal(await codeOf(world.gate.approve(waiting.subject, signed(waiting, BOB))), 'revoked_authenticator');
    assert.equal(world.connector.calls.length, 0);
    await approve(world, actionId, ALICE);
    assert.equal((await world.gate.execute(actionId)).state, 'confirmed', 'a fresh approval takes its place');
    assert.equal(await codeOf(carriedOut(world, revoke(BOB.key.publicKey))), 'revoked_authenticator');
    assert.equal(
      await codeOf(carriedOut(world, revoke(personWithKey('human:x', 9).key.publicKey))),
      'unknown_authenticator',
    );
  });
});

describe('the last operator', () => {
  it('stays, with a key', async () => {
    verifies('authority.registry.last-operator');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB));
    assert.equal(await codeOf(carriedOut(world, remove('human:alice'))), 'approvers');
    assert.equal(await codeOf(carriedOut(world, revoke(ALICE.key.publicKey))), 'approvers');
    await carriedOut(world, remove('human:bob'));
    assert.equal(await codeOf(carriedOut(world, remove('human:bob'))), 'unknown_approver');
    assert.equal(await codeOf(carriedOut(world, addKeyAct(personWithKey('human:bob', 8)))), 'unknown_approver');
  });

  it('stays also when two operators take each other away at once', async () => {
    verifies('authority.registry.last-operator');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB, ['approver', 'operator']));
    const asked = await Promise.all([
      world.gate.requestAct(remove('human:alice'), 'human:bob'),
      world.gate.requestAct(remove('human:bob'), 'human:bob'),
    ]);
    for (const { request } of asked) {
      assert.deepEqual(await world.gate.submit(signed(request, BOB)), { request_id: request.request_id, missing: 1 });
    }
    const results = await Promise.allSettled(
      asked.map(({ also }) => world.gate.submit(signed(also[0] as never, ALICE))),
    );
    // The other one is refused, or kept: the one who signed it before is gone.
    const done = results.filter((result) => result.status === 'fulfilled' && result.value.act !== undefined);
    assert.equal(done.length, 1);
    const { rows } = await world.gate.ledger.list({ kind: 'person', statuses: ['active'] });
    assert.equal(rows.length, 1);
  });

  it('alone signs acts: an approver can not', async () => {
    verifies('authority.acts.operator');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB));
    for (const act of [await configAct(world, OTHER), remove('human:bob'), addKeyAct(personWithKey('human:eve', 4))]) {
      const { request } = await world.gate.requestAct(act);
      assert.equal(request.approver, 'human:alice');
      assert.equal(await codeOf(world.gate.requestAct(act, 'human:bob')), 'approver_not_allowed');
      assert.equal(
        await codeOf(world.gate.submit(signed({ ...request, approver: 'human:bob' }, BOB))),
        'unknown_request',
      );
      assert.equal(await codeOf(world.gate.submit(signed(request, BOB))), 'foreign_authenticator');
    }
    const bare = await memoryWorld({ bare: true });
    assert.equal(await codeOf(bare.gate.requestAct(addKeyAct(BOB))), 'approvers');
  });
});

describe('a person with another role than approver', () => {
  it('approves nothing', async () => {
    verifies('authority.receipt.role');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB, ['viewer', 'operator', 'auditor']));
    const actionId = await proposed(world);
    assert.deepEqual((await world.gate.show(actionId)).content.approvers, ['human:alice']);
    assert.equal(await codeOf(world.gate.request(actionId, { approver: 'human:bob' })), 'approver_not_allowed');
  });
});

describe('an act', () => {
  it('that could not be carried out is asked of nobody', async () => {
    verifies('authority.acts.feasible');
    const world = await memoryWorld();
    const project = { scope: 'project', name: 'acme' } as const;
    const barred = [
      [{ kind: 'freeze', op: 'lift', scope: project }, 'state', /countersign inbox/],
      [remove('human:alice'), 'approvers', /approver invite NAME --role operator/],
      [revoke(ALICE.key.publicKey), 'approvers', /approver invite NAME --role operator/],
      [addKeyAct(ALICE), 'invalid', /./],
    ] as const;
    for (const [act, code, next] of barred) {
      const refused = await world.gate.requestAct(act as Act).catch((error: Refusal) => error);
      assert.ok(refused instanceof Refusal);
      assert.deepEqual([refused.code, next.test(refused.next)], [code, true]);
    }
    assert.deepEqual((await world.gate.ledger.list({ kind: 'request' })).rows, [], 'nobody was asked');
    await carriedOut(world, { kind: 'freeze', op: 'set', scope: project });
    assert.equal(await codeOf(world.gate.requestAct({ kind: 'freeze', op: 'set', scope: project })), 'state');
    const frozen = await proposed(world).catch((error: Refusal) => error);
    assert.match((frozen as Refusal).next, /`countersign unfreeze --project acme`/);
    await carriedOut(world, { kind: 'freeze', op: 'lift', scope: project });
  });

  it('is a closed form', async () => {
    verifies('authority.acts.closed');
    const good = addKeyAct(BOB);
    const bad = [
      ...[null, undefined, {}, [], 'registry', { kind: 'finding' }, { ...good, approved: true }],
      {
        kind: 'registry',
        change: { change: 'add-key', person: 'agent:bob', roles: [], public_key: BOB.key.publicKey },
      },
      {
        kind: 'registry',
        change: { change: 'add-key', person: 'human:bob', roles: ['root'], public_key: BOB.key.publicKey },
      },
      { kind: 'registry', change: { change: 'add-key', person: 'human:bob', roles: [], public_key: 'zz' } },
      { kind: 'restore', sequence: -1, log_hash: 'x', remembered: {} },
    ];
    const world = await memoryWorld();
    for (const act of bad) {
      assert.throws(() => admitAct(act), { code: 'invalid' });
      assert.equal(await codeOf(world.gate.requestAct(act as Act)), 'invalid');
    }
  });

  it('is carried out once, for what was signed, in its own kind', async () => {
    verifies('authority.acts.once');
    const world = await memoryWorld();
    const { request } = await world.gate.requestAct(addKeyAct(BOB));
    const receipt = signed(request);
    const results = await Promise.allSettled([1, 2, 3].map(() => world.gate.submit(receipt)));
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.match(await codeOf(world.gate.submit(receipt)), /^(replay|approver_not_allowed)$/);
    const actionId = await proposed(world);
    assert.equal(await codeOf(world.gate.approve(actionId, receipt)), 'kind');
    world.clock.advance(3_600_000);
    const late = await world.gate.requestAct(addKeyAct(personWithKey('human:eve', 4)));
    world.clock.advance(15 * 60_000);
    assert.equal(await codeOf(world.gate.submit(signed(late.request))), 'expired');
  });

  it('shows its signer exactly what the request names', async () => {
    verifies('authority.shown-is-signed');
    const world = await memoryWorld();
    const { request, summary } = await world.gate.requestAct(addKeyAct(BOB));
    const details = await world.gate.requestDetails(request.request_id);
    assert.deepEqual([details.summary, details.request], [summary, request]);
    assert.ok(summary.some((line) => line === `public key: ${BOB.key.publicKey}`));
    const actionId = await proposed(world);
    const asked = await world.gate.request(actionId);
    await approve(world, actionId);
    world.connector.behave = async () => ({ result: 'failed' });
    await world.gate.execute(actionId);
    assert.equal(await codeOf(world.gate.requestDetails(asked.request.request_id)), 'summary_mismatch');
  });
});
