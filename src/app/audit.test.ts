/** Forged events with correct hashes: whoever can write the store finds that the audit asks what they mean. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ALICE,
  addKeyAct,
  approve,
  approved,
  BOB,
  carriedOut,
  configAct,
  memoryWorld,
  personWithKey,
  proposed,
  sending,
  signed,
  TRUST,
  type World,
} from '../../test/support/gate-world.js';
import { verifies } from '../../test/support/verifies.js';
import { actionBinding, actionDigest } from '../actions/content.js';
import type { ActionState, Attempt } from '../actions/index.js';
import { openRequest, signRequest, signWith } from '../approvals/index.js';
import { type Json, type JsonObject, LIMITS } from '../core/index.js';
import { keyId } from '../identity/index.js';
import type { NewEvent, RecordRef } from '../ledger/index.js';
import { applyConfig } from '../policy/index.js';
import { auditLedger } from './audit.js';
import { explainDecision } from './explain.js';

/** Appends events as somebody who writes to the store could: every hash is right. */
async function forge(
  world: World,
  events: readonly NewEvent[],
  nonces: readonly string[] = [],
  actor = 'agent:local',
): Promise<void> {
  const names = new Map(events.map(({ record }): [string, RecordRef] => [`${record.kind}/${record.id}`, record]));
  await world.gate.ledger.commit({
    actor,
    once: nonces.map((key) => ({ scope: 'nonce', key })),
    writes: [...names.values()],
    decide: () => ({ events, outcome: null }),
  });
}

async function found(world: World): Promise<readonly string[]> {
  return (await auditLedger(world.gate.ledger)).defects.map(({ what }) => what);
}

function attemptOf(state: ActionState, at: number, changes: Partial<Attempt> = {}): Attempt {
  return {
    no: state.attempts.length + 1,
    authorization: state.authorization ?? { kind: 'receipts', request_ids: [] },
    decision: state.decision,
    launched_by: 'agent:local',
    launched_at: at,
    deadline: at + 1_000,
    send_by: at + LIMITS.launchToCallMsMax,
    prepared: null,
    ...{ finished_at: null, outcome: null, code: null, external_ref: null, evidence_ref: null, settled_by: null },
    ...changes,
  };
}

function event(kind: 'action' | 'key' | 'person' | 'freeze', id: string, type: string, data: unknown): NewEvent {
  return { record: { kind, id }, type, data: data as JsonObject };
}

async function launch(world: World, actionId: string, changes: Partial<Attempt> = {}, nonces: readonly string[] = []) {
  const attempt = attemptOf(await world.gate.show(actionId), world.clock.now(), changes);
  await forge(world, [event('action', actionId, 'action-launched', { attempt })], nonces);
}

async function approvalOf(world: World, actionId: string) {
  const [approval] = (await world.gate.show(actionId)).approvals;
  assert.ok(approval !== undefined);
  return approval;
}

