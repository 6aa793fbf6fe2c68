import ipaddr from 'ipaddr.js';

/**
 * All addresses that are assigned to hosts of the public internet (IANA: Internet Protocol Version
 * 6 Address Space). This range excludes, for example, local addresses, IPv6 forms that contain an
 * IPv4 address (such as `::/96`), and addresses that are not assigned.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * IPv4 addresses that look public, but that a cloud answers inside each virtual machine. Azure's
 * address gives out the settings of the machine (Azure docs: What is IP address 168.63.129.16).
 */
const CLOUD_ADDRESSES = ['168.63.129.16'];

/**
 * True for an address of the public internet. False for private, loopback, link-local, carrier NAT,
 * multicast and reserved addresses. Link-local addresses include the metadata services of clouds.
 * An IPv4 address that is written as IPv6 is checked as IPv4.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return isPublicIPv4(parsed);
  // `::ffff:10.0.0.1` is 10.0.0.1.
  if (parsed.isIPv4MappedAddress()) return isPublicIPv4(parsed.toIPv4Address());
  // 6to4 and Teredo addresses contain an IPv4 address too. They have ranges of their own.
  return parsed.match(GLOBAL_UNICAST) && parsed.range() === 'unicast';
}

function isPublicIPv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !CLOUD_ADDRESSES.includes(address.toString());
}
