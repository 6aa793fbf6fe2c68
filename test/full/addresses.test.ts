/**
 * Every kind of address that is not public, in every notation. Weir must connect to none of them.
 */
import { describe, expect, test } from 'bun:test';
import { ForbiddenAddressError } from '../../src/storage/checked-address.ts';
import { guardedFetch } from '../../src/storage/guarded-fetch.ts';
import { isPublicAddress } from '../../src/storage/public-address.ts';

/** Addresses from IANA's special-purpose registries, at both ends of each range. */
const NOT_PUBLIC: Record<string, string[]> = {
  'this network': ['0.0.0.0', '0.0.0.1', '0.255.255.255'],
  loopback: ['127.0.0.1', '127.0.0.2', '127.1.2.3', '127.255.255.255', '::1'],
  private: ['10.0.0.0', '10.0.0.1', '10.255.255.255'],
  'private, 172.16/12': ['172.16.0.0', '172.20.10.2', '172.31.255.255'],
  'private, 192.168/16': ['192.168.0.0', '192.168.1.1', '192.168.255.255'],
  'carrier NAT': ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
  'link-local, cloud metadata': ['169.254.0.1', '169.254.169.254', '169.254.170.2'],
  'protocol assignments': ['192.0.0.1', '192.0.0.8', '192.0.0.170'],
  documentation: ['192.0.2.1', '198.51.100.7', '203.0.113.255'],
  benchmarking: ['198.18.0.1', '198.19.255.255'],
  multicast: ['224.0.0.1', '239.255.255.250'],
  'reserved and broadcast': ['240.0.0.1', '254.1.2.3', '255.255.255.254', '255.255.255.255'],
  'IPv6, unspecified': ['::', '0:0:0:0:0:0:0:0'],
  'IPv6, unique local': ['fc00::1', 'fd00::1', 'fd00:ec2::254', 'fdff:ffff::1'],
  'IPv6, link-local': ['fe80::1', 'fe80::1%eth0', 'febf::1'],
  'IPv6, multicast': ['ff02::1', 'ff05::2'],
  'IPv6, documentation': ['2001:db8::1', '2001:db8:ffff::1'],
  'IPv6, discard': ['100::1'],
  'IPv4 in IPv6': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe'],
  NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe', '64:ff9b::a00:1'],
  '6to4': ['2002:7f00:1::', '2002:a9fe:a9fe::1', '2002:a00:1::'],
  Teredo: ['2001::1', '2001:0:7f00:1::'],
  'other notations of loopback': ['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '0x7f.1'],
  'no address': ['localhost', '', ' ', '127.0.0.1 ', '256.1.1.1', '[::1]', '::1::'],
};

const PUBLIC = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '93.184.216.34', '100.63.255.255'],
  ...['100.128.0.0', '126.255.255.255', '128.0.0.1', '169.253.255.255', '169.255.0.0'],
  ...['172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0', '198.17.255.255'],
  ...['198.20.0.0', '223.255.255.255', '::ffff:1.1.1.1'],
  ...['2606:4700:4700::1111', '2a00:1450:4001:80b::200e'],
];

const cases = Object.entries(NOT_PUBLIC).flatMap(([kind, addresses]) =>
  addresses.map((address) => [kind, address] as const),
);

test('the table has at least 68 addresses', () => {
  expect(cases.length).toBeGreaterThanOrEqual(68);
});

describe('an address that is not public', () => {
  test.each(cases)('%s: %j', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('a public address, next to a range that is not public', () => {
  test.each(PUBLIC)('%s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

/** The URL parser turns each of these into an address that is not public. */
const URLS = [
  ...['http://127.1/', 'http://2130706433/', 'http://0x7f000001/', 'http://017700000001/'],
  ...['http://0/', 'http://0x0/', 'http://127.0.0.1./', 'http://%31%32%37.0.0.1/'],
  ...['http://①②⑦.⓪.⓪.①/', 'http://127。0。0。1/', 'http://[::ffff:7f00:1]/'],
  ...['http://[0:0:0:0:0:0:0:1]/', 'http://[::]/', 'http://169.254.43518/', 'http://10.1/'],
  ...['https://user@127.0.0.1/', 'gopher://127.0.0.1/'],
];

describe('a fetch of a URL that hides its address', () => {
  test.each(URLS)('is refused before Weir connects: %s', async (url) => {
    const refused = guardedFetch(url, { max_bytes: 10, timeout_ms: 2_000 });
    await expect(refused).rejects.toBeInstanceOf(ForbiddenAddressError);
  });
});
