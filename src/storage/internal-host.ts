import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.ts';

/**
 * True if the host of the URL is `localhost` or an IP address that is not public. `guardedFetch`
 * would refuse it. A name is not resolved, because it may have another address later.
 */
export function hasInternalHost(url: URL): boolean {
  // The parser of URLs has already normalized addresses such as `0x7f.1`.
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return isIP(host) !== 0 && !isPublicAddress(host);
}

/** Returns `host:port` of an http or https URL, in the form of `GuardedFetchOptions.allow_hosts`. */
export function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
