import ipaddr from 'ipaddr.js';

/**
 * True for an address of the public internet. False for private, loopback, link-local, carrier NAT,
 * multicast and reserved addresses. Link-local addresses include the metadata services of clouds.
 * An IPv4 address that is written as IPv6 is checked as IPv4.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === 'unicast';
  // `::ffff:10.0.0.1` is 10.0.0.1. NAT64, 6to4 and Teredo addresses contain an IPv4 address too.
  // They are not in the range `unicast`, so they are refused.
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().range() === 'unicast';
  return parsed.range() === 'unicast';
}
