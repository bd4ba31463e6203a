/** What happens in another process than the one that asked: signing for a tool, putting a store back, asking again. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as z from 'zod';
import { backupTo, type CountersignGate, homeAt, placeBackup } from '../../src/app/index.js';
import { approve, approved, codeOf, homeWorld, proposed, sending, signed } from '../support/gate-world.js';
import { verifies } from '../support/verifies.js';

it('a person reads and signs what a tool asks for in a process that does not have the tool', async () => {
  verifies('app.tool.elsewhere');
  const world = await homeWorld();
  let calls = 0;
  const definition = {
    name: 'refund',
    version: '1',
    input: z.strictObject({ invoice: z.string() }),
    summary: ({ invoice }: { invoice: string }) => ({ invoice, note: 'full amount' }),
    execute: async () => {
      calls += 1;
      return null;
    },
  };
  const tool = (world.gate as CountersignGate).tool(definition);
  const pending = await tool.call({ invoice: 'in_17' });
  assert.equal(pending.status, 'pending');
  const elsewhere = await world.another();
  const { request, summary } = await elsewhere.request(pending.action_id);
  assert.ok(summary.includes('> note: full amount'));
  const shown = await elsewhere.requestDetails(request.request_id);
  assert.deepEqual(shown.summary, summary);
  await elsewhere.submit(signed(request));
  assert.equal((await elsewhere.fetchReceipt(pending.action_id))?.state, 'approved');
  assert.equal(await codeOf(elsewhere.execute(pending.action_id)), 'operation', 'it runs only where the function is');
  assert.equal((await tool.resume(pending.action_id)).status, 'done');
  assert.equal(calls, 1);
  await world.close();
});

it('a tool whose lines are other ones at the launch is not run', async () => {
  verifies('app.tool.elsewhere');
  const world = await homeWorld();
  let note = 'small';
  const tool = (world.gate as CountersignGate).tool({
    name: 'refund',
    version: '1',
    input: z.strictObject({ invoice: z.string() }),
    summary: () => ({ note }),
    execute: async () => assert.fail('it ran'),
  });
  const pending = await tool.call({ invoice: 'in_17' });
  const elsewhere = await world.another();
  await approve({ ...world, gate: elsewhere }, pending.action_id);
  note = 'large';
  assert.equal(await codeOf(tool.resume(pending.action_id)), 'summary_mismatch');
  await world.close();
});

it('no backup is put back under a gate that is open, and what is put back launches nothing unaccepted', async () => {
  verifies('app.restore.alone');
  const world = await homeWorld();
  const actionId = await approved(world);
  const home = homeAt(world.folder, {});
  const copy = `${world.folder}/copy.sqlite`;
  await backupTo(world.gate as CountersignGate, copy);
  assert.equal(await codeOf(placeBackup(home, copy, 1)), 'busy');
  assert.equal((await world.gate.show(actionId)).state, 'approved', 'the open gate goes on as before');
  await world.gate.close();
  await placeBackup(home, copy, 2);
  const gate = await world.another();
  assert.equal(await codeOf(gate.execute(actionId)), 'ledger_rolled_back', 'also where nothing was lost');
  assert.equal(world.connector.calls.length, 0);
  await world.close();
});

it('asking again after the world changed is a new action, and asking once more joins that one', async () => {
  verifies('actions.propose.outdated');
  const world = await homeWorld();
  const guarded = { operation: 'guarded' };
  world.connector.outside = { price: '10' };
  const old = await approved(world, guarded);
  world.connector.outside = { price: '12' };
  assert.equal(await codeOf(world.gate.execute(old)), 'stale_precondition');
  const fresh = await world.gate.propose(sending(guarded));
  assert.equal(fresh.joined, false);
  assert.notEqual(fresh.action_id, old);
  assert.equal(await proposed(world, guarded), fresh.action_id);
  await approve(world, fresh.action_id);
  assert.equal((await world.gate.execute(fresh.action_id)).state, 'confirmed');
  await world.close();
});
