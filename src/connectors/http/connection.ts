/**
 * One connection to one place, before anything is sent on it.
 *
 * It promises: a name is resolved once, every address that it has is looked at, and the connection stands with one of
 * those; by https the other side has proved its name. It refuses an address that may not be called, whatever the name.
 * Source: reliability T25.
 */
import { promises as dns, type LookupAddress } from 'node:dns';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { literalOf, mayCall } from './address.js';
import { HTTP_LIMITS } from './limits.js';

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface Way {
  readonly url: URL;
  readonly privateNetwork: boolean;
  readonly signal: AbortSignal;
  readonly resolve?: Resolve;
  /** Certificates of authorities that are trusted instead of the usual ones. */
  readonly authorities?: string;
}

export type NeverCode = 'blocked_address' | 'not_connected' | 'tls_failed' | 'too_late';
export type Reached =
  | { readonly socket: Socket }
  /** Nothing was sent. `cause` is a code of the system, such as `ECONNREFUSED`. */
  | { readonly never: NeverCode; readonly cause?: string };

/** Connects, or says why nothing was sent. Whoever gets the socket destroys it. */
export async function reach(way: Way): Promise<Reached> {
  const { url, privateNetwork, signal } = way;
  const isSecure = url.protocol === 'https:';
  const reached = await reachPlain(way, (address) => mayCall(address, isSecure, privateNetwork));
  if ('never' in reached || !isSecure) return reached;
  const plain = reached.socket;
  const hostname = hostOf(url);
  const secure = connectSecure({
    ...{ socket: plain, host: hostname, ALPNProtocols: ['http/1.1'], minVersion: 'TLSv1.2' },
    ...(literalOf(url.hostname) === undefined ? { servername: hostname } : {}),
    ...(way.authorities === undefined ? {} : { ca: way.authorities }),
    // Said aloud, so that no variable of the environment says otherwise (NODE_TLS_REJECT_UNAUTHORIZED).
    rejectUnauthorized: true,
  });
  const refused = await opened(secure, 'secureConnect', signal);
  if (refused === undefined) return secure.authorized ? { socket: secure } : dropped(secure, { never: 'tls_failed' });
  return dropped(plain, refused.never === 'not_connected' ? { ...refused, never: 'tls_failed' } : refused);
}

/**
 * A connection to an address of the name that `mayGo` lets through, before anything is secured. What passes over it is
 * for its user to secure.
 */
export async function reachPlain(way: Way, mayGo: (address: string) => boolean): Promise<Reached> {
  const { url, signal } = way;
  const hostname = hostOf(url);
  const found = await addressesOf(way, hostname);
  if (signal.aborted) return { never: 'too_late' };
  if ('never' in found) return found;
  const { addresses } = found;
  // INVARIANT: one address that may not be called, and none of them is (connectors.http.addresses).
  if (addresses.length === 0 || !addresses.every(({ address }) => mayGo(address))) return { never: 'blocked_address' };

  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const plain = connectPlain({
    ...{ host: hostname, port, autoSelectFamily: true, noDelay: true },
    autoSelectFamilyAttemptTimeout: HTTP_LIMITS.addressMsMax,
    // The addresses that were looked at, and no others: the name is not asked for again.
    lookup: (_hostname, options, callback) => {
      if (options.all === true) callback(null, [...addresses]);
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    },
  });
  const failed = await opened(plain, 'connect', signal);
  if (failed !== undefined) return failed;
  if (!mayGo(plain.remoteAddress ?? '')) return dropped(plain, { never: 'blocked_address' });
  return { socket: plain };
}

function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

type Addresses =
  | { readonly addresses: readonly LookupAddress[] }
  | { readonly never: NeverCode; readonly cause?: string };

async function addressesOf({ url, signal, resolve = resolveAll }: Way, hostname: string): Promise<Addresses> {
  const literal = literalOf(url.hostname);
  if (literal !== undefined) return { addresses: [{ address: literal, family: literal.includes(':') ? 6 : 4 }] };
  const asked = resolve(hostname).then(
    (addresses) => ({ addresses }),
    (error: unknown) => ({ never: 'not_connected', ...causeOf(error) }) as const,
  );
  return new Promise((answer) => {
    const over = () => answer({ never: 'too_late' });
    signal.addEventListener('abort', over, { once: true });
    void asked.then(answer).finally(() => signal.removeEventListener('abort', over));
  });
}

const resolveAll: Resolve = (hostname) => dns.lookup(hostname, { all: true });

/** Waits for a connection to stand; why it does not, where it does not. A socket that failed is destroyed. */
function opened(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal) {
  return new Promise<{ readonly never: NeverCode; readonly cause?: string } | undefined>((resolve) => {
    const end = (failed?: { readonly never: NeverCode; readonly cause?: string }) => {
      signal.removeEventListener('abort', over);
      if (failed !== undefined) socket.destroy();
      resolve(failed);
    };
    const over = () => end({ never: 'too_late' });
    // An error that comes later is told by the exchange; here it must not go unheard.
    socket.on('error', (error) => end({ never: 'not_connected', ...causeOf(error) }));
    socket.once('close', () => end({ never: 'not_connected' }));
    socket.once(event, () => end());
    signal.addEventListener('abort', over, { once: true });
    if (signal.aborted) over();
  });
}

function dropped<Failed>(socket: Socket, failed: Failed): Failed {
  socket.destroy();
  return failed;
}

/** The code of a system error: never its message, which may hold anything. */
export function causeOf(error: unknown): { readonly cause?: string } {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? { cause: code } : {};
}
