/**
 * What changes while a launch is being made ready, after everything was looked at and before the commit: the commit
 * looks again. The change is made by the connector's own look at the outside world, which comes last.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { carryOut } from '../../src/approvals/index.js';
import { keyId } from '../../src/identity/index.js';
import {
  ALICE,
  addKeyAct,
  approve,
  approved,
  BOB,
  carriedOut,
  codeOf,
  configAct,
  deny,
  homeWorld,
  memoryWorld,
  proposed,
  sending,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

/** Runs `change` once, at the next look of the operation `guarded`. */
function atTheLook(world: World, change: () => Promise<unknown>): void {
  const { outside } = world.connector;
  let isDone = false;
  Object.defineProperty(world.connector, 'outside', {
    configurable: true,
    get: () => {
      if (isDone) return outside;
      isDone = true;
      return change().then(() => outside);
    },
  });
}

async function changedAtTheLook(
  code: string,
  change: (world: World, actionId: string) => Promise<unknown>,
): Promise<void> {
  for (const make of [memoryWorld, homeWorld]) {
    const world = await make();
    await carriedOut(world, addKeyAct(BOB));
    const actionId = await proposed(world, { operation: 'guarded' });
    await approve(world, actionId, BOB);
    atTheLook(world, () => change(world, actionId));
    assert.equal(await codeOf(world.gate.execute(actionId)), code);
    assert.equal(world.connector.calls.length, 0);
    assert.equal((await world.gate.show(actionId)).attempts.length, 0);
    await world.close();
  }
}

describe('between the look and the commit', () => {
  it('the key is revoked, or its person removed', async () => {
    verifies('actions.launch.looked-again');
    const revoke = { change: 'revoke-key', key_id: keyId(BOB.key.publicKey) } as const;
    const remove = { change: 'remove-person', person: 'human:bob' } as const;
    const carry = (change: typeof revoke | typeof remove) => (world: World) =>
      carriedOut(world, { kind: 'registry', change });
    await changedAtTheLook('revoked_authenticator', carry(revoke));
    await changedAtTheLook('unknown_approver', carry(remove));
  });

  it('the action is denied, taken back, or its time passes', async () => {
    verifies('actions.launch.looked-again');
    await changedAtTheLook('state', (world, actionId) => deny(world, actionId));
    await changedAtTheLook('state', (world, actionId) => world.gate.cancel(actionId));
    await changedAtTheLook('expired', async (world) => world.clock.advance(3_600_000));
  });

  it('another configuration is applied', async () => {
    verifies('actions.launch.looked-again');
    await changedAtTheLook('policy_changed', async (world) =>
      carriedOut(world, await configAct(world, TRUST.replace('name: test', 'name: tested'))),
    );
  });

  it('of a proposal another configuration is applied: it is judged anew, under that one', async () => {
    verifies('actions.propose.judged-anew');
    const world = await memoryWorld({ trust: `${TRUST}policy: { allow_unattended_irreversible: true }\n` });
    atTheLook(world, async () => carriedOut(world, await configAct(world, TRUST)));
    const { action_id, state } = await world.gate.propose(sending({ operation: 'guarded' }));
    const { content, decision } = await world.gate.show(action_id);
    assert.deepEqual([state, decision.outcome], ['proposed', 'REQUIRE_APPROVAL']);
    assert.equal(content.policy_version, world.gate.services.trust().version);
    const allowed = await memoryWorld({ trust: `${TRUST}policy: { allow_unattended_irreversible: true }\n` });
    atTheLook(allowed, async () => carriedOut(allowed, await configAct(allowed, TRUST)));
    const { settled } = await allowed.gate.proposeAndLaunch(sending({ operation: 'guarded' }));
    assert.equal(settled, undefined);
    assert.equal(allowed.connector.calls.length, 0);
  });

  it('of an approval or a request another configuration is applied: neither is', async () => {
    verifies('actions.launch.looked-again');
    for (const verb of ['request', 'approve'] as const) {
      const world = await memoryWorld();
      const actionId = await proposed(world);
      const { request } = await world.gate.request(actionId);
      const act = await configAct(world, TRUST.replace('name: test', 'name: tested'));
      const { operation } = world.connector;
      let isDone = false;
      world.connector.operation = async (name) => {
        if (!isDone) {
          isDone = true;
          await carriedOut(world, act);
        }
        return operation.call(world.connector, name);
      };
      const tried = verb === 'request' ? world.gate.request(actionId) : world.gate.approve(actionId, signed(request));
      assert.equal(await codeOf(tried), 'policy_changed', verb);
      assert.equal((await world.gate.show(actionId)).state, 'proposed');
    }
  });

  it('the same effect begins under another action', async () => {
    verifies('actions.launch.looked-again');
    const world = await memoryWorld();
    const [first, other] = [
      await approved(world, { operation: 'guarded' }),
      await world.another({ as: 'agent:nobody' }),
    ];
    const second = (await other.propose(sending({ operation: 'guarded' }))).action_id;
    await approve(world, second);
    world.connector.behave = async () => ({ result: 'unknown' });
    atTheLook(world, () => other.execute(second));
    assert.equal(await codeOf(world.gate.execute(first)), 'possible_duplicate');
    assert.equal(world.connector.calls.length, 1);
  });

  it('the action changes again and again: after three tries the caller is told to come back', async () => {
    verifies('actions.launch.looked-again');
    const world = await memoryWorld();
    const actionId = await approved(world, { operation: 'guarded' });
    const { outside } = world.connector;
    let looks = 0;
    Object.defineProperty(world.connector, 'outside', {
      get: async () => {
        looks += 1;
        await approve(world, actionId);
        return outside;
      },
    });
    assert.equal(await codeOf(world.gate.execute(actionId)), 'busy');
    assert.equal(looks, 3);
    assert.equal(world.connector.calls.length, 0);
  });
});