describe('the audit of a ledger', () => {
  it('finds nothing in a ledger that the gate wrote, whatever happened in it', async () => {
    verifies('audit.clean');
    const world = await memoryWorld();
    await world.gate.execute(await approved(world));
    await carriedOut(world, addKeyAct(BOB, ['approver', 'operator']));
    const revoke = { change: 'revoke-key', key_id: keyId(BOB.key.publicKey) } as const;
    const launchedBefore = await proposed(world, { args: { text: 'b' } });
    await approve(world, launchedBefore, BOB);
    await world.gate.execute(launchedBefore);
    await carriedOut(world, { kind: 'registry', change: revoke });
    world.connector.behave = async () => ({ result: 'failed' });
    const again = await approved(world, { args: { text: 'c' } });
    await world.gate.execute(again);
    await approve(world, again);
    world.connector.behave = async () => ({ result: 'unknown' });
    await world.gate.execute(again);
    await world.gate.reconcile(again).catch(() => undefined);
    await world.gate.propose(sending({ operation: 'note' }));
    await world.gate.cancel(await proposed(world, { args: { text: 'd' } }));
    await carriedOut(world, await configAct(world, TRUST.replace('name: test', 'name: tested')));
    const report = await auditLedger(world.gate.ledger, await world.gate.ledger.head());
    assert.deepEqual(report.defects, []);
    assert.deepEqual([report.launches, report.receipts], [4, 8]);
    assert.equal((await explainDecision(world.gate, again)).length, 3);
  });

  it('finds a launch without an approval, and one with a receipt that is not there', async () => {
    verifies('audit.launch-authority');
    const world = await memoryWorld();
    await launch(world, await proposed(world));
    const [step, late, few] = await found(world);
    assert.deepEqual(
      [step, late, few],
      [
        'the action can not take this step: a person has to approve this first',
        'the launch stands on something else than its approval',
        'a launch stands on too few approvals',
      ],
    );
    const other = await memoryWorld();
    const actionId = await approved(other);
    const { nonce } = await approvalOf(other, actionId);
    const authorization = { kind: 'receipts', request_ids: ['req_01JDXW3Q4R8Y2M5N7P9S0T1V3W'] } as const;
    await launch(other, actionId, { authorization }, [nonce]);
    assert.ok((await found(other)).includes('a launch stands on a receipt that is not there'));
  });

  it('finds a finding, a replacement and a change of people that the needed signatures do not stand behind', async () => {
    verifies('audit.resolution-authority');
    const world = await memoryWorld();
    const actionId = await approved(world);
    world.connector.behave = async () => ({ result: 'unknown' });
    await world.gate.execute(actionId);
    const settled = { attempt: 1, outcome: 'failed', code: null, external_ref: null, evidence_ref: null };
    const forged = { ...settled, settled_by: 'human', by: 'human:alice', request_id: 'req_1' };
    await forge(world, [event('action', actionId, 'action-replaced', { replaced_by: 'act_1', request_id: 'req_1' })]);
    await forge(world, [event('action', actionId, 'action-failed', forged)]);
    const defects = await found(world);
    assert.ok(defects.includes('no receipt of kind finding stands behind this'));
    assert.ok(defects.includes('no receipt of kind assume_duplicate stands behind this'));
    const two = await memoryWorld();
    await carriedOut(two, addKeyAct(BOB, ['approver', 'operator']));
    const { request } = await two.gate.requestAct(addKeyAct(personWithKey('human:eve', 4)));
    await two.gate.submit(signed(request));
    const authorization = { request_id: request.request_id, approver: 'human:alice' };
    await forge(two, [
      event('person', 'human:eve', 'person-added', { person: 'human:eve', roles: ['approver'], authorization }),
    ]);
    assert.ok((await found(two)).includes('too few people signed this'));
  });

  it('finds a launch by the receipt of another action, of other content, and one that denies', async () => {
    verifies('audit.launch-authority');
    const world = await memoryWorld();
    const [mine, other] = [await approved(world), await approved(world, { args: { text: 'other' } })];
    const foreign = await approvalOf(world, other);
    await launch(world, mine, { authorization: { kind: 'receipts', request_ids: [foreign.request_id] } }, [
      foreign.nonce,
    ]);
    assert.ok((await found(world)).includes('a launch stands on a receipt for something else'));

    const denied = await memoryWorld();
    const actionId = await approved(denied);
    const { request } = await denied.gate.request(actionId, { decision: 'deny' });
    await forge(denied, [signRequest(signed(request), true)]);
    await launch(denied, actionId, { authorization: { kind: 'receipts', request_ids: [request.request_id] } }, [
      request.nonce,
    ]);
    assert.ok((await found(denied)).includes('a launch stands on a receipt that approves nothing'));
  });

  it('finds a launch that did not use up its nonce, a second one, and one after its deadline', async () => {
    verifies('audit.launch-authority');
    const world = await memoryWorld();
    await launch(world, await approved(world));
    assert.ok((await found(world)).includes('a launch did not use up the nonce of its receipt'));

    const twice = await memoryWorld();
    const actionId = await approved(twice);
    await twice.gate.execute(actionId);
    await launch(twice, actionId);
    assert.match((await found(twice)).join(), /can not take this step: the action is confirmed/);

    const late = await memoryWorld();
    const slow = await approved(late);
    late.clock.advance(LIMITS.launchWithinMsDefault);
    await launch(late, slow, {}, [(await approvalOf(late, slow)).nonce]);
    assert.ok((await found(late)).includes('the action can not take this step: the time to launch it has passed'));
  });

  it('finds a launch by a key that was revoked, or for a person who was removed', async () => {
    verifies('audit.launch-authority');
    const changes = [
      [
        { change: 'revoke-key', key_id: keyId(BOB.key.publicKey) },
        'a launch stands on a receipt whose key was revoked',
      ],
      [{ change: 'remove-person', person: 'human:bob' }, 'a launch stands on a receipt of somebody who was removed'],
    ] as const;
    for (const [change, what] of changes) {
      const world = await memoryWorld();
      await carriedOut(world, addKeyAct(BOB));
      const actionId = await proposed(world);
      await approve(world, actionId, BOB);
      await carriedOut(world, { kind: 'registry', change });
      await launch(world, actionId, {}, [(await approvalOf(world, actionId)).nonce]);
      assert.ok((await found(world)).includes(what), what);
    }
  });

  it('finds a launch that policy did not allow', async () => {
    verifies('audit.launch-authority');
    const world = await memoryWorld();
    const asked = await proposed(world);
    const { decision } = await world.gate.show(asked);
    const authorization = { kind: 'policy', decision_id: decision.decision_id } as const;
    const data = { approvals: [], authorization, launch_by: world.clock.now() + 10_000 };
    await forge(world, [event('action', asked, 'action-approved', data)]);
    await launch(world, asked);
    assert.ok((await found(world)).includes('policy did not allow this launch'));

    const denied = await memoryWorld();
    const { action_id } = await denied.gate.propose(sending({ operation: 'note' }));
    const state = await denied.gate.show(action_id);
    await launch(denied, action_id, { decision: { ...state.decision, outcome: 'DENY' } });
    assert.ok((await found(denied)).includes('policy did not allow this launch'));
  });

  it('finds a receipt that was not signed, is of another key, another person, another epoch, or too late', async () => {
    verifies('audit.receipts');
    const forgeries: readonly (readonly [string, (world: World) => Promise<void>])[] = [
      [
        'the signature of the receipt does not verify',
        async (world) => {
          const { request } = await world.gate.request(await proposed(world));
          const other = signed({ ...request, exp: request.exp + 1 });
          await forge(world, [signRequest({ ...other, request }, false)]);
        },
      ],
      [
        'the key of the receipt was not active',
        async (world) => {
          const { request } = await world.gate.request(await proposed(world));
          await forge(world, [signRequest(signWith(BOB.key, request), false)]);
        },
      ],
      [
        "the key of the receipt is somebody else's",
        async (world) => {
          await carriedOut(world, addKeyAct(BOB));
          const { request } = await world.gate.request(await proposed(world));
          await forge(world, [signRequest(signWith(BOB.key, request), false)]);
        },
      ],
      [
        'the receipt is for a request that was not issued',
        async (world) => {
          const { request } = await world.gate.request(await proposed(world));
          await forge(world, [signRequest(signed({ ...request, exp: request.exp + 1 }), false)]);
        },
      ],
      [
        'the receipt is from another epoch',
        async (world) => {
          const { request } = await world.gate.request(await proposed(world));
          const request_id = 'req_01JDXW3Q4R8Y2M5N7P9S0T1V3W';
          const later = { ...request, request_id, aud: { ...request.aud, epoch: 1 } };
          await forge(world, [openRequest(later, null), signRequest(signed(later), false)]);
        },
      ],
      [
        'the receipt came after its request had expired',
        async (world) => {
          const { request } = await world.gate.request(await proposed(world));
          world.clock.advance(LIMITS.requestTtlMsDefault);
          await forge(world, [signRequest(signed(request), false)]);
        },
      ],
    ];
    for (const [what, spoil] of forgeries) {
      const world = await memoryWorld();
      await spoil(world);
      assert.deepEqual(await found(world), [what]);
    }
  });

  it('finds people, keys and a configuration that nobody signed for', async () => {
    verifies('audit.registry-authority');
    const eve = personWithKey('human:eve', 4).key;
    const none: Json = { request_id: 'req_01JDXW3Q4R8Y2M5N7P9S0T1V3W', approver: 'human:alice' };
    const person = { person: eve.person, roles: ['approver'], authorization: none };
    const key = { key_id: keyId(eve.publicKey), person: eve.person, public_key: eve.publicKey, authorization: none };
    const registry = 'no receipt of kind registry stands behind this';
    const forgeries: readonly (readonly [string, (world: World) => Promise<void>])[] = [
      [registry, (world) => forge(world, [event('person', eve.person, 'person-added', person)])],
      [registry, (world) => forge(world, [event('key', key.key_id, 'key-added', key)])],
      [
        registry,
        (world) => forge(world, [event('key', keyId(ALICE.key.publicKey), 'key-revoked', { authorization: none })]),
      ],
      [registry, (world) => forge(world, [event('person', 'human:alice', 'person-removed', {})])],
      [
        'no receipt of kind config stands behind this',
        async (world) => {
          const { config } = world.gate.services.trust();
          const open = { ...config, policy: { allow_unattended_irreversible: true } };
          await forge(world, [applyConfig(open, none)]);
        },
      ],
      [
        'no receipt of kind restore stands behind this',
        (world) =>
          forge(world, [
            {
              record: { kind: 'ledger', id: 'ledger' },
              type: 'ledger-restored',
              data: { authorization: none, epoch: 1 },
            },
          ]),
      ],
      [
        'there was a first approver already',
        (world) => forge(world, [{ record: { kind: 'ledger', id: 'ledger' }, type: 'bootstrap-completed', data: {} }]),
      ],
      [
        registry,
        async (world) => {
          await carriedOut(world, addKeyAct(BOB));
          const { rows } = await world.gate.ledger.list({ kind: 'request', statuses: ['used'] });
          const authorization = { request_id: rows[0]?.id, approver: 'human:alice' };
          await forge(world, [event('key', key.key_id, 'key-added', { ...key, authorization })]);
        },
      ],
    ];
    for (const [what, spoil] of forgeries) {
      const world = await memoryWorld();
      await spoil(world);
      assert.deepEqual(await found(world), [what]);
    }
  });

  it('finds what a session is said to have done and could not', async () => {
    verifies('audit.registry-authority');
    verifies('server.session.brake');
    const authorization = { via: 'session' };
    const alice = keyId(ALICE.key.publicKey);
    const scope = { scope: 'all', name: null };
    const brake = (type: string) => event('freeze', 'gate', type, { ...scope, authorization });
    const forgeries: readonly (readonly [string, readonly ReturnType<typeof event>[], string])[] = [
      ['no session does this', [brake('freeze-lifted')], 'human:alice'],
      ['a session could not do this: nobody active does this', [brake('freeze-set')], 'agent:local'],
      [
        'a session could not do this: nobody active does this',
        [event('key', alice, 'key-revoked', { authorization })],
        'human:mallory',
      ],
      [
        'a session could not do this: this is the last key of the last operator',
        [event('key', alice, 'key-revoked', { authorization })],
        'human:alice',
      ],
      ['no session does this', [event('person', 'human:alice', 'person-removed', { authorization })], 'human:alice'],
    ];
    for (const [what, events, actor] of forgeries) {
      const world = await memoryWorld();
      await forge(world, events, [], actor);
      assert.deepEqual(await found(world), [what]);
    }
    const world = await memoryWorld();
    await forge(world, [brake('freeze-set')], [], 'human:alice');
    assert.deepEqual(await found(world), []);
  });

  it('finds a step that an action can not take', async () => {
    verifies('audit.legal-steps');
    const settled = {
      attempt: 1,
      outcome: 'confirmed',
      code: null,
      external_ref: null,
      evidence_ref: null,
      settled_by: 'connector',
    };
    const world = await memoryWorld();
    await forge(world, [event('action', await proposed(world), 'action-confirmed', settled)]);
    assert.match((await found(world)).join(), /^the action can not take this step: /);
    const cancelled = await memoryWorld();
    const actionId = await proposed(cancelled);
    await cancelled.gate.cancel(actionId);
    const approval = { approvals: [], authorization: { kind: 'receipts', request_ids: [] }, launch_by: 1 };
    await forge(cancelled, [event('action', actionId, 'action-approved', approval)]);
    assert.match((await found(cancelled)).join(), /^the action can not take this step: /);
    assert.equal(await cancelled.gate.execute(actionId).catch(({ code }: { code: string }) => code), 'expired');
  });

  it('and the gate itself launches nothing on an approval without receipts', async () => {
    verifies('actions.launch.quorum');
    const world = await memoryWorld();
    const actionId = await proposed(world);
    const launch_by = world.clock.now() + 60_000;
    const data = { approvals: [], authorization: { kind: 'receipts', request_ids: [] }, launch_by };
    await forge(world, [event('action', actionId, 'action-approved', data)]);
    assert.equal(await world.gate.execute(actionId).catch(({ code }: { code: string }) => code), 'quorum');
    const gone = [
      { request_id: 'req_01JDXW3Q4R8Y2M5N7P9S0T1V3W', approver: 'human:alice', credential_id: 'x', nonce: 'y' },
    ];
    await forge(world, [event('action', actionId, 'action-approved', { ...data, approvals: gone })]);
    assert.equal(await world.gate.execute(actionId).catch(({ code }: { code: string }) => code), 'binding_changed');
    const genuine = await approved(world, { args: { text: 'genuine' } });
    const before = await world.gate.show(genuine);
    for (const changed of [{ nonce: 'other-nonce-0123456789' }, { credential_id: `sha256:${'0'.repeat(64)}` }]) {
      const approvals = before.approvals.map((approval) => ({ ...approval, ...changed }));
      await forge(world, [
        event('action', genuine, 'action-approved', { ...data, authorization: before.authorization, approvals }),
      ]);
      assert.equal(await world.gate.execute(genuine).catch(({ code }: { code: string }) => code), 'binding_changed');
    }
    assert.equal(world.connector.calls.length, 0);
  });

  it('nor asks anybody about an action that is not what its digests say', async () => {
    verifies('actions.load.recomputed');
    const world = await memoryWorld();
    const { content, decision } = await world.gate.show(await proposed(world));
    const action_id = 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W';
    const bytes = await world.gate.args(content.action_id);
    const own = { ...content, action_id, digest: actionDigest({ ...content, action_id }, bytes) };
    const good = { ...own, binding: actionBinding(own) };
    const forged = async (changes: Partial<typeof good>) => {
      const other = await memoryWorld({ clock: world.clock });
      const data = { content: { ...good, policy_version: content.policy_version, ...changes }, decision };
      const payloads = [{ ref: content.args_ref, bytes }];
      await forge(other, [{ ...event('action', action_id, 'action-proposed', data), payloads }]);
      return other.gate.request(action_id).then(
        () => 'asked',
        ({ code }: { code: string }) => code,
      );
    };
    assert.equal(await forged({}), 'asked', 'a whole one is one');
    for (const changes of [
      ...[{ target: 'other' }, { amount: 1, currency: 'EUR' }, { project: 'other' }, { connector: 'other' }],
      ...[
        { digest: content.digest },
        { binding: content.binding },
        { effect: content.digest },
        { class: 'read' as const },
      ],
      ...[{ approvers: ['human:bob'] }, { approve_by: good.approve_by + 1 }, { ledger_id: 'f'.repeat(32) }],
      ...[{ digest: content.digest, binding: actionBinding({ ...good, digest: content.digest }) }],
      ...[{ policy_version: `sha256:${'0'.repeat(64)}` }, { operation: 'note' }],
      ...[{ action_id: content.action_id }, { proposed_by: 'agent:other' }, { flags: ['facts_unknown' as const] }],
    ]) {
      assert.equal(await forged(changes), 'binding_changed', JSON.stringify(changes));
    }
  });
});
