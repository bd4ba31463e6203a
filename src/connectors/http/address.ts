/**
 * Where a call may go: the open network alone, unless the operator said otherwise. A name is resolved once, every address
 * that it has is looked at, and the connection goes to the address that was looked at.
 * Source: reliability T25.
 */
import { lookup as resolveName } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Thrown before a connection where the address is none that may be called. */
export class BlockedAddress extends Error {
  override readonly name = 'BlockedAddress';
}

/**
 * INVARIANT: what is not plainly an address of the open network is none (connectors.http.addresses): private, loopback,
 * link-local, shared, reserved, multicast, and everything that carries another address inside.
 */
export function isOpenAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  try {
    const address = ipaddr.parse(text);
    if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) {
      return address.toIPv4Address().range() === 'unicast';
    }
    return address.range() === 'unicast';
  } catch {
    return false;
  }
}

/** The host of a URL as an address, where it is written as one. */
export function literalOf(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

/** Resolves for a connection, and refuses where any address of the name is not open: `resolve` is Node's own. */
export function openLookup(resolve: typeof resolveName = resolveName): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      const found = addresses as readonly { readonly address: string; readonly family: number }[];
      const [first] = found;
      if (first === undefined || !found.every(({ address }) => isOpenAddress(address))) {
        return callback(new BlockedAddress('the name leads to an address that may not be called'), '', 0);
      }
      if (options.all === true) return callback(null, [...found]);
      return callback(null, first.address, first.family);
    });
  };
}
