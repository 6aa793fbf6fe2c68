import ipaddr from 'ipaddr.js';

/** A block of IPv4 or IPv6 addresses: its first address and the length of its prefix, bits. */
export type Cidr = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, prefix_bits: number];

const IPV4_BITS = 32;
const IPV6_BITS = 128;
/** How many bits precede the IPv4 address in an IPv4-mapped address, e.g. `::ffff:192.0.2.7`. */
const MAPPED_BITS = IPV6_BITS - IPV4_BITS;

/** The blocks of a valid list, e.g. `10.0.0.0/8,2001:db8::/32,192.0.2.7`. */
export function parseCidrList(list: string): Cidr[] {
  return list.split(',').map((entry) => {
    const cidr = parseCidr(entry.trim());
    if (!cidr) throw new Error(`${entry} is neither an IP address nor a CIDR block`);
    return cidr;
  });
}

/** True if a text is a list of addresses and CIDR blocks, separated by commas. */
export function isCidrList(list: string): boolean {
  return list.split(',').every((entry) => parseCidr(entry.trim()) !== undefined);
}

/**
 * True if one of the blocks contains the address. A block of IPv6, even `::/0`, contains no IPv4.
 */
export function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, blocks: readonly Cidr[]): boolean {
  return blocks.some(
    ([first, prefix_bits]) => first.kind() === address.kind() && address.match(first, prefix_bits),
  );
}

/**
 * Returns the address that a text contains; undefined if the text is not an address. The mapped
 * address `::ffff:192.0.2.7` becomes 192.0.2.7. Short and octal forms of IPv4, e.g. `127.1`, are
 * refused, because programs disagree about their meaning.
 */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return text.includes(':') && ipaddr.IPv6.isValid(text) ? ipaddr.process(text) : undefined;
}

function parseCidr(text: string): Cidr | undefined {
  const [, start = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseAddress(start);
  if (!address || start.includes('%')) return undefined;
  const isIPv4 = address.kind() === 'ipv4';
  const max_bits = isIPv4 ? IPV4_BITS : IPV6_BITS;
  if (bits === undefined) return [address, max_bits];
  // The prefix length of a mapped address includes the 96 bits before the IPv4 address.
  const prefix_bits = Number(bits) - (isIPv4 && start.includes(':') ? MAPPED_BITS : 0);
  return prefix_bits >= 0 && prefix_bits <= max_bits ? [address, prefix_bits] : undefined;
}