/** Runs `change` once, when the connector is asked for its operation. */
function atTheOperation(world: World, change: () => Promise<unknown>): void {
  const { operation } = world.connector;
  let isDone = false;
  world.connector.operation = async (name) => {
    if (!isDone) {
      isDone = true;
      await change();
    }
    return operation.call(world.connector, name);
  };
}

describe('between the look at a receipt and its commit', () => {
  it('the action is taken back, or the key revoked: it does not count', async () => {
    verifies('authority.receipt.looked-again');
    const revoke = { change: 'revoke-key', key_id: keyId(BOB.key.publicKey) } as const;
    const changes: readonly (readonly [string, (world: World, actionId: string) => Promise<unknown>])[] = [
      ['state', (world, actionId) => world.gate.cancel(actionId)],
      ['revoked_authenticator', (world) => carriedOut(world, { kind: 'registry', change: revoke })],
    ];
    for (const [code, change] of changes) {
      for (const hook of [atTheOperation, atTheProof]) {
        const world = await memoryWorld();
        await carriedOut(world, addKeyAct(BOB));
        const actionId = await proposed(world);
        const { request } = await world.gate.request(actionId, { approver: 'human:bob' });
        hook(world, () => change(world, actionId));
        assert.equal(await codeOf(world.gate.approve(actionId, signed(request, BOB))), code);
        assert.deepEqual((await world.gate.show(actionId)).approvals, []);
      }
    }
  });

  it('for an act the key is revoked: it is not carried out', async () => {
    verifies('authority.receipt.looked-again');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB, ['approver', 'operator']));
    const act = await configAct(world, TRUST.replace('name: test', 'name: tested'));
    const { request } = await world.gate.requestAct(act, 'human:bob');
    const revoke = { change: 'revoke-key', key_id: keyId(BOB.key.publicKey) } as const;
    atTheProof(world, () => carriedOut(world, { kind: 'registry', change: revoke }));
    assert.equal(await codeOf(world.gate.submit(signed(request, BOB))), 'revoked_authenticator');
    assert.equal(world.gate.services.trust().config.name, 'test');
  });

  it('for two acts of one signer, that together would leave no operator: one is carried out', async () => {
    verifies('authority.registry.last-operator');
    const world = await memoryWorld();
    await carriedOut(world, addKeyAct(BOB, ['approver', 'operator']));
    const revoke = (publicKey: string) =>
      ({ kind: 'registry', change: { change: 'revoke-key', key_id: keyId(publicKey) } }) as const;
    const own = await world.gate.requestAct(revoke(ALICE.key.publicKey), 'human:alice');
    atTheProof(world, () => carriedOut(world, revoke(BOB.key.publicKey)));
    assert.equal(await codeOf(world.gate.submit(signed(own.request))), 'approvers');
  });
});

