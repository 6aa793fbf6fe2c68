import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ForbiddenAddressError } from '../../src/storage/checked-address.ts';
import { guardedFetch } from '../../src/storage/guarded-fetch.ts';
import { isPublicAddress } from '../../src/storage/public-address.ts';

let server: Bun.Server<undefined>;
let host: string;
const seen: (string | null)[] = [];

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    async fetch(request) {
      seen.push(request.headers.get('authorization'));
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === '/picture') {
        return new Response('picture', { headers: { 'content-type': 'image/png' } });
      }
      if (pathname === '/large') return new Response('x'.repeat(10_000));
      if (pathname === '/hang') await Bun.sleep(60_000);
      if (pathname === '/echo') return new Response(await request.text(), { status: 201 });
      if (pathname === '/to') return Response.redirect(searchParams.get('url') ?? '', 302);
      return new Response('no', { status: 404 });
    },
  });
  host = `127.0.0.1:${server.port}`;
});
afterAll(() => server.stop(true));

const options = () => ({ max_bytes: 1_000, timeout_ms: 5_000, allow_hosts: new Set([host]) });
const textOf = async ({ stream }: { stream: ReadableStream }) => new Response(stream).text();

describe('an address of the public internet', () => {
  test.each(['1.1.1.1', '93.184.216.34', '2606:4700:4700::1111', '::ffff:1.1.1.1'])('%s', (a) => {
    expect(isPublicAddress(a)).toBe(true);
  });
  test.each([
    ['loopback', '127.0.0.1'],
    ['loopback', '::1'],
    ['any', '0.0.0.0'],
    ['any', '::'],
    ['private', '10.1.2.3'],
    ['private', '172.16.0.1'],
    ['private', '192.168.1.1'],
    ['private', 'fd00::1'],
    ['link-local, the metadata of clouds', '169.254.169.254'],
    ['link-local', 'fe80::1'],
    ['carrier NAT', '100.64.0.1'],
    ['multicast', '224.0.0.1'],
    ['multicast', 'ff02::1'],
    ['broadcast', '255.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['documentation', '203.0.113.5'],
    ['IPv4 in IPv6', '::ffff:127.0.0.1'],
    ['IPv4 in IPv6', '::ffff:a9fe:a9fe'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001::1'],
    ['no address', 'localhost'],
  ])('is not %s: %s', (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('a guarded fetch', () => {
  test('returns a response of a host that the operator allowed', async () => {
    const answer = await guardedFetch(`http://${host}/picture`, options());
    expect(answer).toMatchObject({ status: 200, content_type: 'image/png' });
    expect(await textOf(answer)).toBe('picture');
  });

  test.each([
    'http://127.0.0.1:1/x',
    'http://localhost:1/x',
    'http://[::1]:1/x',
    'http://2130706433/x',
    'http://0x7f.1/x',
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:10.0.0.1]/x',
    'ftp://example.com/x',
    'file:///etc/passwd',
    'data:text/plain,x',
    'http://user:secret@1.1.1.1/x',
    'no address at all',
  ])('refuses %s', async (url) => {
    const refused = guardedFetch(url, { ...options(), timeout_ms: 2_000 });
    await expect(refused).rejects.toBeInstanceOf(ForbiddenAddressError);
  });

  test('refuses a redirect to an internal address, and more than three redirects', async () => {
    const to = (url: string) => `http://${host}/to?url=${encodeURIComponent(url)}`;
    const internal = guardedFetch(to('http://127.0.0.1:1/x'), options());
    await expect(internal).rejects.toBeInstanceOf(ForbiddenAddressError);
    expect(await textOf(await guardedFetch(to(`http://${host}/picture`), options()))).toBe(
      'picture',
    );
    const many_redirects = to(to(to(to(`http://${host}/picture`))));
    await expect(guardedFetch(many_redirects, options())).rejects.toThrow('too many redirects');
  });

  test('does not send the headers to another host', async () => {
    const other = `localhost:${server.port}`;
    const allow_hosts = new Set([host, other]);
    const url = `http://${host}/to?url=${encodeURIComponent(`http://${other}/picture`)}`;
    seen.length = 0;
    await guardedFetch(url, { ...options(), allow_hosts, headers: { authorization: 'secret' } });
    expect(seen).toEqual(['secret', null]);
  });

  test('stops at its size limit and at its time limit', async () => {
    const large = await guardedFetch(`http://${host}/large`, options());
    await expect(textOf(large)).rejects.toThrow();
    const slow = guardedFetch(`http://${host}/hang`, { ...options(), timeout_ms: 50 });
    await expect(slow).rejects.toThrow();
  });

  test('can POST, and returns a redirect if follow is false', async () => {
    const posted = await guardedFetch(`http://${host}/echo`, {
      ...options(),
      method: 'POST',
      body: 'text',
      headers: { 'content-type': 'text/plain' },
    });
    expect(posted.status).toBe(201);
    expect(await textOf(posted)).toBe('text');
    const url = `http://${host}/to?url=http://1.1.1.1/`;
    expect((await guardedFetch(url, { ...options(), follow: false })).status).toBe(302);
  });
});
