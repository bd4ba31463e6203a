/**
 * Mail over SMTP, in plain text, to one recipient each. The connection is ours, to an address that was looked at; the
 * mail and the protocol are nodemailer's, which is loaded with the first mail.
 *
 * INVARIANT: subject and addresses hold printable ASCII alone, so that no header can begin in one (notifications.smtp).
 * Source: doors (notifications), reliability T25; docs/decisions/0016.
 */
import type { Socket } from 'node:net';
import { reachPlain, whereIs } from '../connectors/internal.js';
import type { Channel, ChannelHost } from './channel.js';
import { NOTIFY_LIMITS } from './limits.js';
import type { Delivered, Message } from './notice.js';
import type { ChannelConfig } from './schema.js';

type SmtpConfig = ChannelConfig & { readonly type: 'smtp' };

const PORTS = { tls: 465, starttls: 587, none: 25 } as const;

export function smtpChannel(config: SmtpConfig, host: ChannelHost): Channel {
  return {
    async deliver(message, address, signal) {
      const password = config.password === undefined ? '' : await host.secret(config.password);
      if (password === undefined) return { ok: false, code: 'no_secret' };
      const limit = AbortSignal.any([signal, AbortSignal.timeout(NOTIFY_LIMITS.sendMsMax)]);
      const reached = await connect(config, host, limit);
      if (!('remoteAddress' in reached)) return reached;
      const end = () => reached.destroy();
      limit.addEventListener('abort', end, { once: true });
      const stopLooking = boundedReading(reached);
      try {
        return await send(config, host, reached, password, message, address);
      } finally {
        stopLooking();
        limit.removeEventListener('abort', end);
        reached.destroy();
      }
    },
  };
}

/** A server that talks without end is left: what reads the protocol keeps a line until it is whole. */
function boundedReading(socket: Socket): () => void {
  const { mailBytesMax, mailLookMs } = NOTIFY_LIMITS;
  const look = setInterval(() => {
    if (socket.bytesRead > mailBytesMax) socket.destroy();
  }, mailLookMs);
  return () => clearInterval(look);
}

/** To the open network only what is secured there: TLS from the first byte, or before anything else is said. */
async function connect(config: SmtpConfig, host: ChannelHost, signal: AbortSignal): Promise<Socket | Delivered> {
  const { security, private_network: privateNetwork } = config;
  const port = config.port ?? PORTS[security];
  const mayGo = (address: string) => {
    const where = whereIs(address);
    return where === 'open' ? security !== 'none' : where === 'near' && privateNetwork;
  };
  // A URL forgets the port of its own scheme: 80 is the one that is meant then.
  const url = new URL(`http://${config.host}:${port}`);
  const reached = await reachPlain(
    { url, privateNetwork, signal, ...(host.resolve === undefined ? {} : { resolve: host.resolve }) },
    mayGo,
  );
  if ('socket' in reached) return reached.socket;
  return { ok: false, code: reached.never, ...(reached.never === 'blocked_address' ? { isFinal: true } : {}) };
}

async function send(
  config: SmtpConfig,
  host: ChannelHost,
  connection: Socket,
  password: string,
  message: Message,
  address: string,
): Promise<Delivered> {
  const { createTransport } = await import('nodemailer');
  const { security, user } = config;
  const transport = createTransport({
    ...{ host: config.host, secure: security === 'tls', requireTLS: security === 'starttls' },
    ...(security === 'none' ? { ignoreTLS: true } : {}),
    getSocket: (_options: unknown, ready: (error: Error | null, socket: object) => void) => ready(null, { connection }),
    tls: {
      ...{ servername: config.host, minVersion: 'TLSv1.2', rejectUnauthorized: true },
      ...(host.authorities === undefined ? {} : { ca: host.authorities }),
    },
    ...(user === undefined ? {} : { auth: { user, pass: password } }),
    ...{ connectionTimeout: NOTIFY_LIMITS.sendMsMax, greetingTimeout: NOTIFY_LIMITS.sendMsMax },
    ...{ socketTimeout: NOTIFY_LIMITS.sendMsMax, disableFileAccess: true, disableUrlAccess: true },
  } as object);
  try {
    await transport.sendMail(mailOf(config, message, address));
    return { ok: true };
  } catch (error) {
    return failed(error);
  } finally {
    transport.close();
  }
}

/** The same id at every try: a mailbox that has it shows it once. */
function mailOf({ from }: SmtpConfig, { id, title, lines }: Message, address: string) {
  return {
    ...{ from: { name: 'Countersign', address: from }, to: { name: '', address } },
    ...{ subject: headerText(title), text: `${lines.join('\n')}\n` },
    messageId: `<${id}@${from.slice(from.indexOf('@') + 1)}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
  };
}

function headerText(text: string): string {
  return text
    .replaceAll('·', '.')
    .replaceAll('…', '...')
    .replaceAll(/[^ -~]/g, '?')
    .slice(0, 200);
}

/** A code of the protocol or of nodemailer; a refusal of a recipient for good is theirs alone. */
function failed(error: unknown): Delivered {
  const { responseCode, code, command } = error as { responseCode?: unknown; code?: unknown; command?: unknown };
  const word = typeof code === 'string' && /^[A-Z]{2,20}$/.test(code) ? code.toLowerCase() : 'failed';
  if (typeof responseCode !== 'number') return { ok: false, code: `smtp_${word}` };
  const isTheirs = command === 'RCPT TO' && responseCode >= 500;
  return { ok: false, code: `smtp_${responseCode}`, ...(isTheirs ? { isFinal: true, isTheirs: true } : {}) };
}
