/**
 * What a standing approval stands on: the people who signed it, their keys, the rules of the day, the epoch. When one
 * of them goes, or the action is one that they could not approve, it stands for nothing.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { editAction } from '../../src/actions/index.js';
import { auditLedger } from '../../src/app/index.js';
import type { Act } from '../../src/approvals/index.js';
import type { Principal } from '../../src/core/index.js';
import { personWithKey } from '../support/gate-people.js';
import {
  addKeyAct,
  approved,
  BOB,
  carriedOut,
  codeOf,
  configAct,
  memoryWorld,
  sending,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { alike, type grantOf, openAct, opened } from '../support/grants.js';
import { verifies } from '../support/verifies.js';

const QUORUM_TWO = TRUST.replace("approvers: ['*']", "approvers: ['*']\n    quorum: 2");

/** The key of somebody, as the registry names it. */
async function keyOf(world: World, person: string): Promise<string> {
  const { rows } = await world.gate.ledger.list({ kind: 'key' });
  const row = rows.find(({ principal }) => principal === person);
  assert.ok(row !== undefined);
  return row.id;
}

async function restored(world: World): Promise<void> {
  const { sequence, logHash } = await world.gate.ledger.head();
  const remembered = { epoch: 0, sequence: sequence + 5, log_hash: logHash };
  await carriedOut(world, { kind: 'restore', sequence, log_hash: logHash, remembered });
}

describe('a standing approval ends with what it stands on', () => {
  const endings: readonly (readonly [string, (world: World) => Promise<unknown>])[] = [
    [
      'the key of its signer is revoked',
      async (world) => {
        const change = { change: 'revoke-key', key_id: await keyOf(world, 'human:bob') } as const;
        await carriedOut(world, { kind: 'registry', change }, BOB);
      },
    ],
    [
      'its signer is removed',
      (world) =>
        carriedOut(world, { kind: 'registry', change: { change: 'remove-person', person: 'human:bob' } } as Act),
    ],
    ['the store is restored', restored],
    ['the rule asks for two', async (world) => carriedOut(world, await configAct(world, QUORUM_TWO))],
    [
      'the rule names somebody else',
      async (world) => carriedOut(world, await configAct(world, TRUST.replace("['*']", "['human:alice']"))),
    ],
  ];
  for (const [what, end] of endings) {
    it(`where ${what}: neither covers nor launches`, async () => {
      verifies('authority.standing.signers-stand');
      const world = await memoryWorld();
      await carriedOut(world, addKeyAct(BOB));
      await opened(world, {}, BOB);
      const covered = await world.gate.propose(alike());
      assert.equal(covered.state, 'approved');
      await end(world);
      const code = await codeOf(world.gate.execute(covered.action_id));
      assert.match(code, /^(no_cover|policy_changed|decision_required)$/);
      assert.equal((await world.gate.propose(alike())).state, 'proposed');
      assert.equal(world.connector.effects.length, 0);
      assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
    });
  }
});

describe('a standing approval stands for its signers alone', () => {
  it('and for no action that they could not approve', async () => {
    verifies('authority.standing.signers-stand');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB));
    await opened(world);
    assert.equal((await world.gate.propose(alike({ approvers: ['human:bob'] }))).state, 'proposed');
    assert.equal((await world.gate.propose(alike({ quorum: 2 }))).state, 'proposed');
    assert.equal((await world.gate.propose(alike({ approvers: ['human:alice'] }))).state, 'approved');
  });

  it('and for no copy that a person changed', async () => {
    verifies('authority.standing.flagged');
    const world = await memoryWorld();
    await opened(world);
    const waiting = await world.gate.propose(alike({ target: 'vip', args: { account: 'vip' } }));
    assert.equal(waiting.state, 'proposed');
    await opened(world, { target: 'vip' });
    const edited = await editAction(world.gate.services, 'human:alice' as Principal, waiting.action_id, {
      account: 'vip',
      text: 'mild',
    });
    assert.equal((await world.gate.show(edited.action_id)).state, 'proposed');
    assert.equal(await codeOf(world.gate.coverByStanding(edited.action_id)), 'no_cover');
  });

  it('with a bound on money covers what names its money, and nothing else', async () => {
    verifies('authority.standing.money');
    const world = await memoryWorld();
    await opened(world, { currency: 'EUR', total: 100 });
    assert.equal((await world.gate.propose(alike())).state, 'proposed');
  });

  it('is not used under another configuration than the action was proposed under', async () => {
    verifies('authority.standing.signers-stand');
    const world = await memoryWorld();
    const { action_id } = await world.gate.propose(alike());
    await carriedOut(world, await configAct(world, TRUST.replace('name: test', 'name: other')));
    await opened(world);
    assert.equal(await codeOf(world.gate.coverByStanding(action_id)), 'policy_changed');
  });

  it('is found behind any number of others that are over', async () => {
    verifies('authority.standing.found');
    const world = await memoryWorld();
    for (let no = 0; no < 17; no += 1) await opened(world, { until: world.clock.now() + 1_000 });
    world.clock.advance(5_000);
    await opened(world);
    assert.equal((await world.gate.propose(alike())).state, 'approved');
  });
});

