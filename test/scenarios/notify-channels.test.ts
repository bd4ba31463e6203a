/** Each channel against a receiver of its kind on this machine: what arrives, what fails and how, what is never said. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  type ChannelHost,
  type Delivered,
  type Message,
  notificationsConfig,
  openChannel,
} from '../../src/notifications/index.js';
import { CERTIFICATE, CERTIFICATE_KEY } from '../support/certificate.js';
import { FakeClock } from '../support/gate-world.js';
import { testHost } from '../support/notify-world.js';
import { HOOK_SECRET, httpReceiver, mailReceiver, verified } from '../support/receivers.js';
import { verifies } from '../support/verifies.js';

const MESSAGE: Message = {
  ...{ id: 'f'.repeat(64), type: 'approval.asked', at: 1_800_000_000_000, title: 'acme: an approval is wanted' },
  ...{ lines: ['act_1: http refund', 'See https://gate.example.com/actions/act_1'], isUrgent: true },
  ...{ link: 'https://gate.example.com/actions/act_1', data: { id: 'act_1', risk: 'read' } },
};

function deliver(
  channel: Readonly<Record<string, unknown>>,
  {
    address = '',
    message = MESSAGE,
    host = {},
  }: { address?: string; message?: Message; host?: Partial<ChannelHost> } = {},
): Promise<Delivered> {
  const { channels } = notificationsConfig.parse({ channels: { it: channel } });
  const [settings] = Object.values(channels);
  assert.ok(settings);
  const clock = new FakeClock();
  clock.wall = Date.now();
  return openChannel(settings, testHost({ clock }, host)).deliver(message, address, new AbortController().signal);
}

describe('a webhook', () => {
  it('is what the library of the standard verifies, and nothing else', async () => {
    verifies('notifications.webhook');
    const receiver = await httpReceiver();
    const channel = { type: 'webhook', url: `${receiver.url}/a?b=c`, secret: 'env:HOOK', private_network: true };
    assert.deepEqual(await deliver(channel), { ok: true });
    const [received] = receiver.all;
    assert.ok(received);
    const body = { type: 'approval.asked', timestamp: '2027-01-15T08:00:00.000Z', data: MESSAGE.data };
    assert.deepEqual(verified(received), body);
    assert.equal(received.headers['webhook-id'], MESSAGE.id);
    assert.equal(received.path, '/a?b=c');
    assert.throws(() => verified(received, `whsec_${Buffer.alloc(32, 8).toString('base64')}`), 'another secret');
    const later = {
      ...received.headers,
      'webhook-timestamp': String(Number(received.headers['webhook-timestamp']) + 1),
    };
    assert.throws(() => verified({ ...received, headers: later }), 'another time');
    await receiver.close();
  });

  it('is not sent with a secret that is none', async () => {
    verifies('notifications.webhook');
    const channel = { type: 'webhook', url: 'http://127.0.0.1:1/', secret: 'env:HOOK', private_network: true };
    const bytes = (count: number) => `whsec_${Buffer.alloc(count, 1).toString('base64')}`;
    for (const secret of [undefined, '', 'plain', bytes(23), bytes(65), `${HOOK_SECRET}=`, HOOK_SECRET.slice(0, -1)]) {
      const sent = await deliver(channel, { host: { secret: async () => secret } });
      assert.deepEqual(sent, { ok: false, code: 'no_secret' });
    }
    for (const count of [24, 64]) {
      const sent = await deliver(channel, { host: { secret: async () => bytes(count) } });
      assert.deepEqual(sent, { ok: false, code: 'not_connected' });
    }
  });

  it('tells how it failed by a word of ours, and follows no redirect', async () => {
    verifies('notifications.secrets');
    const receiver = await httpReceiver();
    const url = `${receiver.url}/services/SECRETPATH`;
    const channel = { type: 'webhook', url, secret: 'env:HOOK', private_network: true };
    receiver.script = [500, 'redirect', 410, 'reset', 404];
    const codes: Delivered[] = [];
    for (let tries = 0; tries < 5; tries += 1) codes.push(await deliver(channel));
    assert.deepEqual(codes, [
      { ok: false, code: 'status_500' },
      { ok: false, code: 'status_307' },
      { ok: false, code: 'status_410', isFinal: true },
      { ok: false, code: 'no_answer' },
      { ok: false, code: 'status_404' },
    ]);
    assert.equal(receiver.all.length, 5);
    assert.ok(!/SECRETPATH|whsec|127\.0|theirs/.test(JSON.stringify(codes)));
    await receiver.close();
  });

  it('ends in its time where the receiver hangs', async () => {
    verifies('notifications.bounded');
    const receiver = await httpReceiver();
    receiver.script = ['hang'];
    const { channels } = notificationsConfig.parse({
      channels: { it: { type: 'slack', url: receiver.url, private_network: true } },
    });
    const limit = AbortSignal.timeout(300);
    const [settings] = Object.values(channels);
    assert.ok(settings);
    const sent = await openChannel(settings, testHost({ clock: new FakeClock() })).deliver(MESSAGE, '', limit);
    assert.deepEqual(sent, { ok: false, code: 'no_answer' });
    await receiver.close();
  });
});

describe('an address', () => {
  it('of a private network is refused by its configuration, and by what its name leads to', async () => {
    verifies('notifications.addresses');
    const slack = (url: string) => notificationsConfig.safeParse({ channels: { it: { type: 'slack', url } } }).success;
    for (const url of [
      ...['http://hooks.example.com/x', 'https://127.0.0.1/x', 'https://10.0.0.1/x', 'https://[::1]/x'],
      ...['https://169.254.169.254/latest', 'https://[::ffff:127.0.0.1]/', 'https://2130706433/', 'https://0x7f.1/'],
      ...[
        'https://localhost/x',
        'https://hooks.example.com:8443/x',
        'https://u:p@hooks.example.com/',
        'https://intranet/',
      ],
      ...[
        'https://hooks.example.com./x',
        'https://hooks.example.com/x#y',
        'file:///etc/passwd',
        'https://[64:ff9b::7f00:1]/',
      ],
    ]) {
      assert.equal(slack(url), false, url);
    }
    assert.equal(slack('https://hooks.example.com/services/x?y=z'), true);
    const url = 'https://hooks.example.com/x';
    for (const address of ['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', 'fd00::1', '::ffff:10.0.0.1']) {
      const resolve = async () => [{ address, family: address.includes(':') ? 6 : 4 }];
      const sent = await deliver({ type: 'slack', url }, { host: { resolve } });
      assert.deepEqual(sent, { ok: false, code: 'blocked_address', isFinal: true }, address);
      const mail = { type: 'smtp', host: 'mail.example.com', from: 'a@example.com' };
      const mailed = await deliver(mail, { address: 'b@example.com', host: { resolve } });
      assert.deepEqual(mailed, { ok: false, code: 'blocked_address', isFinal: true }, address);
    }
    const both = async () => ['93.184.216.34', '127.0.0.1'].map((address) => ({ address, family: 4 }));
    const sent = await deliver({ type: 'slack', url }, { host: { resolve: both } });
    assert.deepEqual(sent, { ok: false, code: 'blocked_address', isFinal: true }, 'one of several');
  });

  it('that stands elsewhere is looked at when it is read, by the same rules', async () => {
    verifies('notifications.addresses');
    const named = (text: string | undefined) => ({ host: { secret: async () => text } });
    const channel = { type: 'slack', url: 'env:CHAT' };
    assert.deepEqual(await deliver(channel, named(undefined)), { ok: false, code: 'no_address' });
    for (const text of ['http://127.0.0.1:80/x', 'https://localhost/x', 'nonsense', 'https://hooks.example.com/ x']) {
      assert.deepEqual(await deliver(channel, named(text)), { ok: false, code: 'bad_address' });
    }
  });
});

describe('a Slack-compatible place', () => {
  it('gets plain text in which nothing is read', async () => {
    verifies('notifications.slack');
    const receiver = await httpReceiver();
    const title = 'a <!channel> & <https://x|y>';
    const channel = { type: 'slack', url: `${receiver.url}/x`, private_network: true };
    assert.deepEqual(await deliver(channel, { message: { ...MESSAGE, title } }), { ok: true });
    assert.deepEqual(receiver.all[0]?.json, {
      text: ['a &lt;!channel&gt; &amp; &lt;https://x|y&gt;', ...MESSAGE.lines].join('\n'),
      ...{ mrkdwn: false, unfurl_links: false, unfurl_media: false },
    });
    await receiver.close();
  });
});

describe('ntfy', () => {
  it('gets the message for the topic, in plain or named, with its link and token', async () => {
    verifies('notifications.ntfy');
    const receiver = await httpReceiver();
    const channel = { type: 'ntfy', server: receiver.url, token: 'env:TOKEN', private_network: true };
    const host = { secret: async (name: string) => ({ 'env:TOKEN': 'tk_1', 'env:TOPIC': 'alice-topic' })[name] };
    assert.deepEqual(await deliver(channel, { address: 'env:TOPIC', host }), { ok: true });
    assert.deepEqual(receiver.all[0]?.json, {
      ...{ topic: 'alice-topic', title: MESSAGE.title, message: MESSAGE.lines.join('\n'), priority: 4 },
      click: MESSAGE.link,
    });
    assert.equal(receiver.all[0]?.headers['authorization'], 'Bearer tk_1');
    const bad = { secret: async () => '../admin' };
    assert.deepEqual(await deliver(channel, { address: 'env:TOPIC', host: bad }), {
      ...{ ok: false, code: 'no_topic', isTheirs: true },
    });
    await receiver.close();
  });
});

describe('mail', () => {
  const to = 'alice@example.com';
  const mailTo = (port: number, more: object = {}) => ({
    ...{ type: 'smtp', host: 'localhost', port, from: 'gate@example.com', private_network: true, security: 'none' },
    ...more,
  });

  it('is one plain text to one recipient, and no header begins in a value', async () => {
    verifies('notifications.smtp');
    const server = await mailReceiver();
    const title = 'acme: x\r\nBcc: eve@evil.example\r\n\r\n<b>hello</b> \u202e·…é';
    assert.deepEqual(await deliver(mailTo(server.port), { address: to, message: { ...MESSAGE, title } }), { ok: true });
    const [mail] = server.mails;
    assert.ok(mail);
    assert.deepEqual([mail.from, mail.to], ['gate@example.com', [to]]);
    const [head = '', body = ''] = mail.text.split('\r\n\r\n');
    const headers = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
    assert.ok(
      headers.every((line) => /^[A-Za-z-]+: [ -~]*$/.test(line)),
      head,
    );
    assert.ok(!headers.some((line) => /^(bcc|cc):/i.test(line)));
    assert.ok(headers.includes('Auto-Submitted: auto-generated'));
    assert.ok(headers.includes(`Message-ID: <${MESSAGE.id}@example.com>`));
    assert.match(head, /Content-Type: text\/plain/);
    assert.ok(body.includes('act_1: http refund'));
    await server.close();
    const config = (more: object) => notificationsConfig.safeParse({ channels: { it: mailTo(25, more) } }).success;
    for (const from of ['a@b\r\nBcc: c@d', 'a@b>, <c@d', 'a b@c', '"x" <a@b>', 'a@b\n'])
      assert.equal(config({ from }), false);
    const recipient = (address: string) =>
      notificationsConfig.safeParse({ channels: { it: mailTo(25) }, recipients: { 'human:alice': { it: address } } })
        .success;
    for (const address of ['a@b\r\nRCPT TO:<c@d>', 'a@b,c@d', 'a@b c@d', '<a@b>', ''])
      assert.equal(recipient(address), false);
    assert.equal(recipient(to), true);
  });

  it('to the open network goes by TLS alone, with the name proved, and a password only there', async () => {
    verifies('notifications.smtp');
    const onAuth: NonNullable<Parameters<typeof mailReceiver>[0]>['onAuth'] = (
      { username, password },
      _session,
      done,
    ) => (password === 'right-password' ? done(null, { user: username ?? '' }) : done(new Error('no')));
    const tls = { key: CERTIFICATE_KEY, cert: CERTIFICATE, authOptional: false, onAuth };
    const direct = await mailReceiver({ ...tls, secure: true });
    const starting = await mailReceiver({ ...tls, disabledCommands: [], allowInsecureAuth: false });
    const as = { user: 'gate', password: 'env:PASSWORD' };
    const secret = (text: string) => async () => text;
    const good = { authorities: CERTIFICATE, secret: secret('right-password') };
    for (const [server, security] of [
      [direct, 'tls'],
      [starting, 'starttls'],
    ] as const) {
      const channel = mailTo(server.port, { security, ...as });
      assert.deepEqual(await deliver(channel, { address: to, host: good }), { ok: true }, security);
      assert.deepEqual([server.mails[0]?.secure, server.mails[0]?.user], [true, 'gate']);
      const untrusted = await deliver(channel, { address: to, host: { secret: good.secret } });
      assert.equal(untrusted.ok, false, 'a certificate that nobody vouches for');
      const wrong = await deliver(channel, { address: to, host: { ...good, secret: secret('wrong-password') } });
      assert.deepEqual(wrong, { ok: false, code: 'smtp_535' });
      assert.equal(server.mails.length, 1);
    }
    const plain = await mailReceiver();
    const stripped = await deliver(mailTo(plain.port, { security: 'starttls' }), { address: to, host: good });
    assert.equal(stripped.ok, false, 'a server that offers no TLS gets nothing');
    assert.equal(plain.mails.length, 0);
    const config = (more: object) => notificationsConfig.safeParse({ channels: { it: mailTo(25, more) } }).success;
    assert.equal(config({ private_network: false }), false, 'without security only inside');
    assert.equal(config(as), false, 'no password in plain');
    await Promise.all([direct, starting, plain].map((server) => server.close()));
  });

  it('is given up where the server talks without end, or says nothing', async () => {
    verifies('notifications.bounded');
    let said = 0;
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      const flood = () => {
        while (!socket.destroyed && said < 512 * 1024 * 1024) {
          said += 65_536;
          if (!socket.write(Buffer.alloc(65_536, 'x'))) {
            socket.once('drain', flood);
            return;
          }
        }
      };
      flood();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const began = performance.now();
    const sent = await deliver(mailTo(port), { address: to });
    assert.ok(!sent.ok && /^smtp_/.test(sent.code), JSON.stringify(sent));
    assert.ok(performance.now() - began < 5_000 && said < 512 * 1024 * 1024, `${said} bytes`);
    await new Promise((resolve) => server.close(resolve));
  });

  it('that the server refuses for a recipient concerns them alone', async () => {
    verifies('notifications.bounded');
    const onRcptTo: NonNullable<Parameters<typeof mailReceiver>[0]>['onRcptTo'] = (_address, _session, done) =>
      done(Object.assign(new Error('no such person'), { responseCode: 550 }));
    const server = await mailReceiver({ onRcptTo });
    const sent = await deliver(mailTo(server.port), { address: to });
    assert.deepEqual(sent, { ok: false, code: 'smtp_550', isFinal: true, isTheirs: true });
    await server.close();
  });
});

describe('the desktop', () => {
  it('is a program by its absolute path, with the words as arguments and little else', async () => {
    verifies('notifications.desktop');
    const folder = mkdtempSync(join(tmpdir(), 'countersign-desktop-'));
    const program = join(folder, 'program');
    const log = join(folder, 'log');
    writeFileSync(
      program,
      `#!/bin/sh\nfor word in "$@"; do printf '%s\\n--\\n' "$word"; done > ${log}\nenv > ${log}.env\n`,
    );
    chmodSync(program, 0o700);
    const title = '--hint=x $(touch gone) `id`; echo';
    for (const [platform, path] of [
      ['linux', '/usr/bin/notify-send'],
      ['darwin', '/usr/bin/osascript'],
    ] as const) {
      const host = { platform, programs: { [path]: program }, session: { DISPLAY: ':7' } };
      assert.deepEqual(await deliver({ type: 'desktop' }, { message: { ...MESSAGE, title }, host }), { ok: true });
      const words = readFileSync(log, 'utf8').split('\n--\n');
      assert.deepEqual(words.slice(-4, -1), ['--', title, MESSAGE.lines.join('\n')]);
      const environment = readFileSync(`${log}.env`, 'utf8');
      assert.ok(environment.includes('DISPLAY=:7') && !environment.includes('HOME='));
    }
    writeFileSync(program, '#!/bin/sh\nexit 3\n');
    const host = { programs: { '/usr/bin/notify-send': program } };
    assert.deepEqual(await deliver({ type: 'desktop' }, { host }), { ok: false, code: 'exit_3' });
    writeFileSync(program, '#!/bin/sh\nsleep 30 &\nexit 0\n');
    assert.deepEqual(await deliver({ type: 'desktop' }, { host }), { ok: true }, 'whatever it leaves behind');
    writeFileSync(program, '#!/bin/sh\nexit 3\n');
    const none = { programs: { '/usr/bin/notify-send': join(folder, 'nothing') } };
    assert.deepEqual(await deliver({ type: 'desktop' }, { host: none }), { ok: false, code: 'not_started' });
    const other = await deliver({ type: 'desktop' }, { host: { platform: 'win32' } });
    assert.deepEqual(other, { ok: false, code: 'no_desktop', isFinal: true });
    const long = { title: 'x'.repeat(4 * 1024 * 1024) };
    const huge = await deliver({ type: 'desktop' }, { message: { ...MESSAGE, ...long }, host });
    assert.deepEqual(huge, { ok: false, code: 'not_started' }, 'more words than the system takes');
    rmSync(folder, { recursive: true });
  });
});
