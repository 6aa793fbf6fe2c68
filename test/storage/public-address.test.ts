/**
 * Which addresses Weir may connect to, generated from the registries of addresses that do not belong
 * to a host of the public internet. Each range is tested at its first and last address, and next to
 * both. No address is dialled.
 */
import { describe, expect, test } from 'bun:test';
import { isPublicAddress } from '../../src/storage/public-address.ts';
import { fc } from '../support/property.ts';

/** IANA: IPv4 Special-Purpose Address Registry; multicast; and addresses of clouds. */
const IPV4 = {
  'this network': '0.0.0.0/8',
  'private 10': '10.0.0.0/8',
  'carrier NAT': '100.64.0.0/10',
  'metadata of Alibaba Cloud': '100.100.100.200/32',
  loopback: '127.0.0.0/8',
  'wire server of Azure': '168.63.129.16/32',
  'link-local': '169.254.0.0/16',
  'metadata of most clouds': '169.254.169.254/32',
  'metadata of containers of AWS': '169.254.170.2/32',
  'private 172': '172.16.0.0/12',
  'protocol assignments': '192.0.0.0/24',
  'metadata of Oracle Cloud': '192.0.0.192/32',
  'documentation 1': '192.0.2.0/24',
  'AS112 version 4': '192.31.196.0/24',
  AMT: '192.52.193.0/24',
  '6to4 relays': '192.88.99.0/24',
  'private 192': '192.168.0.0/16',
  'AS112 direct': '192.175.48.0/24',
  benchmarking: '198.18.0.0/15',
  'documentation 2': '198.51.100.0/24',
  'documentation 3': '203.0.113.0/24',
  multicast: '224.0.0.0/4',
  reserved: '240.0.0.0/4',
  broadcast: '255.255.255.255/32',
};

/** IANA: IPv6 Special-Purpose Address Registry, and Internet Protocol Version 6 Address Space. */
const IPV6 = {
  unspecified: '::/128',
  loopback: '::1/128',
  'IPv4-compatible': '::/96',
  'IPv4-translated (RFC 2765)': '::ffff:0:0:0/96',
  NAT64: '64:ff9b::/96',
  'local NAT64': '64:ff9b:1::/48',
  'discard only': '100::/64',
  dummy: '100:0:0:1::/64',
  'all below global unicast, without mapped addresses': '0::/3',
  'protocol assignments': '2001::/23',
  Teredo: '2001::/32',
  'port control': '2001:1::1/128',
  benchmarking: '2001:2::/48',
  AMT: '2001:3::/32',
  'AS112 version 6': '2001:4:112::/48',
  'ORCHID, deprecated': '2001:10::/28',
  'ORCHID version 2': '2001:20::/28',
  drones: '2001:30::/28',
  'documentation 1': '2001:db8::/32',
  '6to4': '2002::/16',
  'AS112 direct': '2620:4f:8000::/48',
  'documentation 2': '3fff::/20',
  'not assigned, from 4000': '4000::/2',
  'segment routing': '5f00::/16',
  'not assigned, from 8000': '8000::/1',
  'unique local': 'fc00::/7',
  'metadata of AWS': 'fd00:ec2::254/128',
  'metadata of Google Cloud': 'fd20:ce::254/128',
  'metadata of Oracle Cloud': 'fd00:c1::a9fe:a9fe/128',
  'link-local': 'fe80::/10',
  'site-local, deprecated': 'fec0::/10',
  multicast: 'ff00::/8',
};

interface Version {
  readonly bits: number;
  readonly ranges: Readonly<Record<string, string>>;
  readonly read: (text: string) => bigint;
  readonly write: (address: bigint) => string;
}

const join = (parts: readonly bigint[], bits: bigint) =>
  parts.reduce((sum, part) => (sum << bits) | part, 0n);
const split = (address: bigint, parts: number, bits: number) =>
  Array.from({ length: parts }, (_, at) =>
    BigInt.asUintN(bits, address >> BigInt(bits * (parts - 1 - at))),
  );

