/** A gate that is served tells people by itself, and counts what it told by channel and state. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { proposed } from '../support/gate-world.js';
import { notifying } from '../support/notify-world.js';
import { httpReceiver } from '../support/receivers.js';
import { serverWorld } from '../support/server-world.js';
import { verifies } from '../support/verifies.js';

it('is told and counted while it is served, and no more once the gate is closed', async () => {
  verifies('notifications.served');
  const chat = await httpReceiver();
  const part = `
channels:
  chat: { type: slack, url: '${chat.url}/x', private_network: true }
  gone: { type: slack, url: '${chat.url}/SECRET-PATH', private_network: true }
recipients: { everybody: { chat: true, gone: true } }`;
  const world = await serverWorld({ trust: notifying(part) });
  const { text } = await world.token();
  chat.script = [410, 200];
  const actionId = await proposed(world);
  const metrics = async () => (await world.raw('/metrics', { headers: { authorization: `Bearer ${text}` } })).text();
  let counted = '';
  for (let looks = 0; looks < 200 && !/state="dead"\} [1-9]/.test(counted); looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    counted = await metrics();
  }
  assert.match(counted, /^countersign_notifications\{channel="(chat|gone)",state="dead"\} [1-9]/m);
  assert.ok(!counted.includes('SECRET-PATH') && !counted.includes('127.0.0.1'), 'no address');
  for (let looks = 0; looks < 200 && !/state="delivered"\} [1-9]/.test(counted); looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    counted = await metrics();
  }
  assert.match(counted, /^countersign_notifications\{channel="(chat|gone)",state="delivered"\} [1-9]/m);
  const told = chat.accepted.map(({ json }) => String(json['text']));
  assert.ok(
    told.some((words) => words.includes(`See ${world.serving.publicUrl}/actions/${actionId}`)),
    told.join('\n'),
  );
  await world.close();
  const before = chat.all.length;
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  assert.equal(chat.all.length, before);
  await chat.close();
});
