/** Every kind of human act, signed by a passkey, also several kinds in one gesture. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditLedger } from '../../src/app/audit.js';
import type { Act, RequestDocument } from '../../src/approvals/index.js';
import { addPasskeyAct, authenticator, ORIGIN, passkeyBatch, passkeyReceipt } from '../support/authenticator.js';
import {
  ALICE,
  carriedOut,
  codeOf,
  configAct,
  memoryWorld,
  proposed,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const PAGES = `${TRUST}webauthn: { rp_id: example.org, origins: ['${ORIGIN}'] }\n`;
const OWN = authenticator('human:alice', 'EdDSA');
const NEXT = authenticator('human:bob');

/** Alice, who is the operator, with a passkey beside her software key. */
async function passkeyWorld(): Promise<World> {
  const world = await memoryWorld({ trust: PAGES });
  await carriedOut(world, addPasskeyAct(OWN));
  return world;
}

async function unknownAction(world: World, text: string): Promise<string> {
  const actionId = await proposed(world, { args: { text } });
  const { request } = await world.gate.request(actionId);
  await world.gate.approve(actionId, passkeyReceipt(OWN, request));
  world.connector.behave = async () => ({ result: 'unknown' });
  await world.gate.execute(actionId);
  return actionId;
}

async function actsOf(world: World): Promise<readonly Act[]> {
  const operation = await world.gate.operation('counting', 'send');
  const head = await world.gate.ledger.head();
  const place = { sequence: head.sequence, log_hash: head.logHash };
  return [
    { kind: 'freeze', op: 'set', scope: { scope: 'project', name: 'other' } },
    addPasskeyAct(NEXT),
    {
      kind: 'standing',
      change: {
        ...{ op: 'open', grant_id: 'grant_01JDXW3Q4R8Y2M5N7P9S0T9999' },
        grant: {
          ...{ project: 'acme', agents: ['agent:local'], connector: 'counting', target: 'customers/*' },
          ...{ operations: { send: operation.digest }, class: 'irreversible', args: {}, count: 1 },
          until: world.clock.now() + 3_600_000,
        },
      },
    } as Act,
    await configAct(world, PAGES.replace('name: test', 'name: tested')),
    { kind: 'restore', ...place, remembered: place },
  ];
}

describe('a passkey', () => {
  it('signs acts of every kind, each for itself alone', async () => {
    verifies('receipts.webauthn.kinds');
    const world = await passkeyWorld();
    for (const act of await actsOf(world)) {
      const { request } = await world.gate.requestAct(act, 'human:alice');
      const other = await world.gate.requestAct({ kind: 'freeze', op: 'set', scope: { scope: 'all', name: null } });
      const swapped = { ...passkeyReceipt(OWN, request), request: other.request };
      assert.equal(await codeOf(world.gate.submit(swapped)), 'challenge_mismatch', act.kind);
      assert.equal((await world.gate.submit(passkeyReceipt(OWN, request))).act?.kind, act.kind);
    }
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('signs what people establish about an unknown outcome', async () => {
    verifies('receipts.webauthn.kinds');
    const world = await passkeyWorld();
    const found = await unknownAction(world, 'found');
    const finding = { kind: 'finding', action_id: found, outcome: 'confirmed', evidence: 'seen at the bank' } as const;
    const asked = await world.gate.requestResolution(finding);
    await world.gate.submit(passkeyReceipt(OWN, asked.request));
    assert.equal((await world.gate.show(found)).state, 'confirmed');
    const lost = await unknownAction(world, 'lost');
    const again = await world.gate.requestResolution({ kind: 'assume_duplicate', action_id: lost });
    const tried = passkeyReceipt(OWN, again.request, { flags: 1 });
    assert.equal(await codeOf(world.gate.submit(tried)), 'user_verification');
    const anew = await world.gate.requestResolution({ kind: 'assume_duplicate', action_id: lost });
    await world.gate.submit(passkeyReceipt(OWN, anew.request));
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('signs requests of several kinds in one gesture, as a software key does', async () => {
    verifies('receipts.batch.counts');
    const world = await passkeyWorld();
    const actionId = await proposed(world, { args: { text: 'beside acts' } });
    const requests: RequestDocument[] = [(await world.gate.request(actionId)).request];
    for (const act of (await actsOf(world)).slice(0, 3)) requests.push((await world.gate.requestAct(act)).request);
    for (const receipt of passkeyBatch(OWN, requests)) await world.gate.submit(receipt);
    await world.gate.fetchReceipt(actionId);
    assert.equal((await world.gate.execute(actionId)).state, 'confirmed');
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    const { request } = await world.gate.requestAct({ kind: 'freeze', op: 'set', scope: { scope: 'all', name: null } });
    await world.gate.submit(signed(request, ALICE));
  });
});