const VERSION_4: Version = {
  bits: 32,
  ranges: IPV4,
  read: (text) => join(text.split('.').map(BigInt), 8n),
  write: (address) => split(address, 4, 8).join('.'),
};

const VERSION_6: Version = {
  bits: 128,
  ranges: IPV6,
  read: (text) => {
    const [before = [], after = []] = text.split('::').map((side) =>
      side
        .split(':')
        .filter(Boolean)
        .map((part) => BigInt(`0x${part}`)),
    );
    const zeros = Array<bigint>(8 - before.length - after.length).fill(0n);
    return join([...before, ...zeros, ...after], 16n);
  },
  write: (address) =>
    split(address, 8, 16)
      .map((part) => part.toString(16))
      .join(':'),
};

interface Range {
  readonly name: string;
  readonly first: bigint;
  readonly last: bigint;
}

function rangesOf({ bits, ranges, read }: Version): Range[] {
  return Object.entries(ranges).map(([name, cidr]) => {
    const [text = '', length] = cidr.split('/');
    const first = read(text);
    return { name, first, last: first + (1n << BigInt(bits - Number(length))) - 1n };
  });
}

/** True if no range has the address. A mapped address is looked up as IPv4. */
function isOutside(version: Version, address: bigint): boolean {
  if (version === VERSION_6 && address >> 32n === 0xffffn) {
    return isOutside(VERSION_4, BigInt.asUintN(32, address));
  }
  return rangesOf(version).every(({ first, last }) => address < first || address > last);
}

/** `::ffff:1.2.3.4` in two notations. */
const mapped = (address: bigint) => [
  `::ffff:${VERSION_4.write(address)}`,
  VERSION_6.write((0xffffn << 32n) | address),
];

describe.each([
  ['IPv4', VERSION_4],
  ['IPv6', VERSION_6],
] as const)('%s', (_, version) => {
  const { bits, write } = version;
  const notations = (address: bigint) =>
    version === VERSION_4 ? [write(address), ...mapped(address)] : [write(address)];
  const ranges = rangesOf(version);

  test.each(ranges)('$name is not public, and its neighbours are what they are', (range) => {
    const { first, last } = range;
    for (const address of [first, first + 1n, (first + last) / 2n, last]) {
      if (address > last || isOutside(version, address)) continue;
      for (const text of notations(address))
        expect([text, isPublicAddress(text)]).toEqual([text, false]);
    }
    for (const address of [first - 1n, last + 1n]) {
      if (address < 0n || address >> BigInt(bits) !== 0n) continue;
      const expected = isOutside(version, address);
      for (const text of notations(address))
        expect([text, isPublicAddress(text)]).toEqual([text, expected]);
    }
  });

  test('any address is public exactly if no range has it', () => {
    const edges = ranges.flatMap(({ first, last }) => [first, last]);
    const any = fc.bigInt(0n, (1n << BigInt(bits)) - 1n);
    const near = fc
      .tuple(fc.constantFrom(...edges), fc.bigInt(-300n, 300n))
      .map(([edge, step]) => BigInt.asUintN(bits, edge + step));
    const inUse = fc.bigInt(0x2000n << 112n, (0x4000n << 112n) - 1n);
    const addresses = version === VERSION_4 ? fc.oneof(any, near) : fc.oneof(any, near, inUse);
    fc.assert(
      fc.property(addresses, (address) => {
        const expected = isOutside(version, address);
        for (const text of notations(address))
          expect([text, isPublicAddress(text)]).toEqual([text, expected]);
      }),
      { numRuns: 3_000, seed: 20_261_122 },
    );
  });
});

test('addresses of public hosts are public', () => {
  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '2606:4700:4700::1111',
    '2a00:1450:4001:80b::200e',
  ]) {
    expect([address, isPublicAddress(address)]).toEqual([address, true]);
  }
});
