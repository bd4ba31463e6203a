/** Notifications of a gate: what people and programs are told, over real receivers, by a clock that the test moves. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditLedger } from '../../src/app/audit.js';
import { addKeyAct, approved, BOB, carriedOut, homeWorld, proposed, type World } from '../support/gate-world.js';
import { notifierOf, notifying, PUBLIC_URL, type Told } from '../support/notify-world.js';
import { httpReceiver, type Receiver, verified } from '../support/receivers.js';
import { verifies } from '../support/verifies.js';

const MINUTE = 60_000;

interface Scene {
  readonly world: World;
  readonly hook: Receiver;
  readonly chat: Receiver;
  readonly told: Told;
  texts(): readonly string[];
}

/** A webhook for the program and a place where everybody hears what waits. */
async function inScene(act: (scene: Scene) => Promise<void>, trust = (text: string) => text): Promise<void> {
  const [hook, chat] = await Promise.all([httpReceiver(), httpReceiver()]);
  const part = `
channels:
  app: { type: webhook, url: '${hook.url}/hooks', secret: 'env:HOOK', private_network: true }
  chat: { type: slack, url: '${chat.url}/services/T0/B0/key', private_network: true }
recipients:
  everybody: { chat: true }`;
  const world = await homeWorld({ trust: trust(notifying(part)) });
  try {
    const told = notifierOf(world, world.gate);
    await told.look();
    await act({ world, hook, chat, told, texts: () => chat.accepted.map(({ json }) => String(json['text'])) });
    await told.notifier.close();
  } finally {
    await world.close();
    await Promise.all([hook.close(), chat.close()]);
  }
}

describe('what a program is told', () => {
  it('hears by a signed webhook how each action ended, once', () =>
    inScene(async ({ world, hook, told }) => {
      verifies('notifications.settled');
      const actionId = await approved(world);
      await world.gate.execute(actionId);
      await told.look();
      await told.look();
      assert.equal(hook.all.length, 1);
      const [received] = hook.all;
      assert.ok(received);
      const { type, data } = verified(received) as { type: string; data: Record<string, unknown> };
      assert.equal(type, 'action.settled');
      assert.deepEqual([data['id'], data['state'], data['risk']], [actionId, 'confirmed', 'irreversible']);
      assert.equal(data['link'], `${PUBLIC_URL}/actions/${actionId}`);
      assert.throws(() => verified({ ...received, body: received.body.replace('confirmed', 'cancelled') }));
      assert.equal(received.path, '/hooks');
      assert.deepEqual((await auditLedger(world.gate.ledger)).defects, [], 'nothing of it is in the log');
    }));

  it('gets the same id and time-bound signature at every try, after 500, a reset and a redirect', () =>
    inScene(async ({ world, hook, told }) => {
      verifies('notifications.at-least-once');
      await world.gate.execute(await approved(world));
      hook.script = [500, 'reset', 'redirect', 503];
      for (let tries = 0; tries < 6; tries += 1) {
        await told.look();
        world.clock.advance(30 * MINUTE);
      }
      assert.deepEqual([hook.all.length, hook.accepted.length], [5, 1]);
      assert.equal(new Set(hook.all.map(({ headers }) => headers['webhook-id'])).size, 1);
      assert.ok(
        hook.all.every(({ path }) => path === '/hooks'),
        'no redirect is followed',
      );
      const [entry] = await told.entries('delivered');
      assert.deepEqual([entry?.tries, entry?.code], [5, null]);
    }));
});

