import { describe, expect, test } from 'bun:test';
import { BlockList } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isCidrList, isWithin, parseAddress, parseCidrList } from '../../src/config/cidr-list.ts';
import { clientAddress, isLocalRequest } from '../../src/http/auth/client-address.ts';
import type { RequestContext } from '../../src/http/endpoint.ts';
import { fc } from '../support/property.ts';

/** A request from this peer, as a handler gets it. */
function requestFrom(address: string | null, headers: Record<string, string> = {}): RequestContext {
  const request = new Request('http://weir/metrics', { headers });
  const server = { requestIP: () => (address === null ? null : { address }) };
  return { request, server } as unknown as RequestContext;
}
const forwarded = (peer: string, list: string) => requestFrom(peer, { 'x-forwarded-for': list });
const PROXIES = parseCidrList('10.0.0.0/8,192.0.2.7,2001:db8::/32');

const isMapped = (text: string) => ipaddr.IPv6.parse(text).isIPv4MappedAddress();
const ipv4 = fc.ipV4();
const ipv6 = fc.ipV6().filter((text) => !isMapped(text));
const address = fc.oneof(ipv4, ipv6);
const kindOf = (text: string) => (text.includes(':') ? 'ipv6' : 'ipv4');
/** How Weir names the address in its table. */
const blockOf = (text: string) => clientAddress(requestFrom(text), []);

