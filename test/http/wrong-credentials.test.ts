import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { Redis } from 'ioredis';
import { hashCredential, newCredential, newId, shownPrefix } from '../../db/secrets.ts';
import { WeirError } from '../../src/errors/weir-error.ts';
import { WrongCredentials } from '../../src/http/auth/wrong-credentials.ts';
import { KEY_TTL_MS } from '../../src/inference/keys/key-cache.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { sharedRedisUrl, startTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const LIMIT = 5;
const MINUTE_MS = 60_000;
let app: TestApp;
let queries = 0;
let skipped_ms = 0;
beforeAll(async () => {
  app = await startTestApp({
    wrong_keys_per_minute: LIMIT,
    // The tests send the address of each client in `X-Forwarded-For`.
    trusted_proxies: '127.0.0.0/8',
    now: () => Date.now() + skipped_ms,
  });
  app.pool.sql.options.debug = (_connection, query) => {
    // A new connection sends queries of its own.
    if (/api_key|access_token/.test(query)) queries += 1;
  };
});
afterAll(() => app.stop());

let clients = 0;
/** An address that no other test uses. */
const newAddress = () => {
  clients += 1;
  return `198.51.${Math.floor(clients / 250)}.${clients % 250}`;
};

async function addKey(status = 'active'): Promise<{ id: string; secret: string }> {
  const [id, secret] = [newId('key'), newCredential('sk')];
  await app.database.sql`insert into api_key ${app.database.sql({
    ...{ id, organization_id: app.organization_id, name: 'test', status },
    ...{ key_hash: hashCredential(secret), key_prefix: shownPrefix(secret) },
  })}`;
  return { id, secret };
}

interface Door {
  method: string;
  path: string;
  header: string;
  /** The kind of credential that opens it. */
  opens_to: 'api_key' | 'management_token' | 'operator_token';
}
const inference = (method: string, path: string, ...headers: string[]): Door[] =>
  headers.map((header) => ({ method, path, header, opens_to: 'api_key' }));
const VENDOR = ['authorization', 'x-api-key', 'x-goog-api-key'];
/** Each header that may carry a credential, on each family of routes. */
const DOORS: Door[] = [
  ...inference('GET', '/v1/models', ...VENDOR),
  ...inference('GET', '/v1/models/gpt-4o', ...VENDOR),
  ...inference('POST', '/v1/chat/completions', 'authorization'),
  ...inference('POST', '/v1/responses', 'authorization'),
  ...inference('GET', '/v1/responses/resp_1', 'authorization'),
  ...inference('POST', '/v1/embeddings', 'authorization'),
  ...inference('POST', '/v1/rerank', 'authorization'),
  ...inference('POST', '/v1/translations', 'authorization'),
  ...inference('POST', '/v1/audio/speech', 'authorization'),
  ...inference('POST', '/v1/audio/transcriptions', 'authorization'),
  ...inference('POST', '/v1/images/generations', 'authorization'),
  ...inference('GET', '/v1/tasks/weir_1', 'authorization'),
  ...inference('GET', '/v1/tasks/weir_1/events', 'authorization'),
  ...inference('POST', '/v1/messages', ...VENDOR),
  ...inference('POST', '/v1/messages/count_tokens', ...VENDOR),
  ...inference('GET', '/v1/messages/batches', ...VENDOR),
  ...inference('POST', '/v1beta/models/gemini-2.5-pro:generateContent', ...VENDOR),
  ...inference('POST', '/v1beta/models/gemini-2.5-pro:countTokens', ...VENDOR),
  ...['/v1/management/balance', '/v1/management/api-keys'].map(
    (path): Door => ({
      ...{ method: 'GET', path, header: 'authorization' },
      opens_to: 'management_token',
    }),
  ),
  ...['/v1/operator/channels', '/metrics'].map(
    (path): Door => ({
      ...{ method: 'GET', path, header: 'authorization' },
      opens_to: 'operator_token',
    }),
  ),
];

