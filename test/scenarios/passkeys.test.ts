/** People with passkeys: registered by a receipt, they approve and act; one try at a request; several requests at once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditLedger } from '../../src/app/audit.js';
import { checkReceiptOnline } from '../../src/app/receipt-check.js';
import { type Receipt, type RequestDocument, requestKind, signBatch } from '../../src/approvals/index.js';
import { base64urlEncode, LIMITS } from '../../src/core/index.js';
import { keyId, keyKind } from '../../src/identity/index.js';
import {
  type Authenticator,
  addPasskeyAct,
  authenticator,
  type Gesture,
  ORIGIN,
  passkeyBatch,
  passkeyReceipt,
} from '../support/authenticator.js';
import {
  ALICE,
  approve,
  carriedOut,
  codeOf,
  configAct,
  memoryWorld,
  proposed,
  sending,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const PAGES = `webauthn: { rp_id: example.org, origins: ['${ORIGIN}', 'http://localhost:8787'] }\n`;
const PASSKEY_TRUST = TRUST + PAGES;
const BOB = authenticator('human:bob');

/** Alice with her software key, and Bob with a passkey. */
async function passkeyWorld(trust = PASSKEY_TRUST, by: Authenticator = BOB): Promise<World> {
  const world = await memoryWorld({ trust });
  await carriedOut(world, addPasskeyAct(by));
  return world;
}

async function asked(world: World, actionId: string): Promise<RequestDocument> {
  return (await world.gate.request(actionId, { approver: 'human:bob' })).request;
}

const stateOf = async (world: World, { request_id }: RequestDocument) =>
  (await world.gate.ledger.read(requestKind, request_id))?.state;

