/** Three replicas that count in one Redis: exact, also if one of them is killed, and if Redis is away. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Redis } from 'ioredis';
import { systemClock } from '../../../src/actors/clock.ts';
import type { LimitStore, Take, Taken, Taking } from '../../../src/inference/limits/limit.ts';
import { MemoryStore } from '../../../src/inference/limits/memory-store.ts';
import { RedisStore } from '../../../src/inference/limits/redis-store.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

let server: TestRedis;
const clients: Redis[] = [];
beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(async () => {
  for (const client of clients) client.disconnect();
  await server.stop();
});

async function replica(lease_ms = 30_000): Promise<RedisStore> {
  const redis = new Redis(server.url, { maxRetriesPerRequest: 1 });
  redis.on('error', () => undefined);
  clients.push(redis);
  await redis.ping();
  const fallback = new MemoryStore(systemClock.now, () => 1);
  return new RedisStore({ redis, clock: systemClock, fallback, lease_ms });
}

const takeOf = (unit: Take['unit'], limit: number, is_soft = false): Take => ({
  ...{ name: `${unit}:${crypto.randomUUID()}`, unit, limit, model: null, is_soft },
});
const callOf = (takes: readonly Take[], tokens = 0): Taking => ({
  ...{ takes, tokens, call_id: crypto.randomUUID() },
});
const isTaken = (answer: object): answer is Taken => !('take' in answer);

describe('three replicas with one Redis', () => {
  test.each([
    ['requests', 100],
    ['calls', 40],
  ] as const)('take exactly the limit of %s together, under load', async (unit, limit) => {
    const stores = [await replica(), await replica(), await replica()];
    const takes = [takeOf(unit, limit)];
    const all = Array.from({ length: 300 }, (_, n) => stores[n % 3]?.take(callOf(takes)));
    const answers = await Promise.all(all);
    expect(answers.filter((answer) => answer && isTaken(answer))).toHaveLength(limit);
    for (const store of stores) store.stop();
  });

  test('a call that ends frees its place, and gives back the tokens that it did not use', async () => {
    const [first, second] = [await replica(), await replica()];
    const takes = [takeOf('calls', 1), takeOf('tokens', 100)];
    const wide = [takeOf('calls', 5), takeOf('tokens', 1_000), takeOf('requests', 9)];
    const call = callOf([...takes, ...wide], 80);
    const taken = (await first.take(call)) as Taken;
    expect(isTaken(await second.take(callOf(takes, 80)))).toBe(false);
    first.end(call, taken, 10);
    await until('the place is free', async () => isTaken(await second.take(callOf(takes, 80))));
    const rest = await second.take(callOf([takes[1] as Take], 80));
    // 10 were used and 80 are taken.
    expect(rest).toMatchObject({ take: { unit: 'tokens' } });
    for (const store of [first, second]) store.stop();
  });

  test('a soft limit refuses nothing, counts what is beyond it, and says when a call fits', async () => {
    const stores = [await replica(), await replica()];
    const takes = [
      ...[takeOf('requests', 2, true), takeOf('calls', 1, true), takeOf('tokens', 5, true)],
      takeOf('requests', 4),
    ];
    const exceeded: (readonly string[])[] = [];
    for (let n = 0; n < 4; n += 1) {
      const taken = await stores[n % 2]?.take(callOf(takes, 6));
      if (!taken || !isTaken(taken)) throw new Error('a soft limit refused a call');
      exceeded.push((taken.exceeded ?? []).map(({ take: { unit } }) => unit));
      for (const { take, wait_ms } of taken.exceeded ?? []) {
        expect(Number.isFinite(wait_ms)).toBe(take.unit !== 'tokens');
        expect(wait_ms).toBeGreaterThan(0);
      }
    }
    const all = ['requests', 'calls', 'tokens'];
    expect(exceeded).toEqual([['tokens'], ['calls', 'tokens'], all, all]);
    // A hard limit of the same call refuses it.
    const refused = await stores[0]?.take(callOf(takes, 6));
    expect(refused).toMatchObject({ take: { unit: 'requests', limit: 4, is_soft: false } });
    for (const store of stores) store.stop();
  });

  test('a refused call takes nothing of its other limits', async () => {
    const store = await replica();
    const [requests, calls] = [takeOf('requests', 5), takeOf('calls', 1)];
    expect(isTaken(await store.take(callOf([requests, calls])))).toBe(true);
    for (let n = 0; n < 10; n += 1) await store.take(callOf([requests, calls]));
    const answers = [];
    for (let n = 0; n < 5; n += 1) answers.push(await store.take(callOf([requests])));
    expect(answers.filter(isTaken)).toHaveLength(4);
    store.stop();
  });

  test('the calls of a killed replica count until their leases end, those of others go on', async () => {
    const [killed, alive] = [await replica(300), await replica()];
    const takes = [takeOf('calls', 2)];
    await killed.take(callOf(takes));
    killed.stop();
    await alive.take(callOf(takes));
    expect(isTaken(await alive.take(callOf(takes)))).toBe(false);
    await Bun.sleep(350);
    expect(isTaken(await alive.take(callOf(takes)))).toBe(true);
    expect(isTaken(await alive.take(callOf(takes)))).toBe(false);
    alive.stop();
  });

  test('an amount above the limit is refused for ever; a full minute says when it ends', async () => {
    const store: LimitStore = await replica();
    expect(await store.take(callOf([takeOf('tokens', 10)], 11))).toMatchObject({
      wait_ms: Number.POSITIVE_INFINITY,
    });
    const takes = [takeOf('requests', 1)];
    await store.take(callOf(takes));
    const refused = (await store.take(callOf(takes))) as { wait_ms: number };
    expect(refused.wait_ms).toBeGreaterThan(58_000);
    expect(refused.wait_ms).toBeLessThanOrEqual(60_000);
  });
});

test('a Redis that forgot the scripts gets them again, and counts on', async () => {
  const redis = new Redis(server.url, { enableAutoPipelining: true });
  clients.push(redis);
  const fallback = new MemoryStore(systemClock.now, () => 1);
  const store = new RedisStore({ redis, clock: systemClock, fallback });
  await until('Redis is ready', () => redis.status === 'ready');
  const takes = [takeOf('requests', 6), takeOf('calls', 100)];
  const takeSome = () => Promise.all([1, 2, 3, 4].map(() => store.take(callOf(takes))));
  const before = await takeSome();
  await redis.script('FLUSH');
  const after = await takeSome();
  const taken = [...before, ...after].filter(isTaken);
  expect(taken).toHaveLength(6);
  expect(taken.filter((each) => 'in_memory' in each)).toEqual([]);
  store.stop();
});

test('while Redis is away, each replica counts its share in memory', async () => {
  const own = await startTestRedis();
  const redis = new Redis(own.url, { maxRetriesPerRequest: 1 });
  redis.on('error', () => undefined);
  await redis.ping();
  const fallback = new MemoryStore(systemClock.now, () => 2);
  const store = new RedisStore({ redis, clock: systemClock, fallback });
  await own.stop();
  const takes = [takeOf('requests', 100)];
  const answers = [];
  for (let n = 0; n < 5; n += 1) answers.push(await store.take(callOf(takes)));
  expect(answers.filter(isTaken)).toHaveLength(2);
  store.stop();
  redis.disconnect();
});