describe('what can be signed as a standing approval', () => {
  it('is no pattern that nobody wrote: a target with a star in it is covered by none', async () => {
    verifies('authority.standing.narrowest');
    const world = await memoryWorld();
    const { action_id } = await world.gate.propose(alike({ target: '*', args: { account: '*' } }));
    const until = world.clock.now() + 60_000;
    assert.equal(await codeOf(world.gate.narrowestGrant(action_id, { count: 5, until })), 'no_cover');
  });

  it('has bounds that something could fit', async () => {
    verifies('authority.standing.bounds');
    const world = await memoryWorld();
    const senseless = [
      { args: { amount: { min: 5, max: 4 } } },
      { args: { amount: {} } },
      { args: JSON.parse('{"__proto__":{"is":1}}') as never },
      { currency: 'EUR', per_action: 10, total: 9 },
      { currency: 'EUR', per_action: Number.MAX_SAFE_INTEGER, count: 1_000 },
    ];
    for (const changes of senseless) {
      const act = await openAct(world, changes as Parameters<typeof grantOf>[1]);
      assert.equal(await codeOf(world.gate.requestAct(act)), 'invalid', JSON.stringify(changes));
    }
  });

  it('is signed in a way that counts for the highest class that it covers', async () => {
    verifies('authority.standing.signers');
    const trust = TRUST.replace('    software_key_for_costly: true\n', '');
    const world = await memoryWorld({ trust });
    assert.equal(await codeOf(world.gate.requestAct(await openAct(world, { class: 'costly' }))), 'approvers');
    await opened(world);
    const passkeys = trust.replace("approvers: ['*']", "approvers: ['*']\n    methods: [webauthn]");
    const other = await memoryWorld({ trust: passkeys });
    assert.equal(await codeOf(other.gate.requestAct(await openAct(other))), 'approvers');
  });
});

describe('a finding', () => {
  it('is signed in a way that counts for the class of the action', async () => {
    verifies('authority.finding.methods');
    const world = await memoryWorld();
    world.connector.behave = async () => ({ result: 'unknown' });
    const actionId = await approved(world, { operation: 'pay', args: { amount: 5, currency: 'EUR' }, target: 'x' });
    await world.gate.execute(actionId);
    const asked = { kind: 'finding', action_id: actionId, outcome: 'failed', evidence: 'no' } as const;
    const { request } = await world.gate.requestResolution(asked);
    const strict = TRUST.replace('    software_key_for_costly: true\n', '');
    await carriedOut(world, await configAct(world, strict));
    assert.equal(await codeOf(world.gate.requestResolution(asked)), 'approvers', 'nobody is asked in vain');
    assert.equal(await codeOf(world.gate.submit(signed(request))), 'method_refused');
    assert.equal((await world.gate.show(actionId)).state, 'unknown');
  });
});

describe('acts at the same time', () => {
  async function both(world: World, one: Act, two: Act) {
    const first = await world.gate.requestAct(one, 'human:alice');
    const second = await world.gate.requestAct(two, 'human:alice');
    const done = await Promise.allSettled([
      world.gate.submit(signed(first.request)),
      world.gate.submit(signed(second.request)),
    ]);
    return done.map((one) =>
      one.status === 'fulfilled' ? (one.value.missing ?? 0) : (one.reason as { code: string }).code,
    );
  }

  it('are each judged by what the other one left: the second operator has to sign', async () => {
    verifies('authority.acts.fresh-signers');
    const world = await memoryWorld();
    const eve = personWithKey('human:eve', 7);
    const done = await both(world, addKeyAct(BOB, ['approver', 'operator']), addKeyAct(eve));
    // Which of them comes first is nobody's to say; the other one is judged by what that left.
    const added = (await world.gate.ledger.log(0)).filter(({ event }) => event.type === 'person-added');
    const isBobFirst = added.findIndex(({ event }) => event.record.id === 'human:bob') === 1;
    assert.deepEqual(done, isBobFirst ? [0, 1] : [0, 0]);
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });

  it('are each judged by what the other one left: a raised quorum counts for the grant', async () => {
    verifies('authority.acts.fresh-signers');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB));
    const done = await both(world, await configAct(world, QUORUM_TWO), await openAct(world));
    const order = (await world.gate.ledger.log(0)).map(({ event }) => event.type);
    const applied = order.lastIndexOf('configuration-applied');
    const wasOpenedFirst = order.slice(0, applied).includes('grant-opened');
    assert.equal((await world.gate.grants()).length, wasOpenedFirst ? 1 : 0);
    assert.deepEqual(done, wasOpenedFirst ? [0, 0] : [0, 1]);
    assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  });
});

describe('a freeze', () => {
  it('names an agent as actions do, or is none', async () => {
    verifies('authority.freeze.named');
    const world = await memoryWorld();
    const act = (name: string): Act => ({ kind: 'freeze', op: 'set', scope: { scope: 'agent', name } });
    assert.equal(await codeOf(world.gate.requestAct(act('local'))), 'invalid');
    await carriedOut(world, act('agent:local'));
    assert.equal(await codeOf(world.gate.propose(sending())), 'frozen');
  });
});

describe('one person', () => {
  it('with a grant of their own is one of two, not both', async () => {
    verifies('authority.standing.signers-stand');
    const world = await memoryWorld({ trust: QUORUM_TWO });
    await carriedOut(world, addKeyAct(BOB));
    await opened(world);
    const { action_id, state } = await world.gate.propose(alike());
    assert.equal(state, 'approved');
    await carriedOut(world, {
      kind: 'registry',
      change: { change: 'revoke-key', key_id: await keyOf(world, 'human:bob') },
    });
    assert.equal(await codeOf(world.gate.execute(action_id)), 'no_cover');
  });
});