describe('a passkey', () => {
  it('is registered by a receipt that shows its code, and approves', async () => {
    verifies('receipts.webauthn.keys');
    verifies('receipts.webauthn.gate');
    verifies('receipts.webauthn.grade');
    for (const by of [BOB, authenticator('human:bob', 'EdDSA')]) {
      const world = await memoryWorld({ trust: PASSKEY_TRUST });
      const { request, summary } = await world.gate.requestAct(addPasskeyAct(by));
      for (const line of [`public key: ${by.publicKey}`, `algorithm: ${by.algorithm}`])
        assert.ok(summary.includes(line));
      assert.ok(summary.some((line) => /^code: [0-9A-Z]{4}-[0-9A-Z]{4}$/.test(line)));
      await world.gate.submit(signed(request));
      const key = (await world.gate.ledger.read(keyKind, keyId(by.publicKey)))?.state;
      assert.deepEqual([key?.method, key?.software_key, key?.person], ['webauthn', false, 'human:bob']);
      const actionId = await proposed(world);
      const one = await asked(world, actionId);
      const receipt = passkeyReceipt(by, one, { origin: 'http://localhost:8787' });
      await world.gate.submit(receipt);
      await world.gate.fetchReceipt(actionId);
      const stored = await stateOf(world, one);
      assert.deepEqual([stored?.state, stored?.origin], ['used', 'loopback']);
      const checked = await checkReceiptOnline(world.gate, receipt);
      assert.deepEqual([checked.method, checked.origin], ['webauthn', 'loopback']);
      assert.equal((await world.gate.execute(actionId)).state, 'confirmed');
      assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    }
  });

  it('with a key that anybody could sign for, or that is registered, is refused', async () => {
    verifies('receipts.webauthn.keys');
    const world = await passkeyWorld();
    const weak = { ...BOB, person: 'human:eve', publicKey: `a4010103272006215820${'01'.padEnd(64, '0')}` };
    assert.equal(await codeOf(carriedOut(world, addPasskeyAct(weak))), 'invalid');
    assert.equal(await codeOf(carriedOut(world, addPasskeyAct({ ...BOB, person: 'human:eve' }))), 'invalid');
    for (const credential of ['', 'AAAA', `${BOB.credential}=`, 'A'.repeat(1_400)]) {
      assert.equal(await codeOf(carriedOut(world, addPasskeyAct({ ...BOB, credential }))), 'invalid');
    }
    const ids = [15, 16, LIMITS.passkeyIdBytesMax, LIMITS.passkeyIdBytesMax + 1].map(async (count) => {
      const eve = { ...authenticator('human:eve'), credential: base64urlEncode(new Uint8Array(count)) };
      return world.gate.requestAct(addPasskeyAct(eve)).then(
        () => 'asked',
        (error: { code: string }) => error.code,
      );
    });
    assert.deepEqual(await Promise.all(ids), ['invalid', 'asked', 'asked', 'invalid']);
  });

  it('of a person who has one is signed for by that person, with it', async () => {
    verifies('receipts.webauthn.keys');
    const world = await passkeyWorld();
    const more = authenticator('human:bob', 'EdDSA');
    const { request } = await world.gate.requestAct(addPasskeyAct(more));
    assert.equal(request.approver, 'human:bob');
    assert.equal(await codeOf(world.gate.submit(passkeyReceipt(more, request))), 'unknown_authenticator');
    await world.gate.submit(passkeyReceipt(BOB, request));
    const revoke = await world.gate.requestAct(
      { kind: 'registry', change: { change: 'revoke-key', key_id: keyId(BOB.publicKey) } },
      'human:bob',
    );
    await world.gate.submit(passkeyReceipt(more, revoke.request));
    const next = await asked(world, await proposed(world));
    assert.equal(await codeOf(world.gate.submit(passkeyReceipt(BOB, next))), 'revoked_authenticator');
    await world.gate.submit(passkeyReceipt(more, next));
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('counts only where rule and configuration say so, and for high impact without more words', async () => {
    verifies('receipts.webauthn.configured');
    const bare = await memoryWorld();
    await carriedOut(bare, addPasskeyAct(BOB));
    const actionId = await proposed(bare);
    assert.deepEqual((await bare.gate.show(actionId)).content.approvers, ['human:alice'], 'Bob could never sign');
    const { request } = await bare.gate.request(actionId, { approver: 'human:alice' });
    const forged = { ...passkeyReceipt(BOB, request), request };
    assert.equal(await codeOf(bare.gate.submit(forged)), 'method_refused');
    const soft = await passkeyWorld(PASSKEY_TRUST.replace('    separate:', '    methods: [ed25519]\n    separate:'));
    assert.deepEqual((await soft.gate.show(await proposed(soft))).content.approvers, ['human:alice']);
    const strict = PASSKEY_TRUST.replace('    software_key_for_costly: true\n', '');
    const costly = await passkeyWorld(strict);
    const dear = await proposed(costly, { class: 'costly' });
    assert.deepEqual((await costly.gate.show(dear)).content.approvers, ['human:bob']);
    await costly.gate.approve(dear, passkeyReceipt(BOB, await asked(costly, dear)));
    assert.equal((await costly.gate.execute(dear)).state, 'confirmed');
  });

  it('of a person with a software key makes two keys and one person', async () => {
    verifies('authority.quorum.distinct');
    const world = await memoryWorld({ trust: PASSKEY_TRUST.replace('separate:', 'quorum: 2\n    separate:') });
    await carriedOut(world, addPasskeyAct(BOB));
    const more = authenticator('human:alice');
    await carriedOut(world, addPasskeyAct(more));
    const actionId = await proposed(world);
    await approve(world, actionId);
    const { request } = await world.gate.request(actionId, { approver: 'human:alice' });
    await world.gate.approve(actionId, passkeyReceipt(more, request));
    assert.equal(await codeOf(world.gate.execute(actionId)), 'receipt_required');
    await world.gate.approve(actionId, passkeyReceipt(BOB, await asked(world, actionId)));
    assert.equal((await world.gate.execute(actionId)).state, 'confirmed');
  });

  it('has one try at a request: what failed once ends it', async () => {
    verifies('receipts.webauthn.one-try');
    const world = await passkeyWorld();
    const actionId = await proposed(world);
    const tries: readonly (readonly [string, Gesture])[] = [
      ['client_data', { type: 'webauthn.create' }],
      ['challenge_mismatch', { challenge: base64urlEncode(new Uint8Array(32)) }],
      ['origin', { origin: 'https://evil.org' }],
      ['rp_id_mismatch', { rpId: 'evil.org' }],
      ['user_presence', { flags: 4 }],
      ['user_verification', { flags: 1 }],
      ['bad_signature', { signature: () => new Uint8Array(70) }],
    ];
    for (const [code, gesture] of tries) {
      const request = await asked(world, actionId);
      for (const hand of [
        (receipt: Receipt) => world.gate.submit(receipt),
        (receipt: Receipt) => world.gate.approve(actionId, receipt),
      ]) {
        const one = await asked(world, actionId);
        assert.equal(await codeOf(hand(passkeyReceipt(BOB, one, gesture))), code);
        assert.equal((await stateOf(world, one))?.state, 'withdrawn');
        assert.equal(await codeOf(hand(passkeyReceipt(BOB, one))), 'unknown_request', 'also for a good one');
      }
      // What fails before the gesture is looked at ends nothing.
      const foreign = { ...passkeyReceipt(BOB, request, gesture), credential_id: keyId(ALICE.key.publicKey) };
      assert.equal(await codeOf(world.gate.submit(foreign)), 'unknown_authenticator');
      assert.equal((await stateOf(world, request))?.state, 'open');
      await world.gate.submit(passkeyReceipt(BOB, request));
    }
    const act = await world.gate.requestAct(addPasskeyAct(authenticator('human:bob')));
    assert.equal(await codeOf(world.gate.submit(passkeyReceipt(BOB, act.request, { flags: 1 }))), 'user_verification');
    assert.equal((await stateOf(world, act.request))?.state, 'withdrawn');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('signed once counts once, also side by side; what a request of another kind or person says counts for none', async () => {
    verifies('receipts.replay');
    verifies('receipts.foreign');
    const world = await passkeyWorld();
    const actionId = await proposed(world);
    const receipt = passkeyReceipt(BOB, await asked(world, actionId));
    const results = await Promise.allSettled(Array.from({ length: 16 }, () => world.gate.submit(receipt)));
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    await world.gate.approve(actionId, receipt);
    assert.match(await codeOf(world.gate.approve(actionId, receipt)), /^(replay|state)$/);
    await world.gate.execute(actionId);
    assert.match(await codeOf(world.gate.approve(actionId, receipt)), /^(replay|state)$/);
    const other = await proposed(world, { args: { text: 'other' } });
    assert.equal(await codeOf(world.gate.approve(other, receipt)), 'subject_mismatch');
    const { request } = await world.gate.request(other, { approver: 'human:alice' });
    assert.equal(await codeOf(world.gate.approve(other, passkeyReceipt(BOB, request))), 'foreign_authenticator');
    const act = await world.gate.requestAct(addPasskeyAct(authenticator('human:bob')));
    assert.equal(await codeOf(world.gate.approve(other, passkeyReceipt(BOB, act.request))), 'kind');
  });

  it('of an operator is one of two signatures under a change of people', async () => {
    verifies('receipts.webauthn.gate');
    verifies('authority.registry.two-operators');
    const world = await memoryWorld({ trust: PASSKEY_TRUST });
    await carriedOut(world, addPasskeyAct(BOB, ['approver', 'operator']));
    const { request, also } = await world.gate.requestAct(addPasskeyAct(authenticator('human:eve')), 'human:bob');
    const [other] = also as [RequestDocument];
    assert.equal((await world.gate.submit(passkeyReceipt(BOB, request))).missing, 1);
    assert.equal((await world.gate.submit(signed(other))).act?.kind, 'registry');
    const again = await world.gate.requestAct(addPasskeyAct(authenticator('human:zoe')));
    await world.gate.submit(signed(again.request));
    await world.gate.submit(passkeyReceipt(BOB, again.also[0] as RequestDocument));
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('of the last operator stays usable: its domain does not go, and without pages it is no key to rely on', async () => {
    verifies('receipts.webauthn.last-operator');
    const world = await passkeyWorld();
    const own = { ...BOB, ...authenticator('human:alice') };
    await carriedOut(world, addPasskeyAct(own));
    const revoke = { kind: 'registry', change: { change: 'revoke-key', key_id: keyId(ALICE.key.publicKey) } } as const;
    const pages = await configAct(world, TRUST);
    const asked = await world.gate.requestAct(pages);
    await carriedOut(world, revoke);
    assert.equal(await codeOf(world.gate.requestAct(pages)), 'approvers');
    const elsewhere = await configAct(world, PASSKEY_TRUST.replace('rp_id: example.org', 'rp_id: gate.example.org'));
    assert.equal(await codeOf(world.gate.requestAct(elsewhere)), 'rp_id_in_use');
    assert.equal(
      await codeOf(world.gate.submit(passkeyReceipt(own, asked.request))),
      'approvers',
      'also signed before',
    );
    const { request } = await world.gate.requestAct(
      await configAct(world, PASSKEY_TRUST.replace(ORIGIN, `${ORIGIN}:8443`)),
    );
    await world.gate.submit(passkeyReceipt(own, request));
    const bare = await memoryWorld();
    await carriedOut(bare, addPasskeyAct(own));
    assert.equal(await codeOf(carriedOut(bare, revoke)), 'approvers');
    // Each alone would do; both at once would leave nobody.
    const both = await passkeyWorld();
    await carriedOut(both, addPasskeyAct(own));
    const requests = [await both.gate.requestAct(revoke), await both.gate.requestAct(await configAct(both, TRUST))];
    const results = await Promise.allSettled(
      requests.map(({ request: one }) => both.gate.submit(passkeyReceipt(own, one))),
    );
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  });

  it('keeps its domain while anybody has one, also when no page was named meanwhile', async () => {
    verifies('receipts.webauthn.domain');
    const world = await passkeyWorld();
    const other = PASSKEY_TRUST.replace('rp_id: example.org', 'rp_id: gate.example.org');
    assert.equal(await codeOf(configAct(world, other).then((act) => world.gate.requestAct(act))), 'rp_id_in_use');
    await carriedOut(world, await configAct(world, TRUST));
    assert.equal(await codeOf(configAct(world, other).then((act) => world.gate.requestAct(act))), 'rp_id_in_use');
    await carriedOut(world, await configAct(world, PASSKEY_TRUST));
    // Asked for while nobody had one, and signed when somebody has.
    const revoke = { kind: 'registry', change: { change: 'revoke-key', key_id: keyId(BOB.publicKey) } } as const;
    await carriedOut(world, revoke);
    const { request } = await world.gate.requestAct(await configAct(world, other));
    const zoe = authenticator('human:zoe');
    await carriedOut(world, addPasskeyAct(zoe));
    assert.equal(await codeOf(world.gate.submit(signed(request))), 'rp_id_in_use');
    await carriedOut(world, { kind: 'registry', change: { change: 'revoke-key', key_id: keyId(zoe.publicKey) } });
    await carriedOut(world, await configAct(world, other));
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('is told first what it may not do: a bad gesture of somebody who may not sign ends nothing', async () => {
    verifies('receipts.webauthn.order');
    const world = await passkeyWorld(PASSKEY_TRUST.replace('owner: human:alice }', 'owner: human:bob }'));
    const owned = await world.another({ as: 'agent:owned' });
    const { action_id } = await owned.propose(sending({ args: { text: 'of an owned agent' } }));
    const { request } = await world.gate.request(action_id, { approver: 'human:alice' });
    for (const gesture of [{}, { type: 'webauthn.create' }, { flags: 0 }]) {
      assert.equal(await codeOf(world.gate.submit(passkeyReceipt(BOB, request, gesture))), 'foreign_authenticator');
    }
    assert.equal((await stateOf(world, request))?.state, 'open');
  });

  it('is refused under pages that another configuration names', async () => {
    verifies('receipts.webauthn.configured');
    const world = await passkeyWorld();
    const elsewhere = PASSKEY_TRUST.replace(ORIGIN, 'https://other.example.org');
    await carriedOut(world, await configAct(world, elsewhere));
    const request = await asked(world, await proposed(world));
    assert.equal(await codeOf(world.gate.submit(passkeyReceipt(BOB, request))), 'origin');
    await carriedOut(world, await configAct(world, TRUST));
    const act = await world.gate.requestAct(addPasskeyAct(authenticator('human:bob')));
    assert.equal(await codeOf(world.gate.submit(passkeyReceipt(BOB, act.request))), 'method_refused');
    assert.equal((await stateOf(world, act.request))?.state, 'open');
  });
});

async function severalRequests(world: World, person: string, count: number): Promise<RequestDocument[]> {
  const requests: RequestDocument[] = [];
  for (let at = 0; at < count; at += 1) {
    const { action_id } = await world.gate.propose(sending({ args: { text: `letter ${at}` } }));
    requests.push((await world.gate.request(action_id, { approver: person })).request);
  }
  return requests;
}

describe('one gesture for several requests', () => {
  const methods = [
    ['human:alice', (requests: readonly RequestDocument[]) => signBatch(ALICE.key, requests)],
    ['human:bob', (requests: readonly RequestDocument[]) => passkeyBatch(BOB, requests)],
  ] as const;

  it('counts for each, by itself, with either method', async () => {
    verifies('receipts.batch.counts');
    for (const [person, sign] of methods) {
      const world = await passkeyWorld();
      const requests = await severalRequests(world, person, LIMITS.batchRequestsMax);
      const receipts = sign(requests);
      for (const receipt of receipts) await world.gate.submit(receipt);
      for (const [at, receipt] of receipts.entries()) {
        const { subject } = receipt.request;
        if (at > 2) continue;
        await world.gate.fetchReceipt(subject);
        assert.equal((await world.gate.execute(subject)).state, 'confirmed');
        assert.match(await codeOf(world.gate.approve(subject, receipt)), /^(replay|state)$/);
      }
      assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    }
  });

  it('holds its own request at its place: moved, cut, doubled or signed alone it counts for nothing', async () => {
    verifies('receipts.batch.bound');
    for (const [person, sign] of methods) {
      const world = await passkeyWorld();
      const ask = async () =>
        (await severalRequests(world, person, 3)) as [RequestDocument, RequestDocument, RequestDocument];
      const submit = (value: unknown) => codeOf(world.gate.submit(value));
      const spoilt: readonly (readonly [string, (one: Receipt) => unknown])[] = [
        ['challenge_mismatch', (one) => ({ ...one, batch: { ...one.batch, index: 1 } })],
        [
          'challenge_mismatch',
          (one) => ({ ...one, batch: { ...one.batch, challenges: [...(one.batch?.challenges ?? [])].reverse() } }),
        ],
        [
          person === 'human:bob' ? 'challenge_mismatch' : 'bad_signature',
          (one) => ({ ...one, batch: { ...one.batch, challenges: one.batch?.challenges.slice(0, 2) } }),
        ],
        [person === 'human:bob' ? 'challenge_mismatch' : 'bad_signature', ({ batch: _, ...one }) => one],
        ['format', (one) => ({ ...one, batch: { ...one.batch, index: 3 } })],
        ['format', (one) => ({ ...one, batch: { ...one.batch, index: -1 } })],
        ['format', (one) => ({ ...one, batch: { ...one.batch, index: 0.5 } })],
        ['format', (one) => ({ ...one, batch: { ...one.batch, challenges: [] } })],
        ['format', (one) => ({ ...one, batch: { ...one.batch, challenges: Array(3).fill(one.batch?.challenges[0]) } })],
        ['format', (one) => ({ ...one, batch: null })],
        ['format', (one) => ({ ...one, batch: { ...one.batch, more: true } })],
      ];
      for (const [code, spoil] of spoilt) assert.equal(await submit(spoil(sign(await ask())[0] as Receipt)), code);
      // A signature over the list is none over the request alone, and the other way round.
      const [first] = await ask();
      const plain = person === 'human:bob' ? passkeyReceipt(BOB, first) : signed(first);
      const list = { batch: sign([first])[0]?.batch };
      assert.match(await submit({ ...plain, ...list }), /^(challenge_mismatch|bad_signature)$/);
      // Requests of somebody else in the list count for nobody.
      const other = person === 'human:bob' ? 'human:alice' : 'human:bob';
      const [mine] = await ask();
      const theirs = (await world.gate.request(mine.subject, { approver: other })).request;
      const [own, foreign] = sign([mine, theirs]);
      await world.gate.submit(own);
      assert.equal(await submit(foreign), 'foreign_authenticator');
    }
  });

  it('is for 50 at most', async () => {
    verifies('receipts.batch.counts');
    const world = await passkeyWorld();
    const requests = await severalRequests(world, 'human:alice', LIMITS.batchRequestsMax + 1);
    assert.throws(() => signBatch(ALICE.key, requests), { code: 'invalid' });
    assert.throws(() => signBatch(ALICE.key, []), { code: 'invalid' });
    const [first] = requests as [RequestDocument];
    assert.throws(() => signBatch(ALICE.key, [first, first]), { code: 'invalid' });
    const many = passkeyBatch(BOB, requests)[0];
    assert.equal(await codeOf(world.gate.submit(many)), 'format');
  });
});
