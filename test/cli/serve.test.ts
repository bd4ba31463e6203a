/** A gate served by the command line, and agents whose tokens an operator signs for. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { homeAt } from '../../src/app/index.js';
import { auditInChild } from '../../src/cli/audit-child.js';
import { connect } from '../../src/client/index.js';
import { countersign, giveToPlainUser, type Ran } from '../support/command-line.js';
import { type DemoHome, makeDemoHome } from '../support/demo-home.js';
import { ROOT } from '../support/files.js';
import { codeOf } from '../support/gate-world.js';
import { tamper } from '../support/sqlite-file.js';
import { verifies } from '../support/verifies.js';

let made: DemoHome;
before(async () => {
  made = await makeDemoHome();
});

function run(...words: string[]): Promise<Ran> {
  return countersign([...words, '--home', made.home]);
}

async function json(...words: string[]): Promise<Record<string, never>> {
  const { out, err } = await run(...words, '--json');
  assert.notEqual(out, '', err);
  return JSON.parse(out) as Record<string, never>;
}

/** The first port that everybody may have, where the system says so. */
function openPorts(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
  } catch {
    return 0;
  }
}

test('a port that this user may not have is refused as that', { skip: openPorts() < 81 }, async () => {
  verifies('cli.serve.place');
  const { folder, home } = await makeDemoHome();
  giveToPlainUser(folder);
  const words = ['serve', '--listen', '127.0.0.1:80', '--public-url', 'https://gate.example', '--home', home];
  const { exit, err } = await countersign(words, { plainUser: true });
  assert.equal(exit, 1);
  assert.match(err, /\[forbidden\]: 127\.0\.0\.1:80 may not be listened on by this user[\s\S]*a port above 1023/);
});

/** A port that nobody has at this moment. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function served(): Promise<{ readonly url: string; end(): Promise<number | null> }> {
  const url = `http://localhost:${await freePort()}`;
  const words = ['serve', '--public-url', url, '--home', made.home];
  const child = spawn(process.execPath, [join(ROOT, 'dist', 'bin', 'main.js'), ...words]);
  let out = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      out += data.toString('utf8');
      if (out.includes('agents come with a token')) resolve();
    });
    child.once('exit', () => reject(new Error(`it ended: ${out}`)));
  });
  return {
    url,
    async end() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      return (await exited)[0] as number | null;
    },
  };
}

async function signed(asked: Record<string, never>): Promise<{ token: string; token_id: string }> {
  const { token, token_id, issued } = asked as unknown as {
    token: string;
    token_id: string;
    issued: { request: { request_id: string } };
  };
  const done = await run('approver', 'sign', issued.request.request_id, ...made.passphrase);
  assert.equal(done.exit, 0, done.err);
  return { token, token_id };
}

test('an agent gets a token, which an operator signs for, and asks over HTTP', async () => {
  verifies('cli.agent');
  verifies('cli.serve');
  const { url, end } = await served();
  const first = await json('agent', 'add', 'deploy-bot', '--project', 'web', '--may', 'read', '--may', 'propose');
  const unsigned = connect({ url, token: (first as unknown as { token: string }).token });
  assert.equal(await codeOf(unsigned.call('identity', {})), 'unauthenticated');
  const { token, token_id } = await signed(first);
  const client = connect({ url, token });
  assert.equal((await client.call('identity', {})).principal, 'agent:deploy-bot');
  const body = { project: 'web', connector: 'shell-noop', operation: 'send', target: 'x', args: { text: 'hi' } };
  const { action_id, state } = await client.call('propose', { body });
  assert.equal(state, 'proposed');
  assert.equal(await codeOf(client.call('execute', { action_id })), 'forbidden');
  assert.match((await run('inbox')).out, new RegExp(action_id.slice(0, 12)));

  const listed = await run('agent', 'list');
  assert.match(listed.out, /agent:deploy-bot/);
  assert.ok(!listed.out.includes(token.split('.')[1] ?? ''));
  const next = await signed(await json('agent', 'rotate', token_id, '--overlap', '1h'));
  assert.equal((await connect({ url, token: next.token }).call('identity', {})).principal, 'agent:deploy-bot');
  const revoke = await json('agent', 'revoke', token_id);
  await signed({ ...revoke, issued: revoke } as never);
  assert.equal(await codeOf(client.call('identity', {})), 'unauthenticated');
  const none = await run('agent', 'revoke', 'tok_01JDXW3Q4R8Y2M5N7P9S0T1V3W');
  assert.match(none.err, /unknown_token/);
  assert.equal(await end(), 0);
});

test('a server says what is wrong with its address', async () => {
  verifies('cli.serve');
  for (const words of [
    ['--public-url', 'http://example.com'],
    ['--listen', 'nowhere'],
    ['--public-url', 'x'],
  ]) {
    const { exit, err } = await run('serve', ...words);
    assert.ok(exit === 1 || exit === 2, err);
    assert.match(err, /refused \[(invalid|usage)\]/);
  }
});

test('an audit runs in a process of its own, and tells what it found also where that is bad', async () => {
  verifies('server.audit');
  const program = join(ROOT, 'dist', 'bin', 'main.js');
  const report = await auditInChild(made.home, program)(new AbortController().signal);
  assert.deepEqual(report.defects, []);
  assert.ok(report.events > 0);
  const damaged = await makeDemoHome();
  tamper(homeAt(damaged.home, {}).store, (store) =>
    store.exec(`UPDATE events SET actor = 'agent:eve' WHERE kind = 'person'`),
  );
  const bad = await auditInChild(damaged.home, program)(new AbortController().signal);
  assert.ok(bad.defects.length > 0);
  tamper(homeAt(damaged.home, {}).store, (store) => store.exec(`UPDATE events SET actor = 'agent:eve'`));
  const unreadable = auditInChild(damaged.home, program)(new AbortController().signal);
  assert.equal(await codeOf(unreadable), 'corrupt', 'the gate itself does not open on it');
  const nowhere = auditInChild(join(made.home, 'nothing'), program)(new AbortController().signal);
  assert.equal(await codeOf(nowhere), 'not_initialized');
  const ended = AbortSignal.abort();
  assert.equal(await codeOf(auditInChild(made.home, program)(ended)), 'internal');
});

test('a new home that is served at an address of its own takes passkeys there', async () => {
  verifies('cli.serve.new-home');
  const home = join(mkdtempSync(join(tmpdir(), 'countersign-serve-')), 'home');
  const url = `http://localhost:${await freePort()}`;
  const child = spawn(process.execPath, [
    join(ROOT, 'dist', 'bin', 'main.js'),
    ...['serve', '--public-url', url, '--home', home],
  ]);
  let out = '';
  for await (const data of child.stdout) {
    out += String(data);
    if (out.includes('nobody may approve yet')) child.kill('SIGTERM');
  }
  assert.ok(!out.includes('counts no passkey'), out);
  assert.match(readFileSync(join(home, 'trust.yaml'), 'utf8'), new RegExp(`origins:\\s+- ${url}`));
});

test('an address that no passkey can belong to is refused in words of the address', async () => {
  verifies('cli.serve.new-home');
  for (const url of ['http://[::1]:8787', 'ftp://gate.example', 'http://192.0.2.1:8787']) {
    const home = join(mkdtempSync(join(tmpdir(), 'countersign-serve-')), 'home');
    const { exit, err } = await countersign(['serve', '--public-url', url, '--home', home]);
    assert.equal(exit, 1, url);
    assert.match(err, /the public address is https, or http on localhost/, url);
  }
});
