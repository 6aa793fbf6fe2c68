import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { Redis } from 'ioredis';
import { newId } from '../../db/secrets.ts';
import { WeirError } from '../../src/errors/weir-error.ts';
import { RateLimit } from '../../src/http/rate-limit.ts';
import { MANAGEMENT_ROUTES } from '../../src/http/route-actions.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { errorOf, nativeErrorOf } from '../support/envelope.ts';
import { sharedRedisUrl, startTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const opened: { disconnect(): void }[] = [];
afterEach(() => {
  for (const redis of opened.splice(0)) redis.disconnect();
});

function connect(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, retryStrategy: () => 50 });
  // A test may have stopped the server on purpose.
  redis.on('error', () => undefined);
  opened.push(redis);
  return redis;
}

const ready = (redis: Redis) => until('Redis is connected', () => redis.status === 'ready');

/** How many of `tries` concurrent requests are admitted. */
async function countAdmitted(
  limit: RateLimit,
  caller: Parameters<RateLimit['consume']>[0],
  tries: number,
) {
  const outcomes = await Promise.allSettled(
    Array.from({ length: tries }, () => limit.consume(caller, {})),
  );
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(WeirError);
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
}

const newCaller = (members: object = {}) => ({
  organization_id: newId('org'),
  role: 'r',
  ...members,
});

describe('the rate limit in memory', () => {
  const limit = new RateLimit(() => ({ r: 10, big: 1_000 }));

  test('admits exactly the role’s number of requests', async () => {
    expect(await countAdmitted(limit, newCaller(), 64)).toBe(10);
  });

  test('counts each organization separately', async () => {
    const [one, two] = [newCaller(), newCaller()];
    expect(await countAdmitted(limit, one, 20)).toBe(10);
    expect(await countAdmitted(limit, two, 20)).toBe(10);
  });

  test('a refusal has the time to wait in whole seconds', async () => {
    const caller = newCaller();
    await countAdmitted(limit, caller, 10);
    const refusal = await limit.consume(caller, {})?.catch((error: unknown) => error);
    expect(refusal).toMatchObject({ id: 'rate_limit_exceeded', retryable: true });
    const { retry_after } = (refusal as WeirError).details;
    expect(Number.isInteger(retry_after)).toBe(true);
    expect(retry_after).toBeGreaterThanOrEqual(1);
    expect(retry_after).toBeLessThanOrEqual(60);
  });

  test('a key may have a lower limit; requests that it refuses do not count for the organization', async () => {
    const organization = newCaller({ role: 'big' });
    const key = { ...organization, id: newId('key'), requests_per_minute: 3 };
    expect(await countAdmitted(limit, key, 500)).toBe(3);
    expect(await countAdmitted(limit, organization, 1_200)).toBe(997);
  });

  test('a key’s limit above the role’s changes nothing', async () => {
    expect(
      await countAdmitted(limit, newCaller({ id: newId('key'), requests_per_minute: 50 }), 60),
    ).toBe(10);
  });

  test.each(['unheard-of', '__proto__', 'constructor'])(
    'the role %s, which is not configured, gets 60 a minute',
    async (role) => {
      expect(await countAdmitted(limit, newCaller({ role }), 100)).toBe(60);
    },
  );
});

describe('management requests and requests with a key', () => {
  test.each(['in memory', 'in Redis'])('are counted apart, %s', async (where) => {
    const redis = where === 'in Redis' ? connect(await sharedRedisUrl()) : undefined;
    if (redis) await ready(redis);
    const limit = new RateLimit(() => ({ r: 10 }), redis);
    const caller = newCaller();
    expect(await countAdmitted(limit, caller, 64)).toBe(10);
    const managed = Array.from({ length: 64 }, () => limit.consumeManagement(caller, {}));
    const outcomes = await Promise.allSettled(managed);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect(await countAdmitted(limit, newCaller(), 64)).toBe(10);
  });
});

