import { lookup } from 'node:dns/promises';
import { isPublicAddress } from './public-address.ts';

/** Thrown if the address must not be fetched, or if the body is too large. A retry cannot help. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError';
}

/**
 * Resolves a host and returns one of its IP addresses. A connection to this IP address stays allowed,
 * whatever DNS answers later. `hostname` has no brackets around an IPv6 address. `allow` has internal
 * hosts that the operator allowed, as `host:port`. Throws ForbiddenAddressError if the host is not on
 * the public internet, or the error of DNS.
 */
export async function checkedAddress(
  hostname: string,
  port: number,
  allow?: ReadonlySet<string>,
): Promise<string> {
  const addresses = await lookup(hostname, { all: true });
  const [first] = addresses;
  if (!first) throw new ForbiddenAddressError('the host has no address');
  if (allow?.has(`${inUrl(hostname)}:${port}`)) return first.address;
  // If even one address of the host is not public, Weir refuses the host: it may be an attack.
  if (!addresses.every(({ address }) => isPublicAddress(address))) {
    throw new ForbiddenAddressError('the host is not on the public internet');
  }
  return first.address;
}

/** Returns the host as a URL writes it. */
function inUrl(hostname: string): string {
  return hostname.includes(':') ? `[${hostname}]` : hostname;
}
