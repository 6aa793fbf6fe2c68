/** The HTTP client for addresses that a tenant gave: each connection is checked (SSRF). */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { HTTP_CLIENTS } from '../../../src/upstreams/transport/clients.ts';
import { UnsentRequestError } from '../../../src/upstreams/transport/http.ts';
import { allowGuardedHosts } from '../../../src/upstreams/transport/http1/guarded-connection.ts';
import { failureOf } from '../../support/failure-of.ts';

let received = 0;
let upstream: ReturnType<typeof Bun.serve>;
beforeEach(() => {
  received = 0;
  upstream = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch() {
      received += 1;
      return new Response('hello', { headers: { connection: 'close' } });
    },
  });
});
afterEach(async () => {
  allowGuardedHosts(new Set());
  await upstream.stop(true);
});

const send = (
  url: string,
  transport: 'own' | 'guarded' = 'guarded',
  pool: 'calls' | 'jobs' = 'calls',
) => HTTP_CLIENTS[transport]({ ...{ method: 'GET', url, headers: {} }, pool, may_repeat: true });
const bodyOf = async (...args: Parameters<typeof send>) => (await send(...args).response).text();

describe.each(['calls', 'jobs'] as const)('the guarded client, for %s', (pool) => {
  test.each([
    ...['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '10.0.0.1'],
    ...['169.254.169.254', '168.63.129.16', '192.168.0.1', '100.64.0.1', '[fd00::1]', '0x7f.1'],
  ])('connects to no internal host: %s', async (host) => {
    const error = await failureOf(
      send(`http://${host}:${upstream.port}/`, 'guarded', pool).response,
    );
    expect(error).toBeInstanceOf(UnsentRequestError);
    expect(String(error)).toContain('not on the public internet');
    expect(received).toBe(0);
  });

  test('connects to an internal host that the operator allowed, with this port only', async () => {
    allowGuardedHosts(new Set([`127.0.0.1:${upstream.port}`]));
    expect(await bodyOf(`http://127.0.0.1:${upstream.port}/`, 'guarded', pool)).toBe('hello');
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('no') });
    const refused = send(`http://127.0.0.1:${other.port}/`, 'guarded', pool).response;
    expect(await failureOf(refused)).toBeInstanceOf(UnsentRequestError);
    await other.stop(true);
  });

  test('checks every new connection, not only the first one', async () => {
    allowGuardedHosts(new Set([`127.0.0.1:${upstream.port}`]));
    const url = `http://127.0.0.1:${upstream.port}/`;
    expect(await bodyOf(url, 'guarded', pool)).toBe('hello');
    allowGuardedHosts(new Set());
    expect(await failureOf(send(url, 'guarded', pool).response)).toBeInstanceOf(UnsentRequestError);
    expect(received).toBe(1);
  });
});

test('the guarded client never reuses a connection of the operator’s channels', async () => {
  const kept = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('inside') });
  const url = `http://127.0.0.1:${kept.port}/`;
  for (let calls = 0; calls < 3; calls += 1) expect(await bodyOf(url, 'own')).toBe('inside');
  await Bun.sleep(200);
  expect(await failureOf(send(url).response)).toBeInstanceOf(UnsentRequestError);
  expect(await bodyOf(url, 'own')).toBe('inside');
  await kept.stop(true);
});

test('an aborted request opens no connection', async () => {
  allowGuardedHosts(new Set([`127.0.0.1:${upstream.port}`]));
  const sent = send(`http://127.0.0.1:${upstream.port}/`);
  sent.abort();
  expect(await failureOf(sent.response)).toBeInstanceOf(Error);
  await Bun.sleep(50);
  expect(received).toBe(0);
});