describe('a list of CIDR blocks', () => {
  const cidr = fc
    .tuple(address, fc.nat(128))
    .map(([text, bits]): [string, number] => [text, kindOf(text) === 'ipv4' ? bits % 33 : bits]);

  test('contains the addresses that Node’s BlockList contains', () => {
    const blocks = fc.array(cidr, { minLength: 1, maxLength: 5 });
    // An address near the first block, because a random one is seldom inside.
    const near = fc.tuple(blocks, address, fc.nat(15));
    fc.assert(
      fc.property(near, ([list, random, changed]) => {
        // One list for each kind: Node counts an IPv4 address as a part of `::/0`, Weir does not.
        const oracles = { ipv4: new BlockList(), ipv6: new BlockList() };
        for (const [text, bits] of list) oracles[kindOf(text)].addSubnet(text, bits, kindOf(text));
        const parsed = parseCidrList(list.map(([text, bits]) => `${text}/${bits}`).join(', '));
        const [first = random] = list[0] ?? [];
        const bytes = ipaddr.parse(first).toByteArray();
        bytes[changed % bytes.length] = (bytes[changed % bytes.length] ?? 0) ^ 1;
        for (const text of [random, first, ipaddr.fromByteArray(bytes).toString()]) {
          if (kindOf(text) === 'ipv6' && isMapped(text)) continue;
          const found = parseAddress(text);
          expect(found && isWithin(found, parsed)).toBe(
            oracles[kindOf(text)].check(text, kindOf(text)),
          );
        }
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    '',
    ',',
    '10.0.0.0/8,',
    '10.0.0.0/33',
    '2001:db8::/129',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0/8',
    '010.0.0.0/8',
    '0x7f000001',
    'proxy.internal',
    'fe80::1%eth0',
    '::ffff:10.0.0.0/95',
  ])('%p is none', (list) => {
    expect(isCidrList(list)).toBe(false);
    expect(() => parseCidrList(list)).toThrow();
  });

  test('may name IPv4 addresses in the form of IPv6', () => {
    const inner = parseAddress('10.1.2.3') as ipaddr.IPv4;
    expect(isWithin(inner, parseCidrList('::ffff:10.0.0.0/104'))).toBe(true);
    expect(isWithin(inner, parseCidrList('::ffff:10.0.0.0/120'))).toBe(false);
    const mapped = parseAddress('::ffff:10.1.2.3') as ipaddr.IPv4;
    expect(isWithin(mapped, parseCidrList('10.0.0.0/8'))).toBe(true);
  });
});

describe('the address of a client', () => {
  const isForeign = (text: string) => {
    const found = parseAddress(text);
    return found !== undefined && !isWithin(found, PROXIES);
  };
  const foreign = address.filter(isForeign);
  const proxy = fc.oneof(
    fc.ipV4().map((text) => `10.${text.split('.').slice(1).join('.')}`),
    fc.constant('192.0.2.7'),
    fc.nat(0xffff).map((number) => `2001:db8::${number.toString(16)}`),
  );
  /** A header's value that a client invents. */
  const forged = fc
    .oneof(fc.string(), address, proxy, fc.constantFrom('unknown', '', ',,', '127.0.0.1'))
    .map((text) => text.replaceAll(/[^\x20-\x7e]/g, '?'));
  const port = fc.constantFrom('', ':443');
  const written = (text: string, suffix: string) =>
    kindOf(text) === 'ipv6' && suffix !== '' ? `[${text}]${suffix}` : `${text}${suffix}`;

  test('is the peer, whatever X-Forwarded-For says, unless the peer is a proxy', () => {
    fc.assert(
      fc.property(foreign, forged, (peer, list) => {
        expect(clientAddress(forwarded(peer, list), PROXIES)).toBe(blockOf(peer));
        expect(clientAddress(forwarded(peer, list), [])).toBe(blockOf(peer));
      }),
    );
  });

  test('is the right-most address that is no proxy, whatever stands further left', () => {
    const hops = fc.array(fc.tuple(proxy, port), { maxLength: 4 });
    fc.assert(
      fc.property(forged, foreign, port, hops, proxy, (left, client, suffix, chain, peer) => {
        const entries = [left, written(client, suffix), ...chain.map((hop) => written(...hop))];
        expect(clientAddress(forwarded(peer, entries.join(', ')), PROXIES)).toBe(blockOf(client));
        expect(clientAddress(forwarded(peer, entries.slice(1).join(',')), PROXIES)).toBe(
          blockOf(client),
        );
      }),
    );
  });

  test('is the peer if the right-most foreign entry is malformed, or if there is no entry', () => {
    const malformed = fc.constantFrom(
      '',
      ' ',
      'unknown',
      '1.2.3',
      '1.2.3.4:',
      '[::1',
      'a b',
      '1.2.3.4.5',
      '_x',
    );
    fc.assert(
      fc.property(
        forged,
        malformed,
        fc.array(proxy, { maxLength: 3 }),
        proxy,
        (left, bad, chain, peer) => {
          const list = [left, bad, ...chain].join(',');
          expect(clientAddress(forwarded(peer, list), PROXIES)).toBe(blockOf(peer));
        },
      ),
    );
    expect(clientAddress(requestFrom('10.0.0.1'), PROXIES)).toBe('10.0.0.1');
  });

  test('is the left-most entry if all entries are proxies', () => {
    expect(clientAddress(forwarded('10.0.0.1', '10.0.0.3, 10.0.0.2'), PROXIES)).toBe('10.0.0.3');
  });

  test('of IPv6 is its /64, and IPv4 in the form of IPv6 is IPv4', () => {
    expect(blockOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64');
    expect(blockOf('2001:db8:1:2:ffff::')).toBe('2001:db8:1:2::/64');
    expect(blockOf('2001:db8:1:3::')).not.toBe(blockOf('2001:db8:1:2::'));
    expect(blockOf('::ffff:203.0.113.9')).toBe('203.0.113.9');
  });

  test('is one for all sockets without an address', () => {
    expect(clientAddress(requestFrom(null), PROXIES)).toBe('unknown');
  });
});

describe('a request of this machine', () => {
  test.each(['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])('comes from %s', (peer) => {
    expect(isLocalRequest(requestFrom(peer, { accept: '*/*', 'user-agent': 'x' }))).toBe(true);
  });

  test.each(['10.0.0.1', '192.0.2.7', '::ffff:10.0.0.1', '2001:db8::1', '::', '0.0.0.0', null])(
    'does not come from %p',
    (peer) => {
      expect(isLocalRequest(requestFrom(peer))).toBe(false);
    },
  );

  test.each([
    'Forwarded',
    'Via',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'X-Real-IP',
    'X-Client-IP',
    'True-Client-IP',
    'CF-Connecting-IP',
  ])('has no header %s', (name) => {
    expect(isLocalRequest(requestFrom('127.0.0.1', { [name]: '' }))).toBe(false);
    expect(isLocalRequest(requestFrom('127.0.0.1', { [name]: '127.0.0.1' }))).toBe(false);
  });
});
