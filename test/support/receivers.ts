/**
 * Receivers of notifications, as the outside has them: an HTTP server that verifies webhooks with the library of the
 * standard and behaves as it is told, and a mail server. Both run on this machine.
 */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { Webhook } from 'standardwebhooks';

/** What a receiver does with one request. */
export type Behaviour = number | 'hang' | 'reset' | 'redirect';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Receiver {
  readonly url: string;
  /** Requests whose body came whole, whatever was answered. */
  readonly all: readonly Received[];
  /** Those that were answered with 200. */
  readonly accepted: readonly Received[];
  /** What the next requests get, one behind the other; 200 once there is none left. */
  script: Behaviour[];
  close(): Promise<void>;
}

/** 32 bytes. */
export const HOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** Throws for a request that the library of the standard does not accept. */
export function verified({ headers, body }: Received, secret = HOOK_SECRET): Readonly<Record<string, unknown>> {
  return new Webhook(secret).verify(body, headers as Record<string, string>) as Record<string, unknown>;
}

/** On a port that the system chooses, or on this one. */
export async function httpReceiver(on = 0): Promise<Receiver> {
  const all: Received[] = [];
  const accepted: Received[] = [];
  const sockets = new Set<Socket>();
  const state = { script: [] as Behaviour[] };
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('utf8');
      const json = JSON.parse(body === '' ? '{}' : body) as Record<string, unknown>;
      const received = { path: request.url ?? '', headers: request.headers, body, json };
      all.push(received);
      const behaviour = state.script.shift() ?? 200;
      if (behaviour === 'hang') return;
      if (behaviour === 'reset') {
        request.socket.resetAndDestroy();
        return;
      }
      if (behaviour === 200) accepted.push(received);
      const status = behaviour === 'redirect' ? 307 : behaviour;
      response.writeHead(status, behaviour === 'redirect' ? { location: '/elsewhere' } : {});
      response.end('{"secret of theirs":"never repeated"}');
    });
  });
  // A test that fails leaves it open: the process ends all the same.
  server.unref();
  server.on('connection', (socket) => {
    socket.unref();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(on, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    all,
    accepted,
    get script() {
      return state.script;
    },
    set script(script: Behaviour[]) {
      state.script = script;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
  readonly secure: boolean;
  readonly user: string | undefined;
}

export interface MailReceiver {
  readonly port: number;
  readonly mails: readonly Mail[];
  close(): Promise<void>;
}

/** A mail server that takes every mail, unless its options say otherwise. */
export async function mailReceiver(options: SMTPServerOptions = {}): Promise<MailReceiver> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(parts).toString('utf8'),
          secure: session.secure,
          user: session.user,
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  server.server.unref();
  const { port } = server.server.address() as AddressInfo;
  return { port, mails, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