describe('the rate limit in Redis', () => {
  test('counts for all replicas together', async () => {
    const url = await sharedRedisUrl();
    const replicas = [connect(url), connect(url)];
    await Promise.all(replicas.map(ready));
    const [one, two] = replicas.map((redis) => new RateLimit(() => ({ r: 10 }), redis));
    const caller = newCaller();
    const both = await Promise.all([
      countAdmitted(one as RateLimit, caller, 30),
      countAdmitted(two as RateLimit, caller, 30),
    ]);
    expect(both[0] + both[1]).toBe(10);
  });

  test('each replica counts separately while Redis is unreachable, without an error', async () => {
    const server = await startTestRedis();
    const redis = connect(server.url);
    await ready(redis);
    const limit = new RateLimit(() => ({ r: 10 }), redis);
    expect(await countAdmitted(limit, newCaller(), 20)).toBe(10);
    await server.stop();
    await until('the connection is lost', () => redis.status !== 'ready');
    expect(await countAdmitted(limit, newCaller(), 20)).toBe(10);
  });

  test('does not wait for a Redis that hangs', async () => {
    const server = await startTestRedis();
    const redis = connect(server.url);
    await ready(redis);
    const limit = new RateLimit(() => ({ r: 10 }), redis);
    await limit.consume(newCaller(), {});
    process.kill(server.pid, 'SIGSTOP');
    expect(await countAdmitted(limit, newCaller(), 20)).toBe(10);
    // After the first timeout no request waits for Redis.
    expect(await countAdmitted(limit, newCaller(), 20)).toBe(10);
    process.kill(server.pid, 'SIGCONT');
    await server.stop();
  });

  test('keeps limiting after Redis lost all its data', async () => {
    const server = await startTestRedis();
    const redis = connect(server.url);
    await ready(redis);
    const limit = new RateLimit(() => ({ r: 10 }), redis);
    const caller = newCaller();
    expect(await countAdmitted(limit, caller, 20)).toBe(10);
    await redis.flushall();
    expect(await countAdmitted(limit, caller, 20)).toBe(10);
    await server.stop();
  });
});

describe('429', () => {
  let app: TestApp | undefined;
  afterAll(() => app?.stop());

  test('is sent on the routes of a key, in the route’s envelope, with Retry-After', async () => {
    app = await startTestApp({ roles: { standard: 3 } });
    const native = { 'anthropic-version': '2023-06-01' };
    const refused = async (response: Response) => {
      const error = await errorOf(response, 429);
      expect(error).toMatchObject({
        type: 'rate_limit_exceeded',
        code: 'rate_limit_exceeded',
        retryable: true,
      });
      expect(error.message).toContain('3 requests per minute');
      expect(Number(response.headers.get('retry-after'))).toBe(error.retry_after as number);
    };
    for (let n = 0; n < 3; n += 1) expect((await app.fetch('/v1/models')).status).toBe(200);
    await refused(await app.fetch('/v1/models'));
    await refused(await app.fetch('/v1/models/gpt-4o'));
    await refused(await app.post('/v1/chat/completions', {}));
    const answer = await app.post('/v1/messages', {}, native);
    expect((await nativeErrorOf(answer, 429)).type).toBe('rate_limit_error');
  });

  const MANAGEMENT = Object.keys(MANAGEMENT_ROUTES).map((route) => {
    const [method = '', path = ''] = route.replace(/:\w+/g, 'x').split(' ');
    const body =
      /^(POST|PATCH|PUT)/.test(method) && !/rotate|cancel|close/.test(path) ? {} : undefined;
    return [method, path.replace('/v1/management', ''), body] as const;
  });

  test('a flooded key does not refuse any management route, and the reverse', async () => {
    const flooded = await startTestApp({ roles: { standard: MANAGEMENT.length } });
    const statusOf = async (response: Response) => {
      await response.body?.cancel();
      return response.status;
    };
    const manage = ([method, path, body]: (typeof MANAGEMENT)[number]) =>
      flooded.manage(method, path, body);
    try {
      // The management requests use up their own limit first.
      for (const route of MANAGEMENT) await statusOf(await manage(route));
      for (const route of MANAGEMENT) await errorOf(await manage(route), 429);
      for (const _ of MANAGEMENT)
        expect(await statusOf(await flooded.fetch('/v1/models'))).toBe(200);
    } finally {
      await flooded.stop();
    }
    const other = await startTestApp({ roles: { standard: MANAGEMENT.length } });
    try {
      for (const _ of MANAGEMENT) await statusOf(await other.fetch('/v1/models'));
      await errorOf(await other.fetch('/v1/models'), 429);
      for (const [method, path, body] of MANAGEMENT) {
        const status = await statusOf(await other.manage(method, path, body));
        expect({ method, path, status }).not.toEqual({ method, path, status: 429 });
      }
    } finally {
      await other.stop();
    }
  });

  test('is not sent on the health routes', async () => {
    expect((await fetch(`${app?.base_url}/healthz`)).status).toBe(200);
  });
});
