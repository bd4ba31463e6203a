/**
 * Logs that were written by another hand, every hash in them right: the audit decides each event once more, and finds
 * what the gate would not have written.
 */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Act } from '../../src/approvals/index.js';
import { CONFIG_RECORD } from '../../src/policy/index.js';
import {
  again,
  at,
  content,
  type Edit,
  EVES_KEY,
  forgedWorld,
  type Ids,
  NO_IDS,
  one,
} from '../support/forged-world.js';
import {
  addKeyAct,
  approve,
  approved,
  BOB,
  carriedOut,
  codeOf,
  memoryWorld,
  signed,
  TRUST,
  type World,
} from '../support/gate-world.js';
import { alike, opened } from '../support/grants.js';
import { defectsIn, type Forged, logOf } from '../support/logs.js';
import { verifies } from '../support/verifies.js';

/** What was changed, how, and a part of what the audit has to say. */
const FORGERIES: readonly (readonly [string, Edit, RegExp])[] = [
  [
    'a standing approval is wider than it was signed',
    (events) => Object.assign(one(events, 'grant-opened').data.grant, { count: 1_000, target: '*' }),
    /leads to something else/,
  ],
  [
    'a standing approval is opened a second time',
    (events) => again(events, 'grant-opened'),
    /no receipt of kind stand/,
  ],
  [
    'a standing approval names others who signed it',
    (events) => (one(events, 'grant-opened').data.signers[0].person = 'human:bob'),
    /leads to something else/,
  ],
  [
    'a launch took nothing of its standing approval',
    (events) => (one(events, 'grant-reserved').data.amount = 0),
    /told something else/,
  ],
  [
    'a launch took no part at all of its standing approval',
    (events) => events.splice(at(events, 'grant-reserved'), 1),
    /told something else/,
  ],
  [
    'a launch is beside the pattern of its grant',
    (events, { paid }) => content(events, paid, { target: 'x' }),
    /covers it not/,
  ],
  [
    'a launch on a grant is of another class than was bound',
    (events, { paid }) => content(events, paid, { class: 'read' }),
    /binding/,
  ],
  [
    'a launch on a grant is flagged',
    (events, { paid }) => content(events, paid, { flags: ['previously_denied'] }),
    /covers it not/,
  ],
  [
    'a launch on a grant is above its money',
    (events, { paid }) => content(events, paid, { amount: 99_999 }),
    /covers it not/,
  ],
  [
    'what was confirmed is given back',
    (events) => (one(events, 'grant-settled').type = 'grant-released'),
    /told something else/,
  ],
  [
    'something is given back without an outcome',
    (events) => events.push({ ...structuredClone(one(events, 'grant-reserved')), type: 'grant-released' }),
    /without a launch or an outcome/,
  ],
  [
    'a freeze that was signed stands as a lift of another one',
    (events) => {
      const freeze = one(events, 'freeze-set');
      freeze.type = 'freeze-lifted';
      freeze.data.name = 'acme';
    },
    /leads to something else/,
  ],
  [
    'a launch under a freeze',
    (events, { sent }) => {
      const [freeze] = events.splice(at(events, 'freeze-set'), 1);
      (freeze as Forged).data.name = 'acme';
      events.splice(at(events, 'action-launched', sent), 0, freeze as Forged);
    },
    /under a freeze/,
  ],
  [
    'an approver stands as an operator',
    (events) => one(events, 'person-added', 'human:bob').data.roles.push('operator'),
    /leads to something else/,
  ],
  [
    'a key that was revoked is added again behind its old receipt',
    (events) => again(events, 'key-added', EVES_KEY),
    /registered already/,
  ],
  [
    'half of an act is missing',
    (events) => events.splice(at(events, 'registry-changed'), 1),
    /in part|leads to something else/,
  ],
  [
    'a configuration is another one than was signed',
    (events) => {
      const applied = events.filter(({ type }) => type === 'configuration-applied').at(-1) as Forged;
      applied.data.config.approvals[0].approvers = ['human:mallory'];
    },
    /leads to something else/,
  ],
  [
    'the first configuration is not the one of its version',
    (events) => (one(events, 'configuration-applied').data.config.name = 'other'),
    /not the one of its version/,
  ],
  [
    'a confirmed action is made failed by nobody',
    (events, { sent }) => {
      const confirmed = structuredClone(one(events, 'action-confirmed', sent));
      const data = { ...confirmed.data, outcome: 'failed', settled_by: 'connector' };
      events.push({ ...confirmed, revision: confirmed.revision + 1, type: 'late-result-settled', data });
    },
    /can not take this step/,
  ],
  [
    'a confirmed action is made failed by a person who did not sign',
    (events, { sent }) => {
      const confirmed = structuredClone(one(events, 'action-confirmed', sent));
      const told = { outcome: 'failed', settled_by: 'human', by: 'human:alice', request_id: 'req_none' };
      const data = { ...confirmed.data, ...told, evidence_ref: `sha256:${'0'.repeat(64)}` };
      events.push({ ...confirmed, revision: confirmed.revision + 1, type: 'late-result-settled', data });
    },
    /no receipt of kind finding/,
  ],
  [
    'an approver is named whom no rule names',
    (events, { sent }) => content(events, sent, { quorum: 0 }),
    /binding of the action/,
  ],
  [
    'a launch has more time for its call than any has',
    (events, { sent }) => (one(events, 'action-launched', sent).data.attempt.send_by += 60_000),
    /would have written something else/,
  ],
  [
    'an approval waits longer than it may',
    (events, { sent }) => (one(events, 'action-approved', sent).data.launch_by += 60_000),
    /would have written something else/,
  ],
  [
    'an action of another epoch is launched',
    (events, { sent }) => content(events, sent, { epoch: 7 }),
    /another epoch/,
  ],
  [
    'an action of another configuration is launched',
    (events, { sent }) => content(events, sent, { policy_version: `sha256:${'0'.repeat(64)}` }),
    /another configuration/,
  ],
  [
    'another amount stands on what was signed',
    (events, { paid }) => content(events, paid, { amount: 100 }),
    /digests of the action/,
  ],
  [
    'another target stands on what was launched',
    (events, { sent }) => content(events, sent, { target: 'elsewhere' }),
    /digests of the action/,
  ],
  [
    'an effect is another one, so that its equals are not found',
    (events, { sent }) => content(events, sent, { effect: `sha256:${'0'.repeat(64)}` }),
    /digests of the action/,
  ],
  [
    'a launch is not noted under its effect',
    (events) => events.splice(at(events, 'effect-launched'), 1),
    /not noted under its effect/,
  ],
  [
    'somebody else launched it',
    (events, { sent }) => ((one(events, 'action-launched', sent) as { actor: string }).actor = 'agent:other'),
    /somebody else launched this/,
  ],
  [
    'a freeze is told to be another person’s',
    (events) => ((one(events, 'freeze-set') as { actor: string }).actor = 'human:bob'),
    /somebody else carried this out/,
  ],
  [
    'a denial was signed by nobody',
    (events, { denied }) => {
      const ended = one(events, 'action-cancelled', denied);
      events.splice(events.indexOf(ended) - 1, 1);
    },
    /no signed denial/,
  ],
  [
    'a denial is told as a withdrawal by another agent',
    (events, { denied }) =>
      Object.assign(one(events, 'action-cancelled', denied).data, { how: 'withdrawn', by: 'agent:x' }),
    /took this back/,
  ],
  [
    'an action is marked as interrupted without a restore',
    (events, { waiting }) => {
      const proposed = one(events, 'action-proposed', waiting);
      const marked = { ...structuredClone(proposed), type: 'action-interrupted', revision: 1, data: {} };
      events.push({ ...marked, actor: 'engine:gate' } as Forged);
    },
    /without a restore/,
  ],
  [
    'an act did not use up the nonce of its receipt',
    (events) => delete one(events, 'request-signed').data.claims,
    /did not use up the nonces/,
  ],
  [
    'a second person was there before the first approver was confirmed',
    (events) => {
      const first = structuredClone(one(events, 'person-added'));
      const mallory = { ...first, record: { kind: 'person', id: 'human:mallory' } } as Forged;
      mallory.data.person = 'human:mallory';
      events.splice(at(events, 'bootstrap-completed'), 0, mallory);
    },
    /not one person with one key/,
  ],
  [
    'the time of the log goes back',
    (events, { sent }) => ((one(events, 'action-proposed', sent) as { at: number }).at -= 3_600_000),
    /time of the log goes back/,
  ],
  [
    'an action takes the place of one that nobody gave up',
    (events, { sent, paid }) => content(events, sent, { replaces: paid }),
    /nobody gave up/,
  ],
];

