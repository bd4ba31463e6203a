/** What is said about an action stands apart from it: it changes nothing that is signed, approved or launched. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visitorOf } from '../../src/app/gate.js';
import { auditLedger } from '../../src/app/index.js';
import { LIMITS } from '../../src/core/index.js';
import { forgedWorld, one } from '../support/forged-world.js';
import { approve, carriedOut, codeOf, homeWorld, memoryWorld, proposed } from '../support/gate-world.js';
import { defectsIn, type Forged, logOf } from '../support/logs.js';
import { verifies } from '../support/verifies.js';

test('a comment is kept with its author and its time, and moves nothing that was signed', async () => {
  verifies('actions.comment');
  const world = await homeWorld();
  const id = await proposed(world);
  await approve(world, id);
  const before = await world.gate.show(id);
  const { lines } = await world.gate.summary(id);
  const first = await world.gate.comment(id, 'Is this the right customer?\nI doubt it.');
  assert.deepEqual([first.no, first.by], [1, 'agent:local']);
  const alice = visitorOf(world.gate, { principal: 'human:alice', session: true });
  await alice.comment(id, 'It is.');
  assert.deepEqual(await world.gate.show(id), before);
  assert.deepEqual((await world.gate.summary(id)).lines, lines);
  assert.equal((await world.gate.execute(id)).state, 'confirmed', 'what was approved is launched all the same');
  await world.gate.comment(id, 'Thank you.');
  await world.reopen();
  const comments = await world.gate.comments(id);
  assert.deepEqual(
    comments.map(({ no, by, text }) => [no, by, text]),
    [
      [1, 'agent:local', 'Is this the right customer?\nI doubt it.'],
      [2, 'human:alice', 'It is.'],
      [3, 'agent:local', 'Thank you.'],
    ],
  );
  assert.ok(comments.every(({ at }) => at >= before.proposed_at));
  assert.deepEqual((await auditLedger(world.gate.ledger)).defects, []);
  await world.close();
});

test('a comment is a text, of an action that there is, and an action takes so many', async () => {
  verifies('actions.comment');
  const world = await memoryWorld();
  const id = await proposed(world);
  for (const text of ['', '  \n', 'x'.repeat(LIMITS.wordsCharsMax + 1), '\ud800', 7, null, undefined, {}]) {
    assert.equal(await codeOf(world.gate.comment(id, text as never)), 'invalid');
  }
  await world.gate.comment(id, 'x'.repeat(LIMITS.wordsCharsMax));
  assert.equal(await codeOf(world.gate.comment('act_01JD0000000000000000000000', 'hello')), 'unknown_action');
  assert.equal(await codeOf(world.gate.comments('act_01JD0000000000000000000000')), 'unknown_action');
  await Promise.all(Array.from({ length: LIMITS.commentsMax - 1 }, (_, at) => world.gate.comment(id, `no ${at}`)));
  assert.equal(await codeOf(world.gate.comment(id, 'one too many')), 'comments');
  assert.equal((await world.gate.comments(id)).length, LIMITS.commentsMax);
  await world.close();
});

test('what is frozen is talked about by people alone', async () => {
  verifies('actions.comment');
  const world = await homeWorld();
  const id = await proposed(world);
  await carriedOut(world, { kind: 'freeze', op: 'set', scope: { scope: 'agent', name: 'agent:local' } });
  assert.equal(await codeOf(world.gate.comment(id, 'hello')), 'frozen');
  const alice = visitorOf(world.gate, { principal: 'human:alice', session: true });
  assert.equal((await alice.comment(id, 'What was that?')).no, 1);
  await world.close();
});

test('a log in which somebody else speaks, or speaks of nothing, is found out', async () => {
  verifies('audit.comment');
  const { world, ids } = await forgedWorld();
  await world.gate.comment(ids.waiting, 'hello');
  const honest = await logOf(world.gate.ledger);
  const forgeries: readonly (readonly [(event: Forged) => unknown, RegExp])[] = [
    [(event) => Object.assign(event, { actor: 'human:alice' }), /no comment that the gate wrote/],
    [(event) => Object.assign(event.data, { via: 'session' }), /no comment that the gate wrote/],
    [(event) => Object.assign(event.data, { text_ref: `sha256:${'0'.repeat(64)}` }), /no comment that the gate/],
    [(event) => Object.assign(event.record, { id: 'act_01JD0000000000000000000000' }), /said about no action/],
  ];
  assert.deepEqual(await defectsIn(world.gate.ledger, honest), []);
  for (const [edit, says] of forgeries) {
    const events = structuredClone(honest);
    edit(one(events, 'comment-added'));
    assert.match((await defectsIn(world.gate.ledger, events)).join(), says);
  }
  await world.close();
});