describe('what people are told', () => {
  it('hears that an approval is wanted, is reminded at half, escalated when it is due, told before and after the end', () =>
    inScene(async ({ world, told, texts }) => {
      verifies('notifications.due');
      const actionId = await proposed(world, { approve_within_ms: 60 * MINUTE });
      const heard = async (ms: number) => {
        const before = texts().length;
        world.clock.advance(ms);
        await told.look();
        const heardNow = texts().slice(before);
        assert.ok(heardNow.length <= 1, 'one message at a time');
        return heardNow;
      };
      const [asked = ''] = await heard(0);
      assert.match(asked, /^test: an approval is wanted, risk: irreversible\n/);
      assert.ok(asked.includes(`${actionId}: counting send, project acme`), asked);
      assert.ok(asked.includes(`See ${PUBLIC_URL}/actions/${actionId}`));
      assert.deepEqual(await heard(7 * MINUTE), []);
      assert.match(String(await heard(MINUTE)), /is still wanted/, 'half of fifteen minutes');
      assert.deepEqual(await heard(6 * MINUTE), []);
      assert.match(String(await heard(MINUTE)), /is overdue/);
      assert.deepEqual(await heard(38 * MINUTE), []);
      assert.match(String(await heard(MINUTE)), /runs out of time/, 'the last tenth');
      assert.match(String(await heard(6 * MINUTE)), /was not given in time/);
      assert.deepEqual(await heard(60 * MINUTE), []);
    }));

  it('tells nobody what was decided meanwhile', () =>
    inScene(async ({ world, chat, told, texts }) => {
      verifies('notifications.lapsed');
      chat.script = [500];
      const actionId = await proposed(world);
      await told.look();
      await world.gate.cancel(actionId);
      world.clock.advance(MINUTE);
      await told.look();
      assert.deepEqual(texts(), []);
      assert.equal((await told.entries('lapsed')).length, 1);
    }));

  it('hears of an unknown outcome and of an act that waits for a signature', () =>
    inScene(async ({ world, told, texts }) => {
      verifies('notifications.inbox');
      world.connector.behave = async () => ({ result: 'unknown', code: 'lost' });
      await world.gate.execute(await approved(world));
      await world.gate.requestAct(addKeyAct(BOB));
      await told.look();
      const all = texts().join('\n');
      assert.match(all, /a look at an unknown outcome is wanted/);
      assert.match(all, /a signature is wanted/);
      assert.ok(!all.includes(BOB.key.publicKey));
    }));
});

describe('several gates', () => {
  it('deliver each entry once, by the one that has the lease, and the other goes on where it stopped', () =>
    inScene(async ({ world, hook, told }) => {
      verifies('notifications.once');
      const other = notifierOf(world, await world.another());
      assert.equal(await other.look(), false);
      for (let no = 0; no < 3; no += 1) await world.gate.execute(await approved(world, { args: { text: `n${no}` } }));
      await Promise.all([told.look(), other.look()]);
      assert.equal(hook.accepted.length, 3);
      await told.notifier.close();
      await world.gate.execute(await approved(world, { args: { text: 'later' } }));
      world.clock.advance(10 * MINUTE);
      assert.equal(await other.look(), true);
      assert.equal(hook.accepted.length, 4);
      await other.notifier.close();
    }));
});

describe('a channel that does not work', () => {
  it('is given up after bounded tries, shown, told to operators over another one, and blocks no launch', () =>
    inScene(async ({ world, hook, told, texts }) => {
      verifies('notifications.bounded');
      verifies('notifications.never-blocks');
      hook.script = Array.from({ length: 40 }, () => 500);
      const actionId = await approved(world);
      assert.equal((await world.gate.execute(actionId)).state, 'confirmed');
      for (let tries = 0; tries < 40; tries += 1) {
        await told.look();
        world.clock.advance(60 * MINUTE);
      }
      const [dead] = await told.entries('dead');
      assert.deepEqual([dead?.channel, dead?.code, dead?.tries, hook.all.length], ['app', 'status_500', 10, 10]);
      assert.match(String(texts()), /a notification did not arrive\nNothing reaches anybody over app/);
      assert.equal((await world.gate.execute(await approved(world, { args: { text: 'on' } }))).state, 'confirmed');
      await carriedOut(world, addKeyAct(BOB));
    }));

  it('that hangs holds up no launch and no other channel', () =>
    inScene(async ({ world, hook, told, texts }) => {
      verifies('notifications.never-blocks');
      hook.script = ['hang'];
      await world.gate.execute(await approved(world));
      await told.notifier.look();
      await proposed(world, { args: { text: 'waits' } });
      const began = performance.now();
      assert.equal((await world.gate.execute(await approved(world, { args: { text: 'two' } }))).state, 'confirmed');
      world.clock.advance(MINUTE);
      for (let looks = 0; looks < 100 && texts().length === 0; looks += 1) {
        await told.notifier.look();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assert.ok(texts().length > 0, 'people hear meanwhile');
      assert.ok(performance.now() - began < 10_000);
    }));
});
