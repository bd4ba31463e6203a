/** The client: what is handed to it is read once and strictly, and nothing but a refusal or a fault leaves it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { type Client, connect } from '../../src/client/index.js';
import { Refusal } from '../../src/core/index.js';
import { ROOT } from '../support/files.js';
import { codeOf } from '../support/gate-world.js';
import { HOSTILE } from '../support/hostile-values.js';
import { type ServerWorld, serverWorld } from '../support/server-world.js';
import { verifies } from '../support/verifies.js';

const sending = (changes: object = {}) => ({
  project: 'acme',
  connector: 'counting',
  operation: 'send',
  target: 'customers',
  args: { text: 'hello', account: 'customers' },
  ...changes,
});

/** The code and path of a refusal. */
async function refusalOf(act: () => unknown): Promise<readonly [string, string | undefined]> {
  try {
    await act();
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    return [error.code, error.path];
  }
  throw new Error('it was not refused');
}

describe('the client', () => {
  let world: ServerWorld;
  let text: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a program hands over
  let client: Client & { call(name: any, input?: any): Promise<any> };
  before(async () => {
    world = await serverWorld();
    text = (await world.token()).text;
    client = world.client(text);
  });
  after(() => world.close());

  it('refuses what it can not send, and lets no exception of another sort out', async () => {
    verifies('client.border');
    const cyclic: Record<string, unknown> = sending();
    cyclic['args'] = { cyclic };
    const propose = (body: unknown) => () => client.call('propose', { body });
    const cases: readonly (() => unknown)[] = [
      propose({ ...sending(), amount: 10n }),
      propose(cyclic),
      propose({ ...sending(), args: { at: new Date() } }),
      propose({ ...sending(), args: { text: Number.NaN } }),
      propose({ ...sending(), args: { text: new Uint8Array(1) } }),
      propose({ ...sending(), target: '\ud800' }),
      () => client.call('list', null),
      () => client.call('list', 'text'),
      () => client.call('list', { query: null }),
      () => client.call('list', { query: { after: Symbol('x') } }),
      () => client.call('list', { query: { states: ['proposed'] } }),
      () => client.call('list', { signal: {} }),
      () => client.call('nothing', {}),
      () => client.call('__proto__', {}),
      () => client.call('events', {}),
      () => client.call('metrics', {}),
      () => client.call('show', {}),
      () => client.call('show', { action_id: '\ud800' }),
      () => client.call('show', { action_id: '..' }),
      () => client.call('show', { action_id: 7 }),
      () => client.call('propose', { body: sending(), idempotencyKey: 'a\nb' }),
      () => client.call('propose', { body: sending(), idempotencyKey: 'é' }),
      () => client.call('propose', { body: sending(), idempotencyKey: '' }),
      () => client.call('show', { action_id: 'act_01M8P7HYPEX5B4VZS035AK3TPM', idempotencyKey: 'k' }),
      () => client.events(-1, AbortSignal.timeout(10)).next(),
      () => client.events(Number.NaN, AbortSignal.timeout(10)).next(),
      () => client.events(0, {} as never).next(),
    ];
    for (const [at, act] of cases.entries()) assert.equal((await refusalOf(act))[0], 'invalid', String(at));
    for (const [what, value] of HOSTILE) {
      for (const input of [value, { body: value }, { query: value }, { action_id: value }, { idempotencyKey: value }]) {
        await client.call('show', input).catch((error: unknown) => assert.ok(error instanceof Refusal, what));
      }
    }
  });

  it('is made of an address and a token, or not at all', async () => {
    verifies('client.border');
    const url = world.serving.publicUrl;
    const cases: readonly (readonly [unknown, string | undefined])[] = [
      [undefined, undefined],
      [null, undefined],
      [{ url, token: 'a\nb' }, 'token'],
      [{ url, token: '' }, 'token'],
      [{ url }, 'token'],
      [{ token: text }, 'url'],
      [{ url: 'nowhere', token: text }, 'url'],
      [{ url: 'ftp://localhost', token: text }, 'url'],
      ...[Number.NaN, -1, 0, 1.5, Number.POSITIVE_INFINITY, '1', 2 ** 40].map(
        (timeoutMs) => [{ url, token: text, timeoutMs }, 'timeoutMs'] as const,
      ),
    ];
    for (const [options, path] of cases) {
      assert.deepEqual(await refusalOf(() => connect(options as never)), ['invalid', path]);
    }
    for (const [what, value] of HOSTILE) {
      for (const options of [value, { url: value, token: text }, { url, token: value }]) {
        try {
          connect(options as never);
        } catch (error) {
          assert.ok(error instanceof Refusal, what);
        }
      }
    }
  });

  it('sends no token in plain over a network', async () => {
    verifies('client.plain');
    for (const url of ['http://example.org', 'http://127.0.0.1.example.org', 'http://10.0.0.1:8787', 'http://[::2]']) {
      assert.deepEqual(await refusalOf(() => connect({ url, token: 'x' })), ['invalid', 'url'], url);
    }
    for (const url of ['https://example.org', 'http://localhost:1', 'http://127.0.0.1:1', 'http://[::1]:1']) {
      assert.ok(connect({ url, token: 'x' }), url);
    }
  });

  it('tells its caller’s own end of a call as that, and a server that says nothing as busy', async () => {
    verifies('client.aborted');
    assert.equal(await codeOf(client.call('list', { signal: AbortSignal.abort() })), 'aborted');
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const url = `http://127.0.0.1:${port}`;
    const waiting = connect({ url, token: 'x' });
    assert.equal(await codeOf(waiting.call('list', { signal: AbortSignal.timeout(50) })), 'aborted');
    assert.equal(await codeOf(connect({ url, token: 'x', timeoutMs: 50 }).call('list', {})), 'busy');
    for await (const event of waiting.events(0, AbortSignal.timeout(50))) assert.fail(String(event));
    silent.closeAllConnections();
    silent.close();
  });

  it('takes what it was given as it was: a value that changes meanwhile is sent once', async () => {
    verifies('client.border');
    const body = { ...sending(), args: { text: 'first', account: 'customers' } };
    const asked = client.call('propose', { body });
    body.args.text = 'second';
    const { action_id } = await asked;
    assert.match((await client.call('show', { action_id })).args, /"first"/);
  });
});

it('ends by its signal and its time also where memory was cleaned up behind the headers', async () => {
  verifies('client.ends');
  const program = `
    import http from 'node:http';
    import { connect } from './src/client/index.ts';
    const server = http.createServer((_, answer) => { answer.writeHead(200); answer.write('{'); }).listen(0, async () => {
      const url = 'http://localhost:' + server.address().port;
      const clean = async () => { for (let i = 0; i < 5; i += 1) { gc(); await new Promise((r) => setTimeout(r, 20)); } };
      const told = [];
      const own = new AbortController();
      const client = connect({ url, token: 'x', timeoutMs: 1500 });
      const asked = [client.call('identity', {}), client.call('identity', { signal: own.signal })];
      const calls = asked.map((call) => call.catch(({ code }) => code));
      const stream = (async () => { for await (const _ of client.events(undefined, own.signal)); return 'ended'; })();
      await new Promise((r) => setTimeout(r, 300));
      await clean();
      own.abort();
      for (const call of calls) told.push(await call);
      told.push(await stream);
      console.log(told.join());
      process.exit(0);
    });`;
  const words = ['--expose-gc', '--import', 'tsx', '--input-type=module', '-e', program];
  const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: ROOT, encoding: 'utf8', timeout: 60_000 });
  assert.equal(stdout.trim(), 'busy,aborted,ended', stderr);
});
