/** Which rule stands: what an agent chooses, and what nobody knows, takes its action out of no stricter one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Proposal } from '../../src/app/index.js';
import {
  addKeyAct,
  approve,
  BOB,
  carriedOut,
  codeOf,
  deny,
  memoryWorld,
  sending,
  signed,
} from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const TRUSTED = (approvals: string, policy = '') => `version: 1
name: test
mode: enforce
agents: { local: {} }
${policy}approvals:
${approvals}`;

async function worldWith(approvals: string, policy?: string) {
  const world = await memoryWorld({ trust: TRUSTED(approvals, policy) });
  await carriedOut(world, addKeyAct(BOB));
  const asked = async (changes: Partial<Proposal>) => {
    const { account, ...more } = { account: 'customers', ...changes } as { account: string };
    return sending({ target: account, args: { text: JSON.stringify(changes), account }, ...more });
  };
  return {
    world,
    code: async (changes: object) => codeOf(world.gate.propose(await asked(changes))),
    propose: async (changes: object) => {
      const { action_id } = await world.gate.propose(await asked(changes));
      return (await world.gate.show(action_id)).content;
    },
  };
}

const BY_CLASS = `
  - { title: two, match: { class: [irreversible] }, approvers: ['*'], quorum: 2 }
  - { title: one, approvers: ['*'], software_key_for_costly: true }
`;

describe('a class that is raised', () => {
  it('leads to no rule by which fewer approve, or others', async () => {
    verifies('actions.class.raised');
    const { code, propose } = await worldWith(BY_CLASS);
    assert.equal((await propose({})).quorum, 2);
    assert.equal(await code({ class: 'costly' }), 'class');
    const others = await worldWith(`
  - { title: bob, match: { class: [irreversible] }, approvers: ['human:bob'] }
  - { title: alice, approvers: ['human:alice'], software_key_for_costly: true }
`);
    assert.equal(await others.code({ class: 'costly' }), 'class');
  });

  it('leads to a rule that is as strict, or stricter', async () => {
    verifies('actions.class.raised');
    const { propose } = await worldWith(`
  - { title: one, match: { class: [irreversible] }, approvers: ['*'], software_key_for_costly: true }
  - { title: two, approvers: ['human:alice', 'human:bob'], quorum: 2, software_key_for_costly: true }
`);
    const { class: raised, quorum, rule } = await propose({ class: 'costly' });
    assert.deepEqual([raised, quorum, rule], ['costly', 2, 'two']);
    assert.equal(
      (await propose({ operation: 'refund', amount: 1, currency: 'EUR' }).catch(() => ({ rule: 'two' }))).rule,
      'two',
    );
  });

  it('leaves no rule of policy about the class that the operation says, when it is asked for and when it runs', async () => {
    verifies('actions.class.raised');
    const policy = `policy:
  rules:
    - { title: never, decide: deny, match: { class: [irreversible], target: 'prod*' } }
    - { title: any, decide: allow, match: { class: [irreversible, costly] } }
  allow_unattended_irreversible: true
`;
    const { code, world } = await worldWith(BY_CLASS, policy);
    assert.equal(await code({ account: 'prod1' }), 'policy_denied');
    assert.equal(await code({ account: 'prod1', class: 'costly' }), 'policy_denied');
    assert.equal(await code({ account: 'prod/eu', class: 'costly' }), 'policy_denied');
    const fine = sending({ target: 'test', args: { text: 'x', account: 'test' }, class: 'costly' });
    assert.equal((await world.gate.proposeAndLaunch(fine)).settled?.state, 'confirmed');
  });
});

describe('a class that is raised where nobody had to approve', () => {
  it('asks for a person, as it was asked for', async () => {
    verifies('actions.class.raised');
    const { propose } = await worldWith(
      "\n  - { title: dear, match: { class: [irreversible, costly] }, approvers: ['*'] }\n",
    );
    const content = await propose({ operation: 'note', class: 'irreversible' });
    assert.deepEqual([content.class, content.rule], ['irreversible', 'dear']);
  });

  it('gives no more time than the operation’s own rule, also where that says none', async () => {
    verifies('actions.class.raised');
    const { code } = await worldWith(`
  - { title: slow, match: { class: [costly] }, approvers: ['*'], software_key_for_costly: true, expires: 30d }
  - { title: rest, approvers: ['*'], software_key_for_costly: true }
`);
    assert.equal(await code({ class: 'costly' }), 'class');
    const { propose } = await worldWith(`
  - { title: brisk, match: { class: [costly] }, approvers: ['*'], software_key_for_costly: true }
  - { title: rest, approvers: ['*'], software_key_for_costly: true, expires: 48h }
`);
    assert.equal((await propose({ class: 'costly' })).rule, 'brisk', 'a day is less than two');
  });
});

describe('a class that is raised beside a bound', () => {
  it('takes of the bounds of the class that the operation says', async () => {
    verifies('actions.class.raised');
    const policy = `policy:
  rules:
    - { title: notes, decide: allow, match: { class: [reversible] }, limit: 1/day }
    - { title: more, decide: allow, match: { class: [irreversible] } }
  allow_unattended_irreversible: true
`;
    const { world } = await worldWith(BY_CLASS, policy);
    const note = (text: string) =>
      world.gate.proposeAndLaunch(
        sending({ operation: 'note', class: 'irreversible', args: { text, account: 'customers' } }),
      );
    assert.equal((await note('one')).settled?.state, 'confirmed');
    assert.equal((await note('two')).settled, undefined);
    assert.equal(world.connector.calls.length, 1);
  });

  it('lets nobody approve what nobody could before', async () => {
    verifies('actions.class.raised');
    const { code } = await worldWith(
      "\n  - { title: dear, match: { class: [costly] }, approvers: ['*'], software_key_for_costly: true }\n",
    );
    assert.equal(await code({ class: 'costly' }), 'class');
  });
});

describe('a target', () => {
  const BY_TARGET = `
  - { title: vault, match: { target: 'vault*' }, approvers: ['*'], quorum: 2 }
  - { title: rest, approvers: ['*'] }
`;
  it('with a slash, or that nobody knows, needs whatever the rules about it may need', async () => {
    verifies('approvals.rule.maybe');
    const { propose } = await worldWith(BY_TARGET);
    const quorumOf = async (changes: object) => (await propose(changes)).quorum;
    assert.deepEqual(
      [
        await quorumOf({ account: 'vault' }),
        await quorumOf({ account: 'vault/a' }),
        await quorumOf({ account: 'vault/a/b' }),
        await quorumOf({ account: 'other' }),
        await quorumOf({ operation: 'loose', account: 'other' }),
      ],
      [2, 2, 2, 1, 2],
    );
    assert.equal((await propose({ account: 'vault/a' })).rule, 'vault; rest');
  });

  it('that may be meant by two rules is approved by people of both', async () => {
    verifies('approvals.rule.maybe');
    const { propose, code } = await worldWith(`
  - { title: bobs, match: { target: 'b*' }, approvers: ['human:bob'], methods: [ed25519] }
  - { title: nobody, match: { target: 'n*' }, approvers: ['human:bob'] }
  - { title: alices, match: { target: 'n/*' }, approvers: ['human:alice'] }
  - { title: rest, approvers: ['group:both'], launch: on_approval }
groups: { both: ['human:alice', 'human:bob'] }
`);
    assert.deepEqual((await propose({ account: 'x' })).approvers, ['human:alice', 'human:bob']);
    assert.deepEqual((await propose({ account: 'b/1' })).approvers, ['human:bob']);
    assert.equal(await code({ account: 'n/1' }), 'approvers', 'nobody is of both');
  });

  it('that no rule covers for certain has nobody who may approve', async () => {
    verifies('approvals.rule.maybe');
    const { code } = await worldWith("\n  - { title: vault, match: { target: 'vault*' }, approvers: ['*'] }\n");
    assert.equal(await code({ account: 'vault/a' }), 'approvers');
  });
});

describe('a denial that is handed in', () => {
  it('ends its action at once, whoever holds an approval', async () => {
    verifies('authority.deny.at-once');
    const { world, propose } = await worldWith("\n  - { title: any, approvers: ['*'] }\n");
    const { action_id } = await propose({});
    const { request } = await world.gate.request(action_id, { approver: 'human:bob', decision: 'deny' });
    const receipt = signed(request, BOB);
    assert.deepEqual(await world.gate.submit(receipt), { request_id: request.request_id, action_id });
    assert.equal((await world.gate.show(action_id)).closed?.how, 'denied');
    assert.equal(await codeOf(approve(world, action_id)), 'state');
    assert.equal(await codeOf(world.gate.execute(action_id)), 'state');
    assert.equal(await codeOf(world.gate.submit(receipt)), 'state', 'and is over with that');
    const approvedOne = (await propose({ account: 'others' })).action_id;
    await approve(world, approvedOne);
    await deny(world, approvedOne, BOB);
    assert.equal(await codeOf(world.gate.execute(approvedOne)), 'state');
    assert.equal(world.connector.calls.length, 0);
  });
});