describe('a log by another hand', () => {
  let world: World;
  let honest: readonly Forged[] = [];
  let ids: Ids = NO_IDS;

  before(async () => {
    ({ world, honest, ids } = await forgedWorld());
  });

  it('is told from one by the gate, in which nothing is wrong', async () => {
    verifies('audit.clean');
    assert.deepEqual(await defectsIn(world.gate.ledger, honest), []);
  });

  for (const [what, edit, says] of FORGERIES) {
    it(`is found where ${what}`, async () => {
      verifies('audit.decided-again');
      const events = structuredClone([...honest]);
      edit(events, ids);
      const defects = await defectsIn(world.gate.ledger, events);
      assert.ok(
        defects.some((defect) => says.test(defect)),
        JSON.stringify(defects),
      );
    });
  }

  it('is found where a standing approval for two was signed by one', async () => {
    verifies('audit.decided-again');
    const two = await memoryWorld({ trust: TRUST.replace("approvers: ['*']", "approvers: ['*']\n    quorum: 2") });
    await carriedOut(two, addKeyAct(BOB));
    await opened(two);
    const events = await logOf(two.gate.ledger);
    assert.deepEqual(await defectsIn(two.gate.ledger, events), []);
    const grant = one(events, 'grant-opened');
    delete grant.data.authorization.also;
    grant.data.signers.length = 1;
    assert.ok((await defectsIn(two.gate.ledger, events)).includes('too few people signed this'));
  });

  it('is found where an outcome that another attempt leaves open is told as failed', async () => {
    verifies('audit.decided-again');
    const retried = await memoryWorld();
    retried.connector.dedupe = { windowMs: 'forever', comparesBody: true, cachesErrors: false };
    retried.connector.behave = async () => ({ result: 'unknown' });
    const actionId = await approved(retried);
    await retried.gate.execute(actionId);
    await approve(retried, actionId);
    retried.connector.behave = async () => ({ result: 'failed', code: 'refused' });
    await retried.gate.retry(actionId);
    const events = await logOf(retried.gate.ledger);
    assert.deepEqual(await defectsIn(retried.gate.ledger, events), []);
    const told = events.filter(({ type }) => type === 'action-outcome-unknown').at(-1) as Forged;
    assert.equal(told.data.outcome, 'failed');
    told.type = 'action-failed';
    assert.match((await defectsIn(retried.gate.ledger, events)).join(), /would have written something else/);
  });

  it('is found where a finding says something else than was signed', async () => {
    verifies('audit.resolution-authority');
    const lost = await memoryWorld();
    lost.connector.behave = async () => ({ result: 'unknown' });
    const actionId = await approved(lost);
    await lost.gate.execute(actionId);
    const asked = { kind: 'finding', action_id: actionId, outcome: 'confirmed', evidence: 'there' } as const;
    const { request } = await lost.gate.requestResolution(asked);
    await lost.gate.submit(signed(request));
    const events = await logOf(lost.gate.ledger);
    assert.deepEqual(await defectsIn(lost.gate.ledger, events), []);
    const found = one(events, 'action-confirmed', actionId);
    found.type = 'action-failed';
    found.data.outcome = 'failed';
    assert.match((await defectsIn(lost.gate.ledger, events)).join(), /no receipt of kind finding/);
  });

  it('is found where a launch took more of a bound than there was, or nothing', async () => {
    verifies('policy.budget.audited');
    const trust = `${TRUST}policy:\n  rules:\n    - { title: notes, decide: allow, match: { operation: note }, limit: 1/h }\n`;
    const bounded = await memoryWorld({ trust });
    const note = (text: string) => ({ ...alike({ target: 'x', args: { text, account: 'x' } }), operation: 'note' });
    await bounded.gate.proposeAndLaunch(note('a'));
    const events = await logOf(bounded.gate.ledger);
    assert.deepEqual(await defectsIn(bounded.gate.ledger, events), []);
    const without = events.filter(({ type }) => type !== 'budget-reserved');
    assert.match((await defectsIn(bounded.gate.ledger, without)).join(), /told something else/);
    const more = structuredClone(events);
    one(more, 'budget-reserved').data.amount = 0;
    assert.match((await defectsIn(bounded.gate.ledger, more)).join(), /told something else/);
  });
});

