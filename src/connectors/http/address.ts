/**
 * Which addresses may be called, and how the base of an endpoint is written. Pure.
 *
 * It promises: what is not plainly an address of the open network, or of a private one, is neither. It refuses every
 * spelling of a base but one, so that what the operator wrote is what is called.
 * Source: reliability T25.
 */
import ipaddr from 'ipaddr.js';

/** `open`: the open network. `near`: this machine and private networks. `none`: nothing that is ever called. */
export type Where = 'open' | 'near' | 'none';

const NEAR = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal']);

/** Addresses at which clouds hand out credentials, and which are not link-local. */
const METADATA = new Set(['100.100.100.200', '168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254']);

/**
 * INVARIANT: private, link-local, shared, reserved and multicast addresses are not open, and neither is one that
 * carries another inside, 6to4, Teredo, NAT64, ISATAP; a mapped one is what it maps (connectors.http.addresses).
 */
export function whereIs(text: string): Where {
  if (!isPlainIPv4(text) && !isPlainIPv6(text)) return 'none';
  const address = ipaddr.process(text);
  if (METADATA.has(address.toString())) return 'none';
  const range = address.range();
  if (NEAR.has(range)) return 'near';
  if (range !== 'unicast') return 'none';
  if (address instanceof ipaddr.IPv4) return 'open';
  const [first = 0, , , , fifth, sixth] = address.parts;
  const isGlobal = first >= 0x2000 && first <= 0x3fff;
  const isIsatap = sixth === 0x5efe && (fifth === 0 || fifth === 0x200);
  return isGlobal && !isIsatap ? 'open' : 'none';
}

/** Four decimal numbers without a zero before them, which some read as octal. */
function isPlainIPv4(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) && ipaddr.IPv4.parse(text).toString() === text;
}

/** Without a zone; and `::127.0.0.1`, which is read as if it were mapped, is another address. */
function isPlainIPv6(text: string): boolean {
  return ipaddr.IPv6.isValid(text) && !text.includes('%') && !/^::\d+\./.test(text);
}

/** Whether a connection may go there: to the open network by TLS alone, nearer only where the operator said so. */
export function mayCall(address: string, isSecure: boolean, privateNetwork: boolean): boolean {
  const where = whereIs(address);
  return where === 'open' ? isSecure : where === 'near' && privateNetwork;
}

/** The host of a URL as an address, where it is one; the reader of URLs has spelled it out by then. */
export function literalOf(hostname: string): string | undefined {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return isPlainIPv4(hostname) ? hostname : undefined;
}

/** `https://api.example.com` in its one spelling: no user, no path, no other form of a number, no dot at the end. */
export function isBase(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin, hostname } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && text === origin && !hostname.endsWith('.');
}

/** Whether a base can lead to the open network: by https, on its own port, to a name with a dot or an open address. */
export function isOpenBase(text: string): boolean {
  const { protocol, port, hostname } = new URL(text);
  if (protocol !== 'https:' || port !== '') return false;
  const literal = literalOf(hostname);
  if (literal !== undefined) return whereIs(literal) === 'open';
  return hostname.includes('.') && !hostname.endsWith('.localhost');
}

/** Whether a base can lead anywhere at all. */
export function isReachableBase(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  const literal = literalOf(hostname);
  return literal === undefined || mayCall(literal, protocol === 'https:', true);
}
