/** Tests of `http` on the wire: every way in which a call can end, and what is certain then. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { CERTIFICATE } from '../../../test/support/certificate.js';
import { endpointOf, httpCall, operationOf, rawServer } from '../../../test/support/http-world.js';
import { verifies } from '../../../test/support/verifies.js';
import type { Outcome } from '../index.js';
import { HTTP_LIMITS } from './limits.js';

type Raw = Awaited<ReturnType<typeof rawServer>>;

/** Calls a server that talks as the test says; no connection stays open. */
async function callTo(
  talk: (socket: Socket) => void,
  { timeoutMs = 5_000, check = (_server: Raw) => {}, endpoint = {} as Readonly<Record<string, unknown>> } = {},
): Promise<Outcome> {
  const server = await rawServer(talk);
  try {
    const operation = await operationOf(endpointOf(`http://127.0.0.1:${server.port}`, endpoint));
    const outcome = await operation.execute(httpCall({}, { deadline: Date.now() + timeoutMs }));
    for (const socket of server.open) await once(socket, 'close');
    check(server);
    assert.equal(server.state.opened, 1, 'nothing is repeated');
    return outcome;
  } finally {
    await server.close();
  }
}

/** Says these bytes once a request came, and ends. */
function saying(...parts: readonly (string | Buffer)[]) {
  return (socket: Socket) => {
    socket.once('data', () => {
      for (const part of parts) socket.write(part);
      socket.end();
    });
  };
}

