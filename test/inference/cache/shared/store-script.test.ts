/** The bounds of the entries in a real Redis, whatever is stored, replaced, read and removed. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { Redis } from 'ioredis';
import {
  MAX_WAITING_BYTES,
  RedisWrites,
} from '../../../../src/inference/cache/shared/redis-writes.ts';
import { SharedAnswers } from '../../../../src/inference/cache/shared/shared-answers.ts';
import { SharedNames } from '../../../../src/inference/cache/shared/shared-names.ts';
import {
  PURGED_AT_ONCE,
  SHARED_OVERHEAD_BYTES,
} from '../../../../src/inference/cache/shared/store-script.ts';
import { fc } from '../../../support/property.ts';
import { startTestRedis, type TestRedis } from '../../../support/redis.ts';
import { until } from '../../../support/until.ts';

setDefaultTimeout(60_000);

const BOUNDS = { max_age_ms: 60_000, max_bytes: 8_000, max_shared_bytes: 20_000 };
const KEY = new Uint8Array(32).fill(7);
const names = new SharedNames(KEY);

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startTestRedis();
  redis = new Redis(server.url);
  await redis.ping();
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const placeOf = (organization_id: string, request: string) => ({
  ...{ organization_id, sketch: request.length },
  digest: () => `${organization_id}/${request}`,
});
const answered = (text: string, stored_at_ms: number) => ({
  ...{ request_id: crypto.randomUUID(), stored_at_ms },
  answer: { text, is_stream: false, usage: null, cost_nano_usd: 1 },
});
const randomText = (bytes: number) =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('base64');

test('the sums are those of the entries, and stay below the bounds', async () => {
  const clock = { now: Date.now() };
  const answers = new SharedAnswers({
    ...{ redis, value_key: KEY, name_key: KEY, bounds: () => BOUNDS, now: () => clock.now },
  });
  const step = fc.record({
    organization: fc.constantFrom('a', 'b', 'c', 'd'),
    request: fc.integer({ min: 1, max: 30 }).map((length) => 'x'.repeat(length)),
    bytes: fc.integer({ min: 1, max: 3_000 }),
    later_ms: fc.integer({ min: 0, max: 10_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      await redis.flushall();
      for (const { organization, request, bytes, later_ms } of steps) {
        clock.now += later_ms;
        const value = answered(randomText(bytes), clock.now);
        answers.store(placeOf(organization, request), value, 0);
        await answers.idle();
        const found = await answers.find(placeOf(organization, request));
        if (found) expect(found).toEqual(value);
      }
      const sums = await redis.hgetall(names.sums);
      const sizes = await redis.hgetall(names.sizes);
      const total = Object.values(sizes).reduce((sum, size) => sum + Number(size), 0);
      expect(Number(sums['all'] ?? 0)).toBe(total);
      expect(total).toBeLessThanOrEqual(BOUNDS.max_shared_bytes);
      for (const [name, sum] of Object.entries(sums)) {
        if (name === 'all') continue;
        expect(Number(sum)).toBeLessThanOrEqual(BOUNDS.max_bytes);
        const own = Object.entries(sizes).filter(([member]) => member.startsWith(`${name}:`));
        expect(own.reduce((all, [, size]) => all + Number(size), 0)).toBe(Number(sum));
        expect(await redis.zcard(`${names.prefix}of:${name}`)).toBe(own.length);
      }
      expect(await redis.zcard(names.all)).toBe(Object.keys(sizes).length);
      // Each value is counted. One that its mark does not lead to any more may be gone.
      for (const name of await redis.keys(`${names.prefix}e:*`)) {
        const member = Object.keys(sizes).find((each) =>
          each.includes(name.slice(names.prefix.length + 2)),
        );
        expect(member).toBeDefined();
        const size = await redis.strlen(name);
        expect(Number(sizes[member ?? ''])).toBe(size + SHARED_OVERHEAD_BYTES);
      }
    }),
    { numRuns: 25 },
  );
});

test('the oldest entries of an organization go first, and ended ones are counted no more', async () => {
  await redis.flushall();
  const clock = { now: Date.now() };
  const answers = new SharedAnswers({
    ...{ redis, value_key: KEY, name_key: KEY, bounds: () => BOUNDS, now: () => clock.now },
  });
  const requests = ['1', '22', '333', '4444', '55555', '666666'];
  const store = async (organization: string, request: string) => {
    clock.now += 10;
    answers.store(placeOf(organization, request), answered(randomText(400), clock.now), 0);
    await answers.idle();
  };
  await store('b', '1');
  for (const request of requests) await store('a', request);
  const found = await Promise.all(requests.map((request) => answers.find(placeOf('a', request))));
  const kept = found.map((each) => each !== undefined);
  expect(kept).toEqual([false, false, true, true, true, true]);
  // Another organization loses nothing.
  expect(await answers.find(placeOf('b', '1'))).toBeDefined();
  clock.now += BOUNDS.max_age_ms;
  await store('c', '1');
  expect(await redis.zcard(names.all)).toBe(1);
  expect(Object.keys(await redis.hgetall(names.sums))).toHaveLength(2);
});

test('the memory of an entry is counted high enough', async () => {
  await redis.flushall();
  const many = { ...BOUNDS, max_bytes: 1e9, max_shared_bytes: 1e9 };
  const answers = new SharedAnswers({
    ...{ redis, value_key: KEY, name_key: KEY, bounds: () => many, now: Date.now },
  });
  const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  const before = await used();
  for (let index = 0; index < 1_000; index += 1) {
    const place = { ...placeOf('a', `${index}`), sketch: index };
    answers.store(place, answered('x', Date.now()), 0);
  }
  await answers.idle();
  const counted = Number(await redis.hget(names.sums, 'all'));
  expect(await redis.zcard(names.all)).toBe(1_000);
  expect((await used()) - before).toBeLessThan(counted);
});

test('a purge removes all entries of an organization, and no other ones', async () => {
  await redis.flushall();
  const many = { ...BOUNDS, max_bytes: 1e9, max_shared_bytes: 1e9 };
  const answers = new SharedAnswers({
    ...{ redis, value_key: KEY, name_key: KEY, bounds: () => many, now: Date.now },
  });
  const count = PURGED_AT_ONCE * 2 + 1;
  for (let index = 0; index < count; index += 1) {
    answers.store(placeOf('a', `${index}`), answered('x', Date.now()), 0);
  }
  answers.store(placeOf('b', '1'), answered('x', Date.now()), 0);
  await answers.idle();
  expect(await redis.zcard(names.all)).toBe(count + 1);
  answers.purge('a');
  await answers.idle();
  expect(await redis.keys(`${names.prefix}e:*`)).toHaveLength(1);
  expect(await redis.zcard(names.all)).toBe(1);
  expect(await answers.find(placeOf('a', '1'))).toBeUndefined();
});

test('an answer that is too old is not stored', async () => {
  await redis.flushall();
  const answers = new SharedAnswers({
    ...{ redis, value_key: KEY, name_key: KEY, bounds: () => BOUNDS, now: Date.now },
  });
  answers.store(placeOf('a', 'x'), answered('x', Date.now() - BOUNDS.max_age_ms - 1), 0);
  await answers.idle();
  expect(await redis.dbsize()).toBe(0);
});

test('writes that wait have a bound in bytes; the others are dropped', async () => {
  const writes = new RedisWrites();
  const { promise, resolve } = Promise.withResolvers<void>();
  let sent = 0;
  const half = MAX_WAITING_BYTES / 2;
  const push = () => writes.push({ bytes: half, send: () => promise.then(() => (sent += 1)) });
  for (let count = 0; count < 5; count += 1) push();
  expect(writes.dropped).toBe(3);
  resolve();
  await until('the writes are sent', () => sent === 2);
  await until('there is room again', () => {
    const { dropped } = writes;
    push();
    return writes.dropped === dropped;
  });
});
