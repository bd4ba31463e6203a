/** What people read about packages: intents in a list, the envelopes of one, and what carries its draft out. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Gate } from '../../src/app/index.js';
import { LIMITS } from '../../src/core/index.js';
import { packageIn, step } from '../support/gate-packages.js';
import { approve, codeOf, memoryWorld, proposed, type World } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

const ID = 'pkg_reads';

function gateOf(world: World, caller: object): Gate {
  return new Gate(world.gate.services, { principal: 'agent:local', ...caller } as never, async () => undefined);
}

it('a list tells the beginning of each intent, cut by whole characters', async () => {
  verifies('packages.read.intents');
  const { packages } = (await memoryWorld()).gate;
  const max = LIMITS.intentShownCharsMax;
  const intents = [max - 1, max, max + 1].map((count) => '😀'.repeat(count));
  for (const [at, intent] of intents.entries()) await packages.create(`pkg_${at}`, intent);
  assert.deepEqual(
    (await packages.list()).rows.map(({ intent }) => intent),
    [intents[1], intents[1], intents[0]],
  );
});

it('the envelopes of a package come newest first, by pages, with who sent them and what they name', async () => {
  verifies('packages.read.envelopes');
  const world = await memoryWorld();
  const { packages } = world.gate;
  await packageIn(world.gate, ID, 'INTAKE');
  await step(world.gate, ID, 'record_input');
  await step(world.gate, ID, 'set_objective');
  await step(world.gate, ID, 'prepare_summary');
  await packages.requestConfirmation(ID);
  await step(world.gate, ID, 'cancel', { reason: 'not needed' });
  const { rows, next } = await packages.envelopes(ID);
  assert.equal(next, undefined);
  assert.deepEqual(
    rows.map(({ revision, by, action, about }) => [revision, by, action, about]),
    [
      [4, 'agent:local', 'cancel', 'not needed'],
      [3, 'agent:local', 'prepare_summary', null],
      [2, 'agent:local', 'set_objective', null],
      [1, 'agent:local', 'record_input', 'in-1'],
      [0, 'agent:local', 'create', null],
    ],
  );
  for (const after of ['x', '-1', '01', '1.0', '1\n', '9'.repeat(40)]) {
    assert.equal(await codeOf(packages.envelopes(ID, after)), 'invalid', after);
  }
  assert.deepEqual(await packages.envelopes(ID, '0'), { rows: [] });
  assert.equal((await packages.envelopes(ID, '900')).rows.length, 5);
  assert.equal(await codeOf(packages.envelopes('pkg_nobody')), 'PACKAGE_NOT_FOUND');
});

it('a page of envelopes is full, and one more is on the next', async () => {
  verifies('packages.read.envelopes');
  const world = await memoryWorld();
  const { packages } = world.gate;
  await packageIn(world.gate, ID, 'INTAKE');
  const max = LIMITS.packageRowsMax;
  const shape = async () => {
    const { rows, next } = await packages.envelopes(ID);
    return [rows.length, rows[0]?.revision, next];
  };
  // With what it began with there is one more than envelopes.
  for (let at = 1; at <= max - 2; at += 1) await step(world.gate, ID, 'record_input', { input_id: `in-${at}` });
  assert.deepEqual(await shape(), [max - 1, max - 2, undefined]);
  await step(world.gate, ID, 'set_objective');
  assert.deepEqual(await shape(), [max, max - 1, undefined]);
  await step(world.gate, ID, 'set_objective');
  assert.deepEqual(await shape(), [max, max, '1']);
  assert.deepEqual(
    (await packages.envelopes(ID, '1')).rows.map(({ revision, action }) => [revision, action]),
    [[0, 'create']],
  );
});

it('what carries a draft out is found behind much else, as far as the caller sees it', async () => {
  verifies('packages.read.releases');
  const world = await memoryWorld();
  const { packages } = world.gate;
  await packageIn(world.gate, ID, 'AUTHORING_AUTHORIZED');
  assert.deepEqual(await packages.releases(ID), { rows: [] });
  await step(world.gate, ID, 'record_draft_artifact');
  const [{ sha256 = '' } = {}] = (await packages.status(ID)).manifest.artifacts;
  const carrying = { work_item: ID, args: { text: sha256 } };
  const older = await proposed(world, { ...carrying, target: 'first', args: { text: sha256, account: 'first' } });
  await approve(world, older);
  // It names the package, and carries nothing of it.
  await proposed(world, { work_item: ID, args: { text: 'nothing' } });
  for (let at = 0; at < LIMITS.pageRowsMax; at += 1) await proposed(world, { args: { text: `${at}` } });
  const newer = await proposed(world, carrying);
  const first = await packages.releases(ID);
  assert.deepEqual(
    first.rows.map((row) => row),
    [
      {
        ...{ action_id: newer, state: 'proposed', project: 'acme', connector: 'counting', operation: 'send' },
        ...{ target: 'customers', proposed_by: 'agent:local', proposed_at: world.clock.now(), revision: '4' },
      },
    ],
  );
  const second = await packages.releases(ID, first.next);
  assert.deepEqual(
    second.rows.map(({ action_id, state }) => [action_id, state]),
    [[older, 'approved']],
  );
  const scope = { projects: ['*'], connectors: ['*'], verbs: ['package'], on_behalf: false };
  const seenBy = async (caller: object) => (await gateOf(world, caller).packages.releases(ID)).rows;
  assert.deepEqual(await seenBy({ scope }), [], 'a token without `read` learns of no action');
  const reading = { ...scope, verbs: ['package', 'read'] };
  assert.deepEqual(await seenBy({ scope: reading, principal: 'agent:other' }), [
    { action_id: newer, state: 'proposed' },
  ]);
  assert.deepEqual(await seenBy({ scope: reading }), first.rows);
  assert.deepEqual(await seenBy({ principal: 'human:alice', session: true }), first.rows);
  assert.deepEqual(await seenBy({ scope: { ...reading, projects: ['web'] } }), []);
  for (const after of ['x', ID, `${newer}\n`]) assert.equal(await codeOf(packages.releases(ID, after)), 'invalid');
});

it('looks at no actions from before anybody could release the package', async () => {
  verifies('packages.read.releases');
  const world = await memoryWorld();
  for (let at = 0; at <= LIMITS.pageRowsMax; at += 1) await proposed(world, { args: { text: `${at}` } });
  world.clock.advance(2 * 24 * 3_600_000);
  await packageIn(world.gate, ID, 'DRAFT_READY');
  assert.deepEqual(await world.gate.packages.releases(ID), { rows: [] });
});