/** Takes a connection and no byte of it, and resets it. */
function unread(socket: Socket): void {
  socket.pause();
  setTimeout(() => socket.resetAndDestroy(), 50);
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

describe('http on the wire', () => {
  it('knows that nothing was sent where no connection stood', async () => {
    verifies('connectors.http.never-sent');
    const closed = await rawServer(() => {});
    await closed.close();
    const refused = await operationOf(endpointOf(`http://127.0.0.1:${closed.port}`));
    const evidence = { cause: 'ECONNREFUSED' };
    assert.deepEqual(await refused.execute(httpCall()), { result: 'failed', code: 'not_connected', evidence });
    const resolve = async () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
    const nameless = await operationOf(endpointOf('https://api.example.com'), { resolve });
    const unknown = { result: 'failed', code: 'not_connected', evidence: { cause: 'ENOTFOUND' } };
    assert.deepEqual(await nameless.execute(httpCall()), unknown);
    const hanging = await operationOf(endpointOf('https://api.example.com'), { resolve: () => new Promise(() => {}) });
    const late = await hanging.execute(httpCall({}, { deadline: Date.now() + 100 }));
    assert.deepEqual(late, { result: 'failed', code: 'too_late' });
  });

  it('sends nothing once the deadline passed while it connected', async () => {
    verifies('connectors.http.never-sent');
    const server = await rawServer(() => {});
    const clock = { now: 0 };
    const resolve = async () => {
      clock.now = 10_000;
      return [{ address: '127.0.0.1', family: 4 }];
    };
    const endpoint = endpointOf(`http://pay.example.com:${server.port}`);
    const operation = await operationOf(endpoint, { resolve, now: () => clock.now });
    const outcome = await operation.execute(httpCall({}, { deadline: 5_000 }));
    assert.deepEqual(outcome, { result: 'failed', code: 'too_late' });
    assert.equal(server.state.received, '');
    await server.close();
  });

  it('proves the name of the other side before a byte of the request, whatever the environment says', async () => {
    verifies('connectors.http.tls');
    const server = await rawServer(saying(`${HEAD}content-length: 2\r\n\r\n{}`), true);
    const endpoint = endpointOf(`https://127.0.0.1:${server.port}`);
    const wrong = endpointOf(`https://other.example.com:${server.port}`);
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    try {
      for (const rejects of [undefined, '0']) {
        if (rejects !== undefined) process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = rejects;
        const selfSigned = await (await operationOf(endpoint)).execute(httpCall());
        assert.deepEqual([selfSigned.result, selfSigned.code], ['failed', 'tls_failed']);
        assert.deepEqual(selfSigned.evidence, { cause: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
        const misnamed = await operationOf(wrong, { resolve, authorities: CERTIFICATE });
        const { result, code, evidence } = await misnamed.execute(httpCall());
        assert.deepEqual([result, code, evidence], ['failed', 'tls_failed', { cause: 'ERR_TLS_CERT_ALTNAME_INVALID' }]);
      }
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
    assert.equal(server.state.opened, 4);
    assert.equal(server.state.received, '', 'not a byte of a request');
    const trusted = await operationOf(endpoint, { authorities: CERTIFICATE });
    assert.equal((await trusted.execute(httpCall())).result, 'confirmed');
    assert.match(server.state.received, /^POST \/pay HTTP\/1\.1\r\n/);
    for (const socket of server.open) await once(socket, 'close');
    await server.close();
    const plain = await rawServer((socket) => socket.once('data', () => socket.end('no TLS here')));
    const spoken = await (await operationOf(endpointOf(`https://127.0.0.1:${plain.port}`))).execute(httpCall());
    assert.deepEqual([spoken.result, spoken.code], ['failed', 'tls_failed']);
    await plain.close();
  });

  it('knows nothing where a connection stood and no whole answer came', async () => {
    verifies('connectors.http.no-answer');
    const noAnswer = ['unknown', 'no_answer'];
    const cut = ['unknown', 'cut_answer'];
    const long = 'x'.repeat(HTTP_LIMITS.headBytesMax + 1);
    const cases: [string, (socket: Socket) => void, readonly string[]][] = [
      ['reset before the request was read', unread, noAnswer],
      ['reset after it was read', (socket) => void socket.once('data', () => socket.resetAndDestroy()), noAnswer],
      ['closed without a word', saying(), noAnswer],
      ['a malformed status line', saying('HTTP/1.1 two hundred\r\n\r\n'), noAnswer],
      ['no HTTP at all', saying('200 OK\n\n'), noAnswer],
      ['half a head', saying('HTTP/1.1 200 OK\r\ncontent-ty'), noAnswer],
      ['a head that is too long', saying(`HTTP/1.1 200 OK\r\nx: ${long}\r\n\r\n`), noAnswer],
      ['another protocol', saying('HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'), noAnswer],
      ['two lengths', saying('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}'), noAnswer],
      ['half a body', saying(`${HEAD}content-length: 100\r\n\r\n{"id":`), cut],
      ['half a chunk', saying(`${HEAD}transfer-encoding: chunked\r\n\r\n5\r\n{"a`), cut],
      ['a malformed chunk', saying(`${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n{}`), cut],
      ['a refusal that breaks off', saying('HTTP/1.1 404 No\r\ncontent-length: 9\r\n\r\nno'), cut],
    ];
    for (const [what, talk, expected] of cases) {
      const outcome = await callTo(talk);
      assert.deepEqual([outcome.result, outcome.code], expected, what);
    }
    const hang = await callTo(() => {}, { timeoutMs: 200 });
    assert.deepEqual(hang, { result: 'unknown', code: 'no_answer' });
    const drip = (socket: Socket) => {
      socket.write(`${HEAD}content-length: 999\r\n\r\n`);
      const timer = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(timer));
    };
    const dripped = await callTo(drip, { timeoutMs: 300 });
    assert.deepEqual([dripped.result, dripped.code], cut);
    const byTimeout = await callTo(() => {}, { timeoutMs: 60_000, endpoint: { timeout: 200 } });
    assert.equal(byTimeout.result, 'unknown');
  });

  it('keeps a short answer, tells the length of a longer one, and reads none without end', async () => {
    verifies('connectors.http.bounded');
    const { keptBytesMax, answerBytesMax } = HTTP_LIMITS;
    const bodyOf = (length: number) => `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${'y'.repeat(length)}`;
    const kept = await callTo(saying(bodyOf(keptBytesMax)));
    assert.deepEqual(kept.evidence, { status: 200, answer: 'y'.repeat(keptBytesMax) });
    const dropped = await callTo(saying(bodyOf(keptBytesMax + 1)));
    assert.deepEqual(dropped.evidence, { status: 200, answer_bytes: keptBytesMax + 1 });
    assert.deepEqual([kept.result, dropped.result], ['confirmed', 'confirmed']);
    assert.equal((await callTo(saying(bodyOf(answerBytesMax)))).result, 'confirmed');
    const huge = await callTo(saying(bodyOf(answerBytesMax + 1)));
    assert.deepEqual([huge.result, huge.code], ['unknown', 'cut_answer']);
  });

  it('keeps what an answer says only where it is text, and where the operator wants it', async () => {
    verifies('connectors.http.evidence');
    const answered = async (body: Buffer, type: string, more = '', endpoint = {}) => {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${more}content-length: ${body.length}\r\n\r\n`;
      return (await callTo(saying(head, body), { endpoint })).evidence;
    };
    const json = Buffer.from('{"id":"re_1","n":1.5,"list":[null,true]}');
    const length = { status: 200, answer_bytes: json.length };
    const value = { id: 're_1', n: 1.5, list: [null, true] };
    assert.deepEqual(await answered(json, 'application/json'), { status: 200, answer: value });
    assert.deepEqual(await answered(json, 'application/problem+json; charset=utf-8'), { status: 200, answer: value });
    assert.deepEqual(await answered(json, 'text/plain'), { status: 200, answer: json.toString() });
    assert.deepEqual(await answered(json, 'application/json', 'content-encoding: gzip\r\n'), length);
    assert.deepEqual(await answered(json, 'application/json', '', { keep_answer: false }), length);
    for (const bad of [
      '{"a":1,"a":2}',
      '{"n":9007199254740993}',
      '{"s":"\\ud800"}',
      `${'['.repeat(61)}${']'.repeat(61)}`,
    ]) {
      assert.deepEqual(await answered(Buffer.from(bad), 'application/json'), { status: 200, answer: bad });
    }
    for (const bytes of [Buffer.from([0xff, 0xfe]), Buffer.from('a\0b'), Buffer.alloc(0)]) {
      assert.deepEqual(await answered(bytes, 'text/plain'), { status: 200, answer_bytes: bytes.length });
    }
  });
});
