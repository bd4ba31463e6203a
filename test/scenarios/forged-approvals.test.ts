/**
 * Logs by another hand, in what counts as approved and in what whoever signed was shown: each is found, with every hash
 * in it right.
 */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { content, type Edit, ended, forgedWorld, type Ids, NO_IDS, one, textOf } from '../support/forged-world.js';
import { approve, approved, memoryWorld, type World } from '../support/gate-world.js';
import { defectsIn, type Forged, logOf } from '../support/logs.js';
import { verifies } from '../support/verifies.js';

/** The promise, what was changed, how, and a part of what the audit has to say. */
const FORGERIES: readonly (readonly [string, string, Edit, RegExp])[] = [
  [
    'audit.equals-shown',
    'a proposal hides that people denied the same',
    (events, { again: second }) => content(events, second, { flags: [] }),
    /not flagged as its equals demand/,
  ],
  [
    'audit.equals-shown',
    'a proposal says that more was launched than was',
    (events, { sent }) => content(events, sent, { launches_seen: 1 }),
    /another number of launches/,
  ],
  [
    'audit.equals-shown',
    'a proposal says that less was launched than was',
    (events, { once }) => content(events, once, { launches_seen: 0 }),
    /another number of launches/,
  ],
  [
    'audit.equals-shown',
    'a proposal names an equal that is none',
    (events, { sent, paid }) => content(events, sent, { duplicates: [paid] }),
    /names others/,
  ],
  [
    'audit.approvals',
    'a request is issued a second time',
    (events) => {
      const request = structuredClone(one(events, 'request-opened'));
      (request as { revision: number }).revision = 2;
      events.push(request);
    },
    /not a new one/,
  ],
  [
    'audit.approvals',
    'a nonce is taken in the name of somebody',
    (events, { sent }) => {
      for (const taken of one(events, 'action-launched', sent).data.claims.taken) taken[1] = 'human:alice';
    },
    /did not use up the nonce/,
  ],
  [
    'audit.approvals',
    'an approval counts whose receipt is another one',
    (events, { sent }) => (one(events, 'action-approved', sent).data.approvals[0].nonce = 'another'),
    /an approval stands on a receipt that is not there/,
  ],
  [
    'audit.approvals',
    'an approval counts whose receipt came of an earlier time',
    (events, { sent }) => {
      for (const type of ['request-opened', 'request-signed']) {
        const found = events.find((event) => event.type === type && textOf(event).includes(sent)) as Forged;
        (found.data.receipt ?? found.data).request.iat -= 3_600_000;
      }
    },
    /not issued|does not verify/,
  ],
  [
    'audit.approvals',
    'an approval stands on a standing approval that is not there',
    (events, { paid }) => (one(events, 'action-approved', paid).data.authorization.grant_id = 'gr_none'),
    /an approval stands on a standing approval that covers it not/,
  ],
  [
    'audit.denial-told',
    'what somebody denied is told as taken back by its proposer',
    (events, { denied }) => {
      const ended = one(events, 'action-cancelled', denied);
      Object.assign(ended.data, { how: 'withdrawn', by: 'agent:local', words: null });
      (ended as { actor: string }).actor = 'agent:local';
    },
    /a signed denial did not end its action/,
  ],
  [
    'audit.denial-told',
    'a denial of one action ends another one',
    (events, { denied, waiting }) => {
      (one(events, 'action-cancelled', denied) as { record: object }).record = { kind: 'action', id: waiting };
    },
    /a signed denial did not end its action/,
  ],
  [
    'audit.decided-again',
    'an action is of an epoch that never was',
    (events, { waiting }) => content(events, waiting, { epoch: 9 }),
    /in another epoch/,
  ],
  [
    'audit.decided-again',
    'an action stands under a configuration that never was',
    (events, { waiting }) => content(events, waiting, { policy_version: `sha256:${'0'.repeat(64)}` }),
    /under another configuration/,
  ],
  [
    'audit.decided-again',
    'an action is without its arguments',
    (events, { sent }) => ((one(events, 'action-proposed', sent) as { payloads: readonly string[] }).payloads = []),
    /are not with it/,
  ],
  [
    'audit.decided-again',
    'somebody else than the gate tells an outcome',
    (events, { sent }) => ((one(events, 'action-confirmed', sent) as { actor: string }).actor = 'agent:local'),
    /somebody else settled this/,
  ],
  [
    'audit.decided-again',
    'somebody else than the gate lets an action expire',
    (events, { waiting }) => {
      const { content: told } = one(events, 'action-proposed', waiting).data;
      ended(events, waiting, 'agent:local', { how: 'expired', by: 'agent:local', words: null }, told.approve_by);
    },
    /somebody else ended this/,
  ],
  [
    'audit.decided-again',
    'an action is given up for a copy that is not there',
    (events, { waiting }) => {
      const copy = {
        how: 'superseded',
        by: 'human:alice',
        words: null,
        superseded_by: 'act_01JDXW3Q4R8Y2M5N7P9S0T1V3W',
      };
      ended(events, waiting, 'human:alice', copy);
    },
    /a copy that is not there/,
  ],
  [
    'audit.decided-again',
    'an action was proposed by somebody else',
    (events, { sent }) => ((one(events, 'action-proposed', sent) as { actor: string }).actor = 'agent:other'),
    /somebody else proposed this/,
  ],
  [
    'audit.decided-again',
    'an equal launch is left out of what its effect remembers',
    (events, { once }) =>
      events.splice(
        events.findLastIndex(({ type }) => type === 'effect-launched' && once !== ''),
        1,
      ),
    /not noted under its effect/,
  ],
];

describe('a log by another hand, in which an action failed', () => {
  it('is found where it is launched again on what was signed before', async () => {
    verifies('audit.approvals');
    const world = await memoryWorld();
    world.connector.behave = async () => ({ result: 'failed', code: 'no' });
    const actionId = await approved(world);
    await world.gate.execute(actionId);
    await approve(world, actionId);
    const events = await logOf(world.gate.ledger);
    assert.deepEqual(await defectsIn(world.gate.ledger, events), []);
    // The failure is told as one that came after the second signature was asked for.
    const failed = events.findIndex(({ type }) => type === 'action-failed');
    for (const event of events.slice(failed)) (event as { at: number }).at += 1_000;
    const asked = events.filter(({ type }) => type === 'request-opened').at(-1) as Forged;
    const signed = events.filter(({ type }) => type === 'request-signed').at(-1) as Forged;
    assert.equal(asked.data.request.iat, signed.data.receipt.request.iat);
    assert.match((await defectsIn(world.gate.ledger, events)).join(), /from before its proposal, or its failure/);
  });
});

describe('a log by another hand, around approvals', () => {
  let world: World;
  let honest: readonly Forged[] = [];
  let ids: Ids = NO_IDS;

  before(async () => {
    ({ world, honest, ids } = await forgedWorld());
  });

  for (const [promise, what, edit, says] of FORGERIES) {
    it(`is found where ${what}`, async () => {
      verifies(promise);
      const events = structuredClone([...honest]);
      edit(events, ids);
      const defects = await defectsIn(world.gate.ledger, events);
      assert.ok(
        defects.some((defect) => says.test(defect)),
        JSON.stringify(defects),
      );
    });
  }
});
