/** The part `notifications` of a trust configuration: what it takes, what it refuses and where, and that it may be absent. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseTrustConfig } from '../../src/app/index.js';
import { Refusal } from '../../src/core/index.js';
import { policyVersion } from '../../src/policy/index.js';
import { ROOT } from '../support/files.js';
import { approved, carriedOut, configAct, homeWorld, TRUST } from '../support/gate-world.js';
import { notifierOf, notifying } from '../support/notify-world.js';
import { httpReceiver } from '../support/receivers.js';
import { verifies } from '../support/verifies.js';

const GOOD = `
public_url: https://gate.example.com
channels:
  app: { type: webhook, url: 'https://app.example.com/hooks', secret: 'file:/run/secrets/hook' }
  chat: { type: slack, url: 'env:CHAT_URL', notices: [asked, escalation] }
  phone: { type: ntfy, server: 'https://ntfy.example.com', token: 'exec:/usr/bin/pass show ntfy' }
  mail: { type: smtp, host: mail.example.com, security: starttls, from: gate@example.com, user: gate, password: 'env:P' }
  desk: { type: desktop }
recipients:
  everybody: { chat: true, desk: true }
  human:alice: { mail: alice@example.com, phone: 'env:TOPIC' }
  group:ops: { mail: ops@example.com }`;

const trust = (part: string) =>
  notifying(part, TRUST.replace('approvals:', 'groups: { ops: [human:alice] }\napprovals:'));

async function refusalOf(part: string): Promise<Refusal> {
  try {
    await parseTrustConfig(trust(part));
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error(`it was taken: ${part}`);
}

describe('the part of the configuration', () => {
  it('is taken as the page about it shows it', async () => {
    verifies('notifications.configuration');
    const page = readFileSync(join(ROOT, 'docs/how-to/notify-people.md'), 'utf8');
    const [, block = ''] = /```yaml\nnotifications:\n([\s\S]*?)```/.exec(page) ?? [];
    const part = block.split('\n').map((line) => line.slice(2));
    const { notifications } = await parseTrustConfig(trust(part.join('\n')));
    assert.deepEqual(Object.keys((notifications as { channels: object }).channels).length, 5);
  });

  it('takes every channel, and refuses every mistake with its line and without its value', async () => {
    verifies('notifications.configuration');
    await parseTrustConfig(trust(GOOD));
    const mistakes: readonly (readonly [string, string, RegExp])[] = [
      ['type: desktop', 'type: pager', /channels/],
      ['notices: [asked, escalation]', 'notices: [asked, everything]', /notices/],
      ['notices: [asked, escalation]', 'colour: red', /colour/],
      ["secret: 'file:/run/secrets/hook'", 'secret: whsec_SECRETVALUE', /a secret is named/],
      ["secret: 'file:/run/secrets/hook'", "secret: 'file:relative'", /a secret is named/],
      ["'https://app.example.com/hooks'", "'https://10.0.0.7/hooks'", /private_network/],
      ["'https://app.example.com/hooks'", "'http://app.example.com/hooks'", /private_network/],
      ["'https://app.example.com/hooks'", "'https://app.example.com/a/../hooks'", /spelled out/],
      ['security: starttls', 'security: none', /without security/],
      ["user: gate, password: 'env:P'", 'user: gate', /come together/],
      ['from: gate@example.com', "from: 'Gate <gate@example.com>'", /no mail address/],
      ['mail: alice@example.com', 'mail: true', /needs an address/],
      ['everybody: { chat: true', 'everybody: { chat: elsewhere', /one place/],
      ['everybody: { chat: true', 'everybody: { pager: true', /no such channel/],
      ["phone: 'env:TOPIC'", "phone: '../admin'", /a topic is/],
      ['group:ops:', 'group:nobody:', /no such group/],
      ['human:alice:', 'alice:', /a recipient is/],
      ['public_url: https://gate.example.com', 'public_url: http://gate.example.com', /public address/],
    ];
    for (const [before, after, words] of mistakes) {
      assert.ok(GOOD.includes(before), before);
      const { code, message } = await refusalOf(GOOD.replace(before, after));
      assert.equal(code, 'config_invalid', after);
      assert.match(message, words, after);
      assert.match(message, /line \d+/, after);
      assert.ok(!/SECRETVALUE|10\.0\.0\.7|elsewhere|\.\.\/admin/.test(message), message);
    }
    const many = Array.from({ length: 33 }, (_, no) => `  c${no}: { type: desktop }`).join('\n');
    assert.match((await refusalOf(`channels:\n${many}`)).message, /too many channels/);
  });

  it('may be absent: nobody is told, nothing is put, and no version changes', async () => {
    verifies('notifications.unconfigured');
    const config = await parseTrustConfig(TRUST);
    assert.ok(!('notifications' in config));
    const told = await parseTrustConfig(notifying('channels: { desk: { type: desktop } }'));
    assert.notEqual(policyVersion(told), policyVersion(config));
    const { notifications, ...rest } = told;
    assert.ok(notifications !== undefined);
    assert.equal(policyVersion(rest as typeof config), policyVersion(config));
    const world = await homeWorld();
    const { look, entries, notifier } = notifierOf(world, world.gate);
    await world.gate.execute(await approved(world));
    assert.equal(await look(), false);
    assert.deepEqual(await entries('waiting', 'delivered', 'dead', 'lapsed'), []);
    assert.equal(await world.gate.ledger.outbox.cursor(), undefined);
    await notifier.close();
    await world.close();
  });

  it('that is applied while it runs counts from the next look, and what waits for a channel that is gone is given up', async () => {
    verifies('notifications.configuration');
    const chat = await httpReceiver();
    const channels = (name: string) => `
channels: { ${name}: { type: slack, url: '${chat.url}', private_network: true } }
recipients: { everybody: { ${name}: true } }`;
    const world = await homeWorld({ trust: notifying(channels('one')) });
    const told = notifierOf(world, world.gate);
    await told.look();
    await world.gate.requestAct(await configAct(world, notifying(channels('two'))));
    chat.script = [500];
    await told.look();
    await carriedOut(world, await configAct(world, notifying(channels('two'))));
    for (let looks = 0; looks < 3; looks += 1) {
      world.clock.advance(60_000);
      await told.look();
    }
    const rows = await told.entries('waiting', 'delivered', 'dead', 'lapsed');
    assert.ok(rows.length > 0 && rows.every(({ state }) => state !== 'waiting'));
    assert.deepEqual(
      [...new Set(rows.filter(({ state }) => state === 'dead').map(({ code }) => code))],
      ['no_channel'],
    );
    await told.notifier.close();
    await world.close();
    await chat.close();
  });
});
