/** Notifications of a gate: what people and programs are told, over real receivers, by a clock that the test moves. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditLedger } from '../../src/app/audit.js';
import { listDeliveries } from '../../src/app/notify.js';
import type { Act } from '../../src/approvals/index.js';
import {
  addKeyAct,
  approve,
  approved,
  BOB,
  carriedOut,
  homeWorld,
  personWithKey,
  proposed,
  type World,
} from '../support/gate-world.js';
import { notifierOf, notifying, PUBLIC_URL, type Told } from '../support/notify-world.js';
import { HOOK_SECRET, httpReceiver, type Receiver, verified } from '../support/receivers.js';
import { verifies } from '../support/verifies.js';

const MINUTE = 60_000;
const SECOND = 1_000;

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

describe('a receiver that fails', () => {
  it('is asked again with growing waits, and never in between', () =>
    inScene(async ({ world, hook, told }) => {
      verifies('notifications.bounded');
      await world.gate.execute(await approved(world));
      hook.script = [500, 500, 500];
      await told.look();
      const waits: number[] = [];
      for (let waited = SECOND; hook.accepted.length === 0 && waited < 10 * MINUTE; waited += SECOND) {
        const before = hook.all.length;
        world.clock.advance(SECOND);
        await told.look();
        if (hook.all.length === before) continue;
        waits.push(waited / SECOND);
        waited = 0;
      }
      assert.equal(waits.length, 3);
      for (const [at, least, most] of [
        [0, 4, 7],
        [1, 12, 19],
        [2, 36, 55],
      ] as const) {
        const wait = waits[at] ?? 0;
        assert.ok(wait >= least && wait <= most, `the ${at + 2}. try after ${wait} s`);
      }
    }));

  it('that was down gets once what came meanwhile, once it is up', async () => {
    verifies('notifications.at-least-once');
    const first = await httpReceiver();
    const port = Number(new URL(first.url).port);
    await first.close();
    const part = `
channels:
  app: { type: webhook, url: '${first.url}/hooks', secret: 'env:HOOK', private_network: true }`;
    const world = await homeWorld({ trust: notifying(part) });
    const told = notifierOf(world, world.gate);
    await told.look();
    const actionId = await approved(world);
    await world.gate.execute(actionId);
    for (let looks = 0; looks < 3; looks += 1) {
      await told.look();
      world.clock.advance(MINUTE);
    }
    const [waiting] = await told.entries('waiting');
    assert.deepEqual([waiting?.code, waiting?.tries], ['not_connected', 3]);
    const hook = await httpReceiver(port);
    for (let looks = 0; looks < 5; looks += 1) {
      await told.look();
      world.clock.advance(5 * MINUTE);
    }
    assert.deepEqual([hook.all.length, (await told.entries('delivered')).length], [1, 1]);
    assert.ok(hook.all.every((one) => (verified(one)['data'] as { id: string }).id === actionId));
    await told.notifier.close();
    await world.close();
    await hook.close();
  });
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

  it('asks nobody again who has signed, and asks the others', () => {
    const two = (text: string) => text.replace('separate:', 'quorum: 2\n    separate:');
    const part = (text: string) => text.replace('everybody: { chat: true }', 'human:alice: { chat: true }');
    return inScene(
      async ({ world, chat, told, texts }) => {
        verifies('notifications.lapsed');
        await carriedOut(world, addKeyAct(BOB));
        chat.script = [500];
        const actionId = await proposed(world);
        await told.look();
        await approve(world, actionId);
        world.clock.advance(9 * MINUTE);
        await told.look();
        assert.deepEqual(texts(), [], 'a reminder is for Bob, and no place is his');
        assert.deepEqual(
          (await told.entries('lapsed', 'waiting', 'delivered')).map(({ notice, state }) => [notice, state]),
          [['asked', 'lapsed']],
        );
      },
      (text) => part(two(text)),
    );
  });

  it('leaves out who is away, and tells their delegate and whom the rule names', () => {
    const CAROL = personWithKey('human:carol', 3);
    const places = `human:alice: { chat: true }\n    human:bob: { mine: true }\n    human:carol: { carols: true }`;
    let ports = { bob: '', carol: '' };
    const trust = (text: string) =>
      text
        .replace(
          "approvers: ['*']",
          "approvers: [human:alice, human:bob]\n    remind: 5m\n    due: 10m\n    escalate_to: ['human:carol']",
        )
        .replace('everybody: { chat: true }', places)
        .replace(
          'recipients:',
          `  mine: { type: slack, url: '${ports.bob}', private_network: true }\n    carols: { type: slack, url: '${ports.carol}', private_network: true }\n  recipients:`,
        );
    return (async () => {
      verifies('notifications.away');
      verifies('notifications.escalation');
      const [bobs, carols] = await Promise.all([httpReceiver(), httpReceiver()]);
      ports = { bob: bobs.url, carol: carols.url };
      await inScene(async ({ world, told, texts }) => {
        await carriedOut(world, addKeyAct(BOB));
        await carriedOut(world, addKeyAct(CAROL));
        const until = world.clock.now() + 24 * 60 * MINUTE;
        const away = { change: 'away', person: 'human:bob', until, delegate: 'human:alice' } as const;
        await carriedOut(world, { kind: 'registry', change: away } satisfies Act, BOB);
        await told.look();
        const counts = () => [texts(), bobs.accepted, carols.accepted].map(({ length }) => length);
        const before = counts();
        await proposed(world);
        const since = async (ms: number) => {
          world.clock.advance(ms);
          await told.look();
          return counts().map((count, at) => count - (before[at] ?? 0));
        };
        assert.deepEqual(await since(0), [1, 1, 0], 'asked are both');
        assert.deepEqual(await since(5 * MINUTE), [2, 1, 0], 'reminded is Alice, for both');
        assert.deepEqual(await since(5 * MINUTE), [2, 1, 1], 'escalated to Carol');
      }, trust);
      await Promise.all([bobs.close(), carols.close()]);
    })();
  });

  it('hears that nobody approved in time also where somebody ended the action first', () =>
    inScene(async ({ world, hook, told, texts }) => {
      verifies('notifications.due');
      await proposed(world, { approve_within_ms: 10 * MINUTE });
      await told.look();
      world.clock.advance(10 * MINUTE + 1);
      assert.equal((await world.gate.recover()).expired.length, 1);
      await told.look();
      await told.look();
      assert.equal(texts().length, 2, texts().join('\n'));
      assert.match(String(texts()[1]), /an approval was not given in time/);
      assert.deepEqual([hook.accepted.length, hook.accepted[0]?.json['type']], [1, 'action.settled']);
    }));

  it('shows nothing that the agent wrote but plain words', () =>
    inScene(async ({ world, hook, chat, told }) => {
      verifies('notifications.plain');
      const attack = '<!channel> <https://evil.example|Approve> \u202e\u0007\r\nBcc: all@evil.example **now**';
      const args = { text: attack };
      await proposed(world, { args, work_item: 'https://evil.example **now**', project: 'evil.example' });
      await world.gate.execute(await approved(world, { args, target: 'a/https://evil.example' }));
      await told.look();
      const sent = [...hook.all, ...chat.all].map(({ body }) => body);
      assert.ok(sent.length >= 2);
      for (const body of sent) {
        assert.ok(!/evil\.example|channel|\\u202e|\\u0007|Bcc|\*|Approve/.test(body), body);
      }
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

describe('secrets', () => {
  it('stand in no entry, list, log or error, whatever fails', () =>
    inScene(async ({ world, hook, chat, told }) => {
      verifies('notifications.secrets');
      hook.script = [500, 'reset', 500];
      chat.script = [500, 'reset', 500];
      await proposed(world);
      await world.gate.execute(await approved(world, { args: { text: 'two' } }));
      for (let looks = 0; looks < 4; looks += 1) {
        await told.look();
        world.clock.advance(MINUTE);
      }
      const entries = await told.entries('waiting', 'delivered', 'dead', 'lapsed');
      assert.ok(entries.length >= 2);
      const kept = JSON.stringify([entries, told.logged, await listDeliveries(world.gate, true)]);
      for (const secret of [HOOK_SECRET.slice(6), '/services/T0/B0/key', '127.0.0.1', 'secret of theirs']) {
        assert.ok(!kept.includes(secret), secret);
      }
      assert.ok([...hook.all, ...chat.all].every(({ body }) => !body.includes(HOOK_SECRET.slice(6))));
    }));
});
