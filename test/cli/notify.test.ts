/** Notifications at the command line: a test over the channels, the list of what did not arrive, doctor, and `serve`. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { countersign } from '../support/command-line.js';
import { makeDemoHome } from '../support/demo-home.js';
import { notifying } from '../support/notify-world.js';
import { HOOK_SECRET, httpReceiver, mailReceiver, verified } from '../support/receivers.js';
import { serveProcess } from '../support/serve-process.js';
import { verifies } from '../support/verifies.js';

const PROPOSE = [
  ...['action', 'propose', '--json', '--project', 'web', '--connector', 'shell-noop', '--operation', 'send'],
  ...['--target', 'customers', '--args'],
];

async function until(isSo: () => boolean, ms = 20_000): Promise<void> {
  for (let waited = 0; !isSo() && waited < ms; waited += 20) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(isSo(), `not within ${ms} ms`);
}

/** Programs that give a secret, one that does and one that fails. */
function programs(): { readonly good: string; readonly bad: string } {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-programs-'));
  const made = (name: string, script: string) => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o700);
    return path;
  };
  return { good: made('good', 'echo "secret-topic"; echo more'), bad: made('bad', 'echo "wrong-topic"; exit 1') };
}

describe('notify test', () => {
  it('tells of each channel whether it works, and shows no secret and no address that is one', async () => {
    verifies('notifications.command-line');
    const [hook, mail] = await Promise.all([httpReceiver(), mailReceiver()]);
    const { good, bad } = programs();
    const part = `
channels:
  app: { type: webhook, url: '${hook.url}/hooks/PATHSECRET', secret: 'env:HOOK', private_network: true }
  chat: { type: slack, url: 'env:CHAT', private_network: true }
  phone: { type: ntfy, server: '${hook.url}', private_network: true }
  mail: { type: smtp, host: localhost, port: ${mail.port}, security: none, from: gate@example.com, private_network: true }
recipients:
  human:alice: { mail: alice@example.com, phone: 'exec:${good} x', chat: true }
  human:bob: { phone: 'exec:${bad}' }`;
    const { home } = await makeDemoHome({}, notifying(part, ''));
    const environment = { HOOK: HOOK_SECRET, CHAT: `${hook.url}/services/CHATSECRET` };
    const run = (words: readonly string[], env = environment) =>
      countersign(['notify', ...words, '--home', home], { environment: env });

    const another = await run(['test', '--channel', 'nope']);
    assert.match(another.err, /has no such channel\n {2}next: name one that it has: app, chat, mail, phone/);
    const ran = await run(['test', '--public-url', 'https://gate.example.com']);
    assert.equal(ran.exit, 3, ran.err);
    assert.deepEqual(ran.out.trim().split('\n'), [
      ...['app: arrived', 'chat: arrived', 'mail alice@example.com: arrived'],
      ...[`phone exec:${good} x: arrived`, `phone exec:${bad}: failed no_topic`],
    ]);
    assert.ok(!/SECRET|whsec|secret-topic|wrong-topic/.test(ran.out + ran.err), ran.out);
    assert.deepEqual(hook.all.map(({ path }) => path).sort(), ['/', '/hooks/PATHSECRET', '/services/CHATSECRET']);
    const signed = hook.all.find(({ path }) => path.startsWith('/hooks'));
    assert.ok(signed);
    assert.equal(verified(signed)['type'], 'test.asked');
    assert.equal(hook.all.find(({ path }) => path === '/')?.json['topic'], 'secret-topic');
    assert.match(mail.mails[0]?.text ?? '', /Subject: test: a test of notifications/);
    assert.match(mail.mails[0]?.text ?? '', /See https:\/\/gate\.example\.com\//);

    hook.script = [500];
    const one = await run(['test', '--channel', 'app', '--json']);
    assert.equal(one.exit, 3);
    assert.deepEqual(JSON.parse(one.out), { tried: [{ channel: 'app', delivered: false, code: 'status_500' }] });
    const bare = await run(['test', '--channel', 'app'], { HOOK: 'no key', CHAT: '' });
    assert.match(bare.out, /^app: failed no_secret$/m);
    assert.ok(!bare.out.includes('no key'));
    assert.match(
      (await run(['test', '--channel', 'nowhere'])).err,
      /refused \[invalid\]: the configuration has no such/,
    );
    assert.match((await run(['list'])).out, /everything arrived so far/);
    await Promise.all([hook.close(), mail.close()]);
  });

  it('says how to begin where nothing is configured', async () => {
    verifies('notifications.command-line');
    const { home } = await makeDemoHome();
    const ran = await countersign(['notify', 'test', '--home', home]);
    assert.equal(ran.exit, 1);
    assert.match(ran.err, /docs\/how-to\/notify-people\.md/);
    const told = await countersign(['doctor', '--home', home]);
    assert.equal(told.exit, 0, told.out);
    assert.match(told.out, /people look at the inbox by themselves/);
  });
});

describe('doctor', () => {
  it('tells of secrets that are not there, people whom nothing reaches, and links that lead elsewhere', async () => {
    verifies('notifications.doctor');
    const part = `
public_url: https://gate.example.com
channels:
  app: { type: webhook, url: 'https://app.example.com/x', secret: 'env:HOOK' }
  chat: { type: slack, url: 'file:/nonexistent/address' }
recipients: { human:bob: { chat: true } }`;
    const { home } = await makeDemoHome({}, notifying(part, ''));
    const run = async (environment: Record<string, string>) => {
      const { exit, out } = await countersign(['doctor', '--json', '--home', home], { environment });
      const { findings } = JSON.parse(out) as { findings: { name: string; level: string; found: string }[] };
      return { exit, found: findings.filter(({ name }) => name === 'notifications').map(({ found }) => found) };
    };
    const { exit, found } = await run({});
    assert.equal(exit, 1);
    assert.deepEqual(found.slice(0, 3), [
      ...['channels: app, chat', 'app: there is nothing at env:HOOK'],
      'chat: there is nothing at file:/nonexistent/address',
    ]);
    assert.ok(found.includes('no channel reaches human:alice'), found.join('\n'));
    assert.ok(found.some((words) => /public_url.*where no passkey is used/.test(words)));
    const wrong = await run({ HOOK: 'VALUE-OF-A-SECRET' });
    assert.ok(wrong.found.includes('app: env:HOOK is no `whsec_` and 24 to 64 bytes in Base64'));
    assert.ok(!wrong.found.join().includes('VALUE-OF'));
  });
});

describe('serve', () => {
  it('delivers with links to its address; what it left when it ended or was killed, the next one delivers', async () => {
    verifies('notifications.served');
    verifies('notifications.at-least-once');
    const chat = await httpReceiver();
    const part = `
channels: { chat: { type: slack, url: '${chat.url}/x', private_network: true } }
recipients: { everybody: { chat: true } }`;
    const { home } = await makeDemoHome({}, notifying(part, ''));
    const propose = async (text: string) => {
      const ran = await countersign([...PROPOSE, JSON.stringify({ text }), '--home', home]);
      assert.equal(ran.exit, 0, ran.err);
      return (JSON.parse(ran.out) as { action_id: string }).action_id;
    };
    const texts = () => chat.accepted.map(({ json }) => String(json['text']));

    const first = await serveProcess(home, {});
    const one = await propose('one');
    await until(() => texts().length === 1);
    assert.ok(texts()[0]?.includes(`See ${first.url}/actions/${one}`), texts()[0]);

    chat.script = ['hang'];
    const two = await propose('two');
    await until(() => chat.all.length === 2);
    assert.equal(await first.end(), 0, first.output());
    const three = await propose('three');
    const waiting = await countersign(['notify', 'list', '--all', '--home', home]);
    assert.match(waiting.out, /waiting/);
    assert.match(waiting.out, /delivered/);

    const second = await serveProcess(home, {});
    await until(() => texts().length === 3);
    assert.deepEqual(
      [two, three].map((id) => texts().filter((text) => text.includes(id)).length),
      [1, 1],
    );
    assert.equal(await second.end('SIGKILL'), null);
    const four = await propose('four');
    const third = await serveProcess(home, {});
    // Once the lease of the killed one is over; what it may not have marked before it was killed comes once more.
    await until(() => texts().some((text) => text.includes(four)), 40_000);
    assert.equal(await third.end(), 0);
    await chat.close();
  });
});