/** Runs `change` once, after the next signature was verified. */
function atTheProof(world: World, change: () => Promise<unknown>): void {
  const { proofs } = world.gate.services;
  const verify = proofs.verify.bind(proofs);
  let isDone = false;
  proofs.verify = async (receipt, key) => {
    const verdict = await verify(receipt, key);
    if (!isDone) {
      isDone = true;
      await change();
    }
    return verdict;
  };
}

describe('a restore that was cut between its commit and its marks', () => {
  it('lets nothing of before be launched, not even what policy allows', async () => {
    verifies('app.restore.voids');
    const world = await memoryWorld();
    const allowed = (await world.gate.propose(sending({ operation: 'note' }))).action_id;
    const receipted = await approved(world);
    const { sequence, logHash: log_hash } = await world.gate.ledger.head();
    const here = { sequence, log_hash };
    const { request } = await world.gate.requestAct({ kind: 'restore', ...here, remembered: { epoch: 0, ...here } });
    await carryOut(world.gate.services, signed(request));
    assert.equal((await world.gate.show(allowed)).state, 'approved');
    assert.equal(await codeOf(world.gate.execute(allowed)), 'decision_required');
    assert.equal(await codeOf(world.gate.execute(receipted)), 'audience');
    assert.equal(world.connector.calls.length, 0);
    await world.gate.recover();
    assert.equal((await world.gate.show(allowed)).state, 'unknown', 'recover goes on with the marks');
  });
});

describe('a receipt whose place a fresher one took', () => {
  it('does not come back', async () => {
    verifies('authority.receipt.replay');
    const world = await memoryWorld();
    const actionId = await proposed(world);
    const [first, second] = [await world.gate.request(actionId), await world.gate.request(actionId)];
    await world.gate.approve(actionId, signed(first.request));
    await world.gate.approve(actionId, signed(second.request));
    assert.equal(await codeOf(world.gate.approve(actionId, signed(first.request))), 'replay');
    assert.deepEqual(
      (await world.gate.show(actionId)).approvals.map(({ request_id }) => request_id),
      [second.request.request_id],
    );
    assert.equal(ALICE.key.person, first.request.approver);
  });

  it('that can no longer count does not hide one that can', async () => {
    verifies('authority.receipt.fetch');
    const world = await memoryWorld();
    const actionId = await proposed(world);
    assert.equal(await world.gate.fetchReceipt(actionId), undefined);
    const stale = await world.gate.request(actionId);
    await world.gate.submit(signed(stale.request));
    assert.equal((await world.gate.show(actionId)).state, 'proposed', 'signing changes no action');
    assert.equal(await codeOf(world.gate.submit(signed(stale.request))), 'replay');
    await approve(world, actionId);
    world.connector.behave = async () => ({ result: 'failed' });
    await world.gate.execute(actionId);
    assert.equal(await codeOf(world.gate.fetchReceipt(actionId)), 'summary_mismatch');
    const fresh = await world.gate.request(actionId);
    await world.gate.submit(signed(fresh.request));
    assert.equal((await world.gate.fetchReceipt(actionId))?.state, 'approved');
    assert.deepEqual(
      (await world.gate.show(actionId)).approvals.map(({ request_id }) => request_id),
      [fresh.request.request_id],
    );
  });
});
