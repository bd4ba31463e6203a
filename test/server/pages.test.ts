/** The pages of the console over real connections: what is served, how it may be kept, and what is refused. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { PAGES } from '../../src/api/index.js';
import { readPages } from '../../src/server/pages.js';
import { type ServerWorld, serverWorld } from '../support/server-world.js';
import { verifies } from '../support/verifies.js';

/** A path as it is, which `fetch` would tidy up. */
function rawStatus(world: ServerWorld, path: string): Promise<number> {
  const { host, port } = new URL(world.serving.publicUrl);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: '127.0.0.1', port, path, headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('the pages of the console', () => {
  let world: ServerWorld;
  let html = '';
  let assets: readonly string[] = [];
  before(async () => {
    world = await serverWorld();
    html = await (await world.raw('/')).text();
    assets = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path as string);
  });
  after(() => world.close());

  it('answer at their paths and no others, without credentials', async () => {
    verifies('console.served');
    for (const pattern of Object.values(PAGES)) {
      const answer = await world.raw(pattern.replaceAll(/\{[a-z_]+\}/g, 'act_x'));
      assert.equal(answer.status, 200, pattern);
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.equal(answer.headers.get('cache-control'), 'no-cache');
      assert.equal(await answer.text(), html);
    }
    for (const path of ['/nothing', '/actions', '/actions/a/b', '/index.html', '/v1/nothing']) {
      assert.ok([401, 404].includes((await world.raw(path)).status), path);
    }
  });

  it('are shown under localhost to whoever asks by a loopback number, and nothing else is', async () => {
    verifies('server.loopback.redirect');
    const { port } = new URL(world.serving.publicUrl);
    for (const number of ['127.0.0.1', '[::1]']) {
      const ask = (path: string, init: RequestInit = {}) =>
        fetch(`http://${number}:${port}${path}`, { redirect: 'manual', ...init });
      for (const path of ['/', '/enrol', '/actions/act_x?next=//evil.example']) {
        const answer = await ask(path);
        assert.equal(answer.status, 307, path);
        assert.equal(answer.headers.get('location'), `${world.serving.publicUrl}${path.split('?')[0]}`);
        assert.equal(answer.headers.get('cache-control'), 'no-store');
      }
      for (const path of [
        '/healthz',
        '/v1/identity',
        '/assets/x.js',
        '/nothing',
        '//evil.example/',
        '//evil.example',
      ]) {
        assert.equal((await ask(path)).status, 403, path);
      }
      assert.equal((await ask('/', { method: 'POST' })).status, 403);
    }
    // By another host than the one that was asked, nobody is led anywhere.
    const lies = ['127.0.0.1', `127.0.0.1:${Number(port) + 1}`, `127.0.0.1.evil.example:${port}`, `localhost.:${port}`];
    for (const host of lies) {
      const sent = httpRequest({ host: '127.0.0.1', port, path: '/', headers: { host } });
      sent.end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.resume();
      assert.deepEqual([answer.statusCode, answer.headers.location], [403, undefined], host);
    }
  });

  it('have files whose names hold their hashes and which are kept for ever, packed where the browser takes that', async () => {
    verifies('console.served');
    assert.deepEqual(assets.map((path) => path.split('.').at(-1)).sort(), ['css', 'js']);
    for (const path of assets) {
      assert.match(path, /-[A-Za-z0-9_-]{8}\.(?:js|css)$/);
      const answer = await world.raw(path);
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.equal(answer.headers.get('content-encoding'), 'gzip');
      const plain = await world.raw(path, { headers: { 'accept-encoding': 'identity' } });
      assert.equal(plain.headers.get('content-encoding'), null);
      assert.equal(await plain.text(), await answer.text());
      assert.match(plain.headers.get('content-type') ?? '', path.endsWith('.js') ? /^text\/javascript/ : /^text\/css/);
    }
  });

  it('never reach the disk by a path, and are only read', async () => {
    verifies('console.served');
    for (const path of [
      ...[
        '/../package.json',
        '/assets/../../package.json',
        '/assets/%2e%2e/%2e%2e/package.json',
        '/assets//etc/passwd',
      ],
      ...[
        '/assets/..%2f..%2fpackage.json',
        '/assets/',
        '/assets',
        '/assets/constructor',
        '/assets/__proto__',
        '//etc/passwd',
      ],
    ]) {
      assert.ok([400, 401, 403, 404].includes(await rawStatus(world, path)), path);
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      assert.equal((await world.raw('/', { method })).status, 400, method);
    }
    const head = await world.raw('/', { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
  });

  it('carry a policy that forbids everything but their own scripts, styles and calls; so does what the API answers', async () => {
    verifies('console.csp');
    for (const path of ['/', ...assets]) {
      const policy = (await world.raw(path)).headers.get('content-security-policy') ?? '';
      assert.deepEqual(policy.split('; ').sort(), [
        ...["base-uri 'none'", "connect-src 'self'", "default-src 'none'", "font-src 'self'", "form-action 'none'"],
        ...["frame-ancestors 'none'", "img-src 'self' data:", "script-src 'self'", "style-src 'self'"],
      ]);
    }
    assert.ok(!/<script(?![^>]* src=)|<style|style=|\son\w+=|https?:/i.test(html), html);
    const api = await world.raw('/v1/identity');
    assert.equal(api.headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'");
    assert.equal(api.headers.get('cache-control'), 'no-store');
    assert.equal((await world.raw('/')).headers.get('x-content-type-options'), 'nosniff');
  });

  it('refuse to become service workers', async () => {
    verifies('console.no-service-worker');
    for (const path of ['/', ...assets]) {
      assert.equal((await world.raw(path, { headers: { 'service-worker': 'script' } })).status, 403, path);
    }
  });

  it('load under 200 KiB of script as it travels', async () => {
    verifies('console.first-load');
    let bytes = 0;
    for (const path of assets.filter((one) => one.endsWith('.js'))) {
      bytes += gzipSync(Buffer.from(await (await world.raw(path)).arrayBuffer()), { level: 9 }).length;
    }
    assert.ok(bytes > 10_000 && bytes < 200 * 1024, `${bytes} bytes`);
  });

  it('are absent, and nothing else, where the package was not built', async () => {
    verifies('console.served');
    const none = readPages('/nonexistent');
    assert.throws(() => none.answer(new Request('http://localhost/'), '/'), { code: 'not_found' });
    assert.equal(none.answer(new Request('http://localhost/v1/actions'), '/v1/actions'), undefined);
  });
});
