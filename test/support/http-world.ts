/**
 * Other sides for the connector `http`: a real server that keeps one effect for a key, one that says bytes as they are,
 * and a server of names that answers what the test says.
 */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { httpConfig, httpConnector } from '../../src/connectors/http/index.js';
import type { Operation } from '../../src/connectors/index.js';
import type { Json } from '../../src/core/index.js';
import { type ConnectorCase, callOf } from '../contracts/connector.js';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.js';

export type HttpOptions = Parameters<typeof httpConnector>[0];

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What a server answers: a status, a body that is JSON unless it is a text, and headers. */
export interface Says {
  readonly status: number;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A server over plain HTTP that says what `say` answers, and remembers every request. */
export async function sayingServer(say: (seen: Seen) => Says) {
  const seen: Seen[] = [];
  const server = createHttpServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(parts).toString('utf8') };
      seen.push(one);
      const { status, body, headers: more = {} } = say(one);
      const isText = typeof body === 'string';
      response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...more });
      response.end(body === undefined ? undefined : isText ? body : JSON.stringify(body));
    });
  });
  const port = await listening(server);
  return { base: `http://127.0.0.1:${port}`, port, seen, close: () => closed(server) };
}

/** A server of effects: one for a key, found again under `/effects/KEY`. */
export async function effectServer() {
  const effects = new Map<string, string>();
  const server = await sayingServer(({ method, url, headers }) => {
    const [, asked] = /^\/effects\/(.+)$/.exec(url) ?? [];
    const key = asked ?? String(headers['idempotency-key']);
    const isAsked = method === 'GET' && asked !== undefined;
    if (!isAsked && !effects.has(key)) effects.set(key, `eff_${effects.size + 1}`);
    const id = effects.get(key);
    return id === undefined ? { status: 404, body: { error: 'none' } } : { status: 200, body: { id, key } };
  });
  return { ...server, effects };
}

/** A server that hands every connection to the test, plain or by TLS, and counts what was opened and what is open. */
export async function rawServer(talk: (socket: Socket) => void, secure = false) {
  const open = new Set<Socket>();
  const state = { opened: 0, handshakes: 0, received: '' };
  const accept = (socket: Socket) => {
    socket.on('error', () => {});
    socket.on('data', (part: Buffer) => {
      state.received += part.toString('latin1');
    });
    talk(socket);
  };
  const server = secure
    ? createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (socket) => {
        state.handshakes += 1;
        accept(socket);
      })
    : createServer(accept);
  server.on('connection', (socket: Socket) => {
    state.opened += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  server.on('tlsClientError', () => {});
  const port = await listening(server);
  const close = async () => {
    for (const socket of open) socket.destroy();
    await closed(server);
  };
  return { port, state, open, close };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** A server of names over UDP: for each question the next list of IPv4 addresses, the last one for ever. */
export async function nameServer(answers: readonly (readonly string[])[]) {
  const socket = createSocket('udp4');
  const state = { questions: 0 };
  socket.on('message', (question, from) => {
    const addresses = answers[Math.min(state.questions, answers.length - 1)] ?? [];
    state.questions += 1;
    // The head with an answer's flags, the question as it came, and a record for each address that points back to it.
    const head = Buffer.from(question.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(addresses.length, 6);
    for (const at of [8, 10]) head.writeUInt16BE(0, at);
    const end = question.indexOf(0, 12) + 5;
    const records = addresses.map((address) =>
      Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([head, question.subarray(12, end), ...records]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: socket.address().port, state, close: () => socket.close() };
}

/** An endpoint as an operator writes it, with what the test changes. */
export function endpointOf(base: string, changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    ...{ method: 'POST', base, path: '/pay', private_network: true, class: 'costly', timeout: '5s' },
    ...{ outcomes: { confirmed: [200], failed: [404, 422] } },
    ...changes,
  };
}

/** The operation `call` of a connector with that one endpoint. */
export async function operationOf(endpoint: unknown, options: Partial<HttpOptions> = {}): Promise<Operation> {
  const connector = httpConnector({ config: httpConfig.parse({ endpoints: { call: endpoint } }), ...options });
  const operation = await connector.operation('call');
  assert.ok(operation !== undefined);
  return operation;
}

/** A call of the operation `call`. */
export function httpCall(args: Readonly<Record<string, Json>> = {}, changes: Parameters<typeof callOf>[1] = {}) {
  const subject: ConnectorCase = { operation: 'call', target: '', args, refused: [], effects: async () => 0 };
  return callOf(subject, changes);
}