function send(door: Door, credential: string, address: string): Promise<Response> {
  return fetch(app.base_url + door.path, {
    method: door.method,
    headers: {
      'x-forwarded-for': address,
      [door.header]: door.header === 'authorization' ? `Bearer ${credential}` : credential,
      ...(door.method === 'POST' ? { 'content-type': 'application/json' } : {}),
    },
    ...(door.method === 'POST' ? { body: '{}' } : {}),
  });
}

const PREFIXES = { api_key: 'sk', management_token: 'mt', operator_token: 'op' } as const;
const [MODELS] = DOORS as [Door];
const list = (secret: string, address: string) => send(MODELS, secret, address);
/** Statuses and how often each occurred. */
const countsOf = (responses: Response[]) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(responses, ({ status }) => String(status))).map(
      ([status, all = []]) => [status, all.length],
    ),
  );
const exhaust = (address: string) =>
  Promise.all(Array.from({ length: LIMIT }, () => list(newCredential('sk'), address)));

describe.each(
  DOORS.map((door) => [`${door.header} of ${door.method} ${door.path}`, door] as const),
)('wrong credentials in %s', (_name, door) => {
  test('401 up to the limit, then 429 without a query; a known credential still works', async () => {
    const address = newAddress();
    const valid = app.credentials[door.opens_to];
    const opened = (await send(door, valid, address)).status;
    expect([401, 429]).not.toContain(opened);
    const wrong = () => newCredential(PREFIXES[door.opens_to]);
    for (let count = 0; count < LIMIT; count += 1) {
      expect((await send(door, wrong(), address)).status).toBe(401);
    }
    const before = queries;
    const { refused } = app.wrongCredentials;
    const refusal = await send(door, wrong(), address);
    expect(refusal.status).toBe(429);
    expect(queries).toBe(before);
    expect(app.wrongCredentials.refused).toBe(refused + 1);
    expectEnvelope(door, await refusal.json(), refusal.headers);
    expect((await send(door, valid, address)).status).toBe(opened);
    expect((await send(door, wrong(), newAddress())).status).toBe(401);
  });
});

/** Checks the error format of the route's family. */
function expectEnvelope({ path, header }: Door, body: unknown, headers: Headers): void {
  const retry_after = Number(headers.get('retry-after'));
  expect(retry_after).toBeWithin(1, 61);
  const openai = { code: 'rate_limit_exceeded', type: 'rate_limit_exceeded', retry_after };
  // The clients of several vendors request the paths of models.
  const vendor = path.startsWith('/v1/models') ? header : '';
  if (path.startsWith('/v1beta') || vendor === 'x-goog-api-key') {
    const details = [expect.objectContaining({ reason: 'rate_limit_exceeded', retry_after })];
    expect(body).toMatchObject({ error: { code: 429, status: 'RESOURCE_EXHAUSTED', details } });
  } else if (path.startsWith('/v1/messages') || vendor === 'x-api-key') {
    expect(body).toMatchObject({ type: 'error', error: { ...openai, type: 'rate_limit_error' } });
  } else expect(body).toMatchObject({ error: { ...openai, retryable: true } });
}