describe('a stored configuration', () => {
  it('that is not the one of its version is not judged by', async () => {
    verifies('policy.version.checked');
    const world = await memoryWorld();
    const { config, version } = world.gate.services.trust();
    const open = { ...config, policy: { ...config.policy, allow_unattended_irreversible: true } };
    const data = { version, config: open as never, authorization: {} };
    await world.gate.ledger.commit({
      actor: 'agent:local',
      writes: [CONFIG_RECORD],
      decide: () => ({ events: [{ record: CONFIG_RECORD, type: 'configuration-applied', data }], outcome: null }),
    });
    assert.equal(await codeOf(world.gate.services.reloadTrust()), 'corrupt');
  });
});

describe('a log by the gate', () => {
  it('is clean also where people approved another attempt of what policy had bounded', async () => {
    verifies('audit.clean');
    const trust = `${TRUST}policy:\n  rules:\n    - { title: notes, decide: allow, match: { operation: note }, limit: 5/h }\n`;
    const world = await memoryWorld({ trust });
    world.connector.dedupe = { windowMs: 'forever', comparesBody: true, cachesErrors: false };
    world.connector.behave = async () => ({ result: 'unknown' });
    const { proposed: asked } = await world.gate.proposeAndLaunch({ ...alike(), operation: 'note' });
    await approve(world, asked.action_id);
    world.connector.behave = async (_call, effect) => effect();
    assert.equal((await world.gate.retry(asked.action_id)).state, 'confirmed');
    assert.deepEqual(await defectsIn(world.gate.ledger, await logOf(world.gate.ledger)), []);
  });

  it('is clean where an act of each kind was carried out', async () => {
    verifies('audit.clean');
    const world = await memoryWorld();
    const acts: Act[] = [
      addKeyAct(BOB),
      {
        kind: 'registry',
        change: { change: 'away', person: 'human:alice', until: world.clock.now() + 1e6, delegate: null },
      },
      { kind: 'freeze', op: 'set', scope: { scope: 'all', name: null } },
      { kind: 'freeze', op: 'lift', scope: { scope: 'all', name: null } },
      { kind: 'registry', change: { change: 'remove-person', person: 'human:bob' } },
    ];
    for (const act of acts) await carriedOut(world, act);
    const grant_id = await opened(world);
    await carriedOut(world, { kind: 'standing', change: { op: 'revoke', grant_id } });
    assert.deepEqual(await defectsIn(world.gate.ledger, await logOf(world.gate.ledger)), []);
  });
});
