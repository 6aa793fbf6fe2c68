/** Replicas share answers through Redis, which may be killed, stopped or flushed at any time. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Redis } from 'ioredis';
import { newOrganization } from '../../support/another-organization.ts';
import { type CachedReplicas, startCachedReplicas } from '../../support/cached-replicas.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(120_000);

let server: TestRedis;
let redis: Redis;
let world: CachedReplicas;

beforeAll(async () => {
  server = await startTestRedis();
  redis = new Redis(server.url);
  redis.on('error', () => undefined);
  world = await startCachedReplicas(2, { env: { REDIS_URL: server.url } });
});
afterAll(async () => {
  await world.stop();
  redis.disconnect();
  await server.stop();
});

const entries = () => redis.keys('weir:cache:*:e:*');

/** Returns the number of entries, once earlier calls of the replicas are stored. */
async function stored(): Promise<number> {
  let count = (await entries()).length;
  await until('no entry comes any more', async () => {
    const earlier = count;
    await Bun.sleep(200);
    count = (await entries()).length;
    return count === earlier;
  });
  return count;
}

/** Asks the first replica, and waits until Redis has one entry more. */
async function store(prompt: string, more: Parameters<CachedReplicas['ask']>[2] = {}) {
  const before = await stored();
  const asked = await world.ask(0, prompt, more);
  expect(asked.cache).toBe('miss');
  await until('Redis has the entry', async () => (await entries()).length > before);
  return { ...asked, stored_id: asked.request_id.replace('req_', 'ce_') };
}

/**
 * Asks the other replica until it finds the entry in Redis. On a busy machine, Redis may be late; the
 * answer of the upstream is then not stored, so that the next try asks Redis again.
 */
function hitElsewhere(prompt: string) {
  const body = { cache_control: { type: 'no_store' } };
  return until('the other replica has the answer', async () => {
    const asked = await world.ask(1, prompt, { body });
    return asked.cache === 'hit' && asked;
  });
}

describe('an answer of one replica', () => {
  test('is a hit on the other one, whole and streamed, with ids of its own', async () => {
    const { text, stored_id } = await store('Shared');
    const content = JSON.parse(text).choices[0].message.content;
    const hit = await hitElsewhere('Shared');
    expect(hit.entry_id).toBe(stored_id);
    expect(JSON.parse(hit.text).choices[0].message.content).toBe(content);
    expect(JSON.parse(hit.text).id).not.toBe(JSON.parse(text).id);

    const streamed = await store('Shared stream', { stream: true });
    const whole = await hitElsewhere('Shared stream');
    expect(whole.entry_id).toBe(streamed.stored_id);
    expect(JSON.parse(whole.text).choices[0].message.content).not.toBe('');
  });

  test('is no hit for another request with the same last text', async () => {
    await store('The same end');
    const body = {
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'The same end [[sim tokens=4]]' },
      ],
    };
    expect(await world.ask(1, 'The same end', { body })).toMatchObject({ cache: 'miss' });
  });

  test('P6: is no hit for another organization', async () => {
    await store('Ours');
    const key = await newOrganization(world.replicas[0], 'strangers');
    expect(await world.ask(1, 'Ours', { key })).toMatchObject({ cache: 'miss' });
  });

  test('is one that a call with an embedding can use too', async () => {
    const embed = async (replica: number, headers: Record<string, string> = {}) => {
      const { base_url, api_key } = world.replicas[replica] ?? { base_url: '', api_key: '' };
      const response = await fetch(`${base_url}/v1/embeddings`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${api_key}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify({ model: 'text-embedding-3-small', input: 'Shared' }),
      });
      await response.text();
      return response.headers.get('x-weir-cache');
    };
    const before = (await entries()).length;
    expect(await embed(0)).toBe('miss');
    await until('Redis has the entry', async () => (await entries()).length > before);
    await until('the other replica has the embedding', async () => {
      return (await embed(1, { 'x-weir-cache-control': 'no_store' })) === 'hit';
    });
  });

  test('is asked of the upstream once, also by a herd', async () => {
    const calls = async () => (await world.simulator.books()).calls.length;
    const before = await calls();
    const herd = await Promise.all(Array.from({ length: 100 }, () => world.ask(0, 'A herd')));
    expect(herd.filter(({ cache }) => cache === 'miss')).toHaveLength(1);
    expect(await calls()).toBe(before + 1);
  });

  test('that was cut off by its length is sent to nobody', async () => {
    const body = { max_tokens: 2 };
    const before = await stored();
    await world.ask(0, 'Cut off', { body });
    expect(await stored()).toBe(before);
    expect(await world.ask(1, 'Cut off', { body })).toMatchObject({ cache: 'miss' });
  });
});