describe('the limit of wrong credentials', () => {
  test('is exact for many at the same time, and bounds the queries', async () => {
    const address = newAddress();
    const before = queries;
    const responses = await Promise.all(
      Array.from({ length: 200 }, () => list(newCredential('sk'), address)),
    );
    expect(countsOf(responses)).toEqual({ 401: LIMIT, 429: 200 - LIMIT });
    expect(queries - before).toBe(LIMIT);
  });

  test('counts each request with the same wrong key', async () => {
    const address = newAddress();
    const secret = newCredential('sk');
    const responses = await Promise.all(Array.from({ length: 50 }, () => list(secret, address)));
    expect(countsOf(responses)).toEqual({ 401: LIMIT, 429: 50 - LIMIT });
  });

  test('refuses no valid key of a burst that was never seen before', async () => {
    const address = newAddress();
    const keys = await Promise.all(Array.from({ length: 10 * LIMIT }, () => addKey()));
    const wrong = Array.from({ length: LIMIT - 1 }, () => ({ secret: newCredential('sk') }));
    const responses = await Promise.all(
      [...keys, ...wrong, ...keys].map(({ secret }) => list(secret, address)),
    );
    expect(countsOf(responses)).toEqual({ 200: 20 * LIMIT, 401: LIMIT - 1 });
  });

  test('refuses a valid key that this replica does not know', async () => {
    const address = newAddress();
    await exhaust(address);
    const { secret } = await addKey();
    expect((await list(secret, address)).status).toBe(429);
    expect((await list(secret, newAddress())).status).toBe(200);
    expect((await list(secret, address)).status).toBe(200);
  });

  test('refuses no known key after a change, a lost message, or the time to live', async () => {
    const address = newAddress();
    const { id, secret } = await addKey();
    expect((await list(secret, address)).status).toBe(200);
    await exhaust(address);
    const forgetting = [
      () => app.keys.invalidate(id),
      () => app.keys.invalidateAll(),
      () => {
        skipped_ms = KEY_TTL_MS + 1;
      },
    ];
    for (const forget of forgetting) {
      forget();
      expect((await list(newCredential('sk'), address)).status).toBe(429);
      expect((await list(secret, address)).status).toBe(200);
    }
    skipped_ms = 0;
  });

  test('refuses a known key after it was revoked', async () => {
    const address = newAddress();
    const { id, secret } = await addKey();
    await list(secret, address);
    await exhaust(address);
    await app.database.sql`update api_key set status = 'revoked' where id = ${id}`;
    app.keys.invalidate(id);
    expect((await list(secret, address)).status).toBe(401);
    expect((await list(secret, address)).status).toBe(429);
  });

  test('counts no request without a credential, and no key that is suspended or revoked', async () => {
    const address = newAddress();
    const { secret: suspended } = await addKey('suspended');
    const { secret: revoked } = await addKey('revoked');
    for (let count = 0; count < 2 * LIMIT; count += 1) {
      const headers = { 'x-forwarded-for': address };
      expect((await fetch(`${app.base_url}/v1/models`, { headers })).status).toBe(401);
      expect((await list(suspended, address)).status).toBe(403);
      expect((await list(revoked, address)).status).toBe(401);
    }
    expect((await list(newCredential('sk'), address)).status).toBe(401);
  });

  test('counts credentials of the wrong kind', async () => {
    const address = newAddress();
    const wrong = [app.credentials.management_token, app.credentials.operator_token, 'pk-1'];
    for (let count = 0; count < LIMIT; count += 1) {
      expect((await list(wrong[count % 3] ?? '', address)).status).toBe(401);
    }
    expect((await list(newCredential('sk'), address)).status).toBe(429);
  });

  test('starts again after a minute', async () => {
    const address = newAddress();
    await exhaust(address);
    expect((await list(newCredential('sk'), address)).status).toBe(429);
    skipped_ms = MINUTE_MS;
    expect(countsOf(await exhaust(address))).toEqual({ 401: LIMIT });
    expect((await list(newCredential('sk'), address)).status).toBe(429);
    skipped_ms = 0;
  });

  test('counts the peer of a client that invents X-Forwarded-For', async () => {
    const plain = await startTestApp({ wrong_keys_per_minute: LIMIT });
    try {
      const statuses: number[] = [];
      for (let count = 0; count < LIMIT + 2; count += 1) {
        const headers = {
          authorization: `Bearer ${newCredential('sk')}`,
          'x-forwarded-for': newAddress(),
          forwarded: `for=${newAddress()}`,
          'x-real-ip': newAddress(),
        };
        statuses.push((await fetch(`${plain.base_url}/v1/models`, { headers })).status);
      }
      expect(statuses).toEqual([...Array(LIMIT).fill(401), 429, 429]);
    } finally {
      await plain.stop();
    }
  });
});

