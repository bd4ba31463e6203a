/** Receipts fetched from the gate of another address, which is believed nothing. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { type CountersignGate, open } from '../../src/app/index.js';
import { type Serving, serve } from '../../src/server/index.js';
import { countersign, type Ran } from '../support/command-line.js';
import { type DemoHome, makeDemoHome } from '../support/demo-home.js';
import { verifies } from '../support/verifies.js';

type Said = Record<string, never>;
/** What a proxy makes of an answer. */
type Lie = (path: string, answer: Said) => unknown;

let made: DemoHome;
let gate: CountersignGate;
let serving: Serving;
let proxy: Server;
let proxyUrl: string;
let token: string;
let lie: Lie = (_path, answer) => answer;

function run(...words: string[]): Promise<Ran> {
  return countersign([...words, '--home', made.home], { environment: { COUNTERSIGN_TOKEN: token ?? '' } });
}

async function proposed(text: string): Promise<string> {
  const where = ['--connector', 'shell-noop', '--operation', 'send', '--project', 'web', '--target', 'somebody'];
  const ran = await run('action', 'propose', ...where, '--args', JSON.stringify({ text }), '--by', 'agent:bot');
  assert.equal(ran.exit, 0, ran.err);
  return ran.out.trim();
}

async function sign(requestId: string): Promise<void> {
  const signed = await run('approver', 'sign', requestId, ...made.passphrase);
  assert.equal(signed.exit, 0, signed.err);
}

async function signed(text: string): Promise<string> {
  const id = await proposed(text);
  await sign((await run('action', 'request', id)).out.trim());
  return id;
}

const listening = (server: Server) =>
  new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  );

before(async () => {
  made = await makeDemoHome();
  gate = await open({ home: made.home });
  serving = await serve(gate, { publicUrl: 'http://localhost:0', version: '0.0.0' });
  // Receipts are the proposer's: the agent that asks there is the one that asks here.
  const added = await run('agent', 'add', 'bot', '--json');
  const asked = JSON.parse(added.out) as { token: string; issued: { request: { request_id: string } } };
  await sign(asked.issued.request.request_id);
  token = asked.token;
  proxy = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    const url = new URL(request.url ?? '/', serving.publicUrl);
    const { authorization = '', 'content-type': type } = request.headers;
    const headers = { authorization, ...(type === undefined ? {} : { 'content-type': type }) };
    const answer = await fetch(url, {
      method: request.method ?? 'GET',
      headers,
      ...(body === '' ? {} : { body }),
    });
    const said = lie(url.pathname, (await answer.json()) as Said);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  });
  proxyUrl = `http://127.0.0.1:${await listening(proxy)}`;
});
after(async () => {
  proxy.close();
  await serving.close();
  await gate.close();
});

describe('a gate of another address', () => {
  it('issues a request, and what is signed is fetched from it, verified here', async () => {
    verifies('cli.at-server');
    const id = await proposed('there');
    const server = ['--server', serving.publicUrl];
    const asked = await run('action', 'request', id, ...server);
    assert.equal(asked.exit, 0, asked.err);
    assert.ok(asked.err.includes(`sign at ${serving.publicUrl}/requests/${asked.out.trim()}`), asked.err);
    const unsigned = await run('action', 'fetch-receipt', id, ...server);
    assert.equal(unsigned.exit, 5, unsigned.err);
    await sign(asked.out.trim());
    const fetched = await run('action', 'fetch-receipt', id, ...server);
    assert.equal(fetched.exit, 0, fetched.err);
    assert.equal((await run('action', 'fetch-receipt', id, ...server)).exit, 0, 'again it is as it was');
    assert.equal((await run('action', 'execute', id)).exit, 0);
  });

  it('is believed nothing that this side does not find for itself', async () => {
    verifies('cli.at-server');
    const id = await signed('lied about');
    const other = await signed('another');
    const others = await gate.signedReceipts(other);
    const [own] = await gate.signedReceipts(id);
    assert.ok(own);
    const { signature } = own.proof as { readonly signature: string };
    const flipped = { signature: `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}` };
    const receipts =
      (value: unknown): Lie =>
      (path, answer) =>
        path.endsWith('/receipts') ? { receipts: value } : answer;
    const identity =
      (more: object): Lie =>
      (path, answer) =>
        path === '/v1/identity' ? { ...answer, ...more } : answer;
    const request = { ...own.request };
    const lies: readonly (readonly [string, Lie])[] = [
      ['audience', identity({ ledger_id: 'ldg_00000000000000000000000000' })],
      ['audience', identity({ epoch: 7 })],
      [
        'digest_mismatch',
        (path, answer) =>
          path.endsWith(id)
            ? { sees: 'some', action_id: id, state: 'approved', digest: `sha256:${'0'.repeat(64)}` }
            : answer,
      ],
      ['bad_signature', receipts([{ ...own, proof: flipped }])],
      ['subject_mismatch', receipts(others)],
      ['format', receipts([{ ...own, verified: true }])],
      ['unknown_request', receipts([{ ...own, request: { ...request, digest: `sha256:${'0'.repeat(64)}` } }])],
      [
        'unknown_authenticator',
        receipts([
          { ...own, credential_id: `${own.credential_id.slice(0, -1)}${own.credential_id.endsWith('0') ? 1 : 0}` },
        ]),
      ],
      ['internal', receipts(Array.from({ length: 65 }, () => own))],
    ];
    for (const [code, one] of lies) {
      lie = one;
      const ran = await run('action', 'fetch-receipt', id, '--server', proxyUrl, '--json');
      assert.ok(ran.err.includes(`"code":"${code}"`), `${code}: ${ran.err}`);
      assert.equal((await gate.show(id)).state, 'proposed', code);
    }
    // One that can't count does not stand before one that does.
    lie = receipts([...others, own]);
    const ran = await run('action', 'fetch-receipt', id, '--server', proxyUrl);
    assert.equal(ran.exit, 0, ran.err);
    assert.equal((await gate.show(id)).state, 'approved');
    lie = (_path, answer) => answer;
  });

  it('tells of a request that this ledger has as it says, or is refused', async () => {
    verifies('cli.at-server');
    const id = await proposed('asked for');
    const elsewhere = await gate.request(await proposed('something else'));
    const asked = (make: (request: Said) => unknown): Lie => {
      return (path, answer) =>
        path.endsWith('/requests') ? { ...answer, request: make(answer['request'] as never) } : answer;
    };
    for (const one of [
      asked((request) => ({ ...request, request_id: `req_${'0'.repeat(26)}` })),
      asked((request) => ({ ...request, approver: 'human:mallory' })),
      asked(() => elsewhere.request),
    ]) {
      lie = one;
      const ran = await run('action', 'request', id, '--server', proxyUrl, '--json');
      assert.ok(ran.err.includes('"code":"unknown_request"'), ran.err);
    }
    lie = (_path, answer) => answer;
  });

  it('gets a token that stands somewhere, and none from a command line', async () => {
    verifies('cli.at-server');
    const id = await proposed('with a token');
    const tries = [['plain-text'], ['env:NOBODY_SET_THIS'], [`file:${made.folder}/none`]];
    for (const [word = ''] of tries) {
      const ran = await run('action', 'fetch-receipt', id, '--server', proxyUrl, '--token', word, '--json');
      assert.equal(ran.exit, 2, ran.err);
      assert.ok(!ran.err.includes(word), 'what was typed is not told');
    }
    const far = await run('action', 'fetch-receipt', id, '--server', 'http://gate.example', '--json');
    assert.ok(far.err.includes('"code":"invalid"'), far.err);
  });
});
