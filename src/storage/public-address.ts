import ipaddr from 'ipaddr.js';

/**
 * True for an address of the public internet. Everything else (private, loopback, link-local with
 * the clouds' metadata, carrier NAT, multicast, reserved, and IPv6 forms that hide one of them) is
 * nobody's business to have fetched.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === 'unicast';
  // `::ffff:10.0.0.1` is 10.0.0.1; NAT64, 6to4 and Teredo, which hide an address too, are no unicast.
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().range() === 'unicast';
  return parsed.range() === 'unicast';
}