const wrong = () => Promise.reject(new WeirError('invalid_api_key', 'no'));
/** Whether a wrong credential was refused without a lookup (429), or looked up (401). */
const statusOf = (counts: WrongCredentials, address: string) =>
  counts.check(address, newCredential('sk'), wrong).catch((error: unknown) => {
    if (error instanceof WeirError) return error.entry.status;
    throw error;
  });

describe('the lookups of an address', () => {
  test('are never more than may still be wrong, whatever the number that waits', async () => {
    const counts = new WrongCredentials({ limit: LIMIT });
    const ends: (() => void)[] = [];
    let most = 0;
    let running = 0;
    const checks = Array.from({ length: 4 * LIMIT }, (_, number) =>
      counts.check('address', String(number), async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise<void>((resolve) => ends.push(resolve));
        running -= 1;
      }),
    );
    for (let ended = 0; ended < checks.length; ended += 1) {
      await until('a lookup runs', () => ends.length > 0);
      ends.shift()?.();
    }
    await Promise.all(checks);
    expect(most).toBe(LIMIT);
  });
});

describe('the table of addresses', () => {
  test('has a bound: the oldest address leaves, and an address that is in use stays', async () => {
    const counts = new WrongCredentials({ limit: 1 });
    expect(await statusOf(counts, 'first')).toBe(401);
    for (let number = 0; number < 25_000; number += 1) {
      await statusOf(counts, String(number));
      if (number % 10_000 === 0) expect(await statusOf(counts, 'first')).toBe(429);
    }
    expect(counts.size).toBe(20_000);
    expect(await statusOf(counts, '24999')).toBe(429);
    expect(await statusOf(counts, '1')).toBe(401);
  });

  test('has no address that sent only valid credentials', async () => {
    const counts = new WrongCredentials({ limit: 1 });
    await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        counts.check(String(number % 3), String(number), async () => number),
      ),
    );
    expect(counts.size).toBe(0);
  });
});

describe('replicas with a common Redis', () => {
  const opened: Redis[] = [];
  afterEach(() => {
    for (const redis of opened.splice(0)) redis.disconnect();
  });
  const connect = async (url: string) => {
    const redis = new Redis(url, { maxRetriesPerRequest: 1, retryStrategy: () => 50 });
    // A test may have stopped the server on purpose.
    redis.on('error', () => undefined);
    opened.push(redis);
    await until('Redis is connected', () => redis.status === 'ready');
    return new WrongCredentials({ limit: LIMIT, redis });
  };

  test('count together', async () => {
    const url = await sharedRedisUrl();
    const replicas = [await connect(url), await connect(url), await connect(url)];
    const address = newCredential('sk');
    const statuses: unknown[] = [];
    for (let count = 0; count < 3 * LIMIT; count += 1) {
      statuses.push(await statusOf(replicas[count % 3] as WrongCredentials, address));
    }
    expect(statuses).toEqual([...Array(LIMIT).fill(401), ...Array(2 * LIMIT).fill(429)]);
  });

  test('count alone while Redis hangs or is away, and do not wait for it each time', async () => {
    const server = await startTestRedis();
    const counts = await connect(server.url);
    process.kill(server.pid, 'SIGSTOP');
    const statuses = await Promise.all(
      Array.from({ length: 2 * LIMIT }, () => statusOf(counts, 'hangs')),
    );
    expect(statuses.filter((status) => status === 401)).toHaveLength(LIMIT);
    process.kill(server.pid, 'SIGCONT');
    await server.stop();
    await until('the connection is lost', () => opened[0]?.status !== 'ready');
    for (let count = 0; count < LIMIT; count += 1) {
      expect(await statusOf(counts, 'away')).toBe(401);
    }
    expect(await statusOf(counts, 'away')).toBe(429);
  });
});