test('Redis has nothing that can be read, and forgets each entry', async () => {
  await store('A secret question');
  const organization = await world.manage<{ id: string }>(0, 'GET', '/organization');
  const words = ['secret', 'question', 'gpt-4o', 'assistant', organization.id, 'org_', 'key_'];
  for (const name of await redis.keys('weir:cache:*')) {
    const kind = await redis.type(name);
    const listed = kind === 'zset' ? await redis.zrange(name, '0', '-1') : [];
    const counted = kind === 'hash' ? await redis.hgetall(name) : {};
    const value = kind === 'string' ? await redis.getBuffer(name) : Buffer.alloc(0);
    const texts = [name, JSON.stringify({ listed, counted }), value?.toString('latin1') ?? ''];
    for (const word of words) {
      expect(texts.some((text) => text.includes(word))).toBe(false);
    }
    expect(await redis.pttl(name)).toBeGreaterThan(0);
    expect(await redis.pttl(name)).toBeLessThanOrEqual(24 * 3_600_000);
  }
});

test('a value that was moved, changed or cut is a miss', async () => {
  const damage = async (prompt: string, change: (value: Buffer, other: Buffer) => Buffer) => {
    const before = new Set(await entries());
    await store(prompt);
    const name = (await entries()).find((each) => !before.has(each)) ?? '';
    const other = [...before][0] ?? '';
    const [value, foreign] = await redis.mgetBuffer(name, other);
    if (!value || !foreign) throw new Error('Redis has no such value');
    await redis.set(name, change(value, foreign), 'KEEPTTL');
    return (await world.ask(1, prompt)).cache;
  };
  expect(await damage('Moved', (_, other) => other)).toBe('miss');
  expect(
    await damage('Changed', (value) => {
      value[40] = (value[40] ?? 0) ^ 1;
      return value;
    }),
  ).toBe('miss');
  expect(await damage('Cut', (value) => value.subarray(0, 20))).toBe('miss');
  expect(await damage('Empty', () => Buffer.alloc(0))).toBe('miss');
});

test('a replica that is killed after its answer leaves a whole entry or none', async () => {
  for (let round = 0; round < 2; round += 1) {
    const prompts = Array.from({ length: 8 }, (_, index) => `Killed ${round} ${index}`);
    // The process is killed while it stores what it answered.
    await Promise.all(prompts.map((prompt) => world.ask(0, prompt)));
    await world.restart(0);
    for (const prompt of prompts) {
      const other = await world.ask(1, prompt);
      expect(other.status).toBe(200);
      expect(JSON.parse(other.text).choices[0].finish_reason).toBe('stop');
    }
  }
});

test('while Redis is flushed, stopped, or gone, calls are misses, and it is used again later', async () => {
  await store('Before the flush');
  await redis.flushall();
  expect(await world.ask(1, 'Before the flush')).toMatchObject({ status: 200, cache: 'miss' });

  await store('Before the stop');
  process.kill(server.pid, 'SIGSTOP');
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      world.ask(1, index === 0 ? 'Before the stop' : `While stopped ${index}`),
    ),
  );
  for (const { status, cache } of answers) expect([status, cache]).toEqual([200, 'miss']);
  // Its own memory goes on.
  expect(await world.ask(1, 'While stopped 1')).toMatchObject({ cache: 'hit' });
  process.kill(server.pid, 'SIGCONT');
  await until('an answer is shared again', async () => {
    const prompt = `After the stop ${crypto.randomUUID()}`;
    await world.ask(0, prompt);
    await Bun.sleep(50);
    return (await world.ask(1, prompt)).cache === 'hit';
  });

  await server.stop();
  for (let index = 0; index < 5; index += 1) {
    const prompt = `While gone ${index}`;
    expect(await world.ask(1, prompt)).toMatchObject({ status: 200, cache: 'miss' });
    expect(await world.ask(0, prompt)).toMatchObject({ status: 200, cache: 'miss' });
  }
});
