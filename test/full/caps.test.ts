/**
 * P2: a cap is exact, however many replicas share it, for all kinds of callers at the same time.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { configOf } from '../support/installation.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(120_000);

const REPLICAS = 3;
const CALLERS = 96;

let simulator: RunningSimulator;
let redis: TestRedis;
let database: TestDatabase;
let replicas: RunningWeir[];
beforeAll(async () => {
  [simulator, redis, database] = await Promise.all([
    ...[startSimulator(), startTestRedis(), createTestDatabase()],
  ] as const);
  const options = {
    config: configOf(simulator.url),
    env: { DATABASE_URL: database.url, REDIS_URL: redis.url },
  };
  const first = await startWeir(options);
  const others = Array.from({ length: REPLICAS - 1 }, () => startWeir(options));
  replicas = [first, ...(await Promise.all(others))];
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await simulator.stop();
  await redis.stop();
  await database.drop();
});

const replicaOf = (caller: number) => replicas[caller % REPLICAS] as RunningWeir;

interface Key {
  id: string;
  key: string;
  used_amount: number;
}

async function manage<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const { base_url, management_token } = replicaOf(0);
  const response = await fetch(`${base_url}/v1/management${path}`, {
    method,
    headers: { authorization: `Bearer ${management_token}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  expect(response.status).toBe(200);
  return response.json() as Promise<Answer>;
}

async function usedBy(id: string): Promise<number> {
  const { data } = await manage<{ data: Key[] }>('GET', '/api-keys');
  return data.find((each) => each.id === id)?.used_amount ?? Number.NaN;
}

/**
 * Sends a call. By default the answer has one token, so Weir cannot cut the answer to make the call
 * cheaper.
 */
async function call(caller: number, key: string, stream: boolean, tokens = 1): Promise<number> {
  const content = `Say what a longer question would ask for [[sim tokens=${tokens} latency_ms=40]]`;
  const response = await fetch(`${replicaOf(caller).base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'gpt-4o-mini', stream, max_tokens: tokens },
      messages: [{ role: 'user', content }],
    }),
  });
  await response.text();
  return response.status;
}

async function priceOfOne(): Promise<number> {
  const { id, key } = await manage<Key>('POST', '/api-keys', {});
  expect(await call(1, key, false)).toBe(200);
  return Math.round((await usedBy(id)) * 1e9);
}

test.each([false, true])(
  'a cap of 10.5 calls on three replicas lets 10 calls pass; streamed: %p',
  async (stream) => {
    const price = await priceOfOne();
    const limitAmount = (price * 10.5) / 1e9;
    const { id, key } = await manage<Key>('POST', '/api-keys', { limitAmount });
    const passed: number[] = [];
    // A call may be refused only because reservations exceed prices. So all callers send again, until
    // the cap is spent.
    await until('the cap is spent', async () => {
      const statuses = await Promise.all(
        Array.from({ length: CALLERS }, (_, caller) => call(caller, key, stream)),
      );
      passed.push(...statuses.filter((status) => status === 200));
      expect(statuses.filter((status) => status !== 200 && status !== 402)).toEqual([]);
      return passed.length >= 10;
    });
    expect(passed).toHaveLength(10);
    expect(Math.round((await usedBy(id)) * 1e9)).toBe(price * 10);
    // Now no call runs, and an eleventh call is still refused.
    for (const caller of [0, 1, 2]) expect(await call(caller, key, stream)).toBe(402);
    expect(Math.round((await usedBy(id)) * 1e9)).toBe(price * 10);
  },
);

test('if answers are long, the last answer is cut to the rest of the money, and the cap holds', async () => {
  const { id: probe, key: free } = await manage<Key>('POST', '/api-keys', {});
  expect(await call(1, free, false, 400)).toBe(200);
  const price = Math.round((await usedBy(probe)) * 1e9);
  const cap = Math.round(price * 10.5);
  const { id, key } = await manage<Key>('POST', '/api-keys', { limitAmount: cap / 1e9 });
  let passed = 0;
  for (let round = 0; round < 5; round += 1) {
    const statuses = await Promise.all(
      Array.from({ length: CALLERS / 2 }, (_, caller) => call(caller, key, caller % 2 === 0, 400)),
    );
    passed += statuses.filter((status) => status === 200).length;
  }
  expect(passed).toBeGreaterThan(10);
  const used = Math.round((await usedBy(id)) * 1e9);
  expect(used).toBeLessThanOrEqual(cap);
  expect(used).toBeGreaterThan(price * 10);
});

test('twelve caps at the same time are each exact', async () => {
  const price = await priceOfOne();
  const keys = await Promise.all(
    Array.from({ length: 12 }, async (_, n) => {
      const calls = 1 + n;
      const limitAmount = (price * (calls + 0.5)) / 1e9;
      return { calls, ...(await manage<Key>('POST', '/api-keys', { limitAmount })) };
    }),
  );
  const passed = new Map(keys.map(({ id }) => [id, 0]));
  await until('each cap is spent', async () => {
    await Promise.all(
      keys.flatMap(({ id, key }) =>
        Array.from({ length: 9 }, async (_, caller) => {
          if ((await call(caller, key, caller % 2 === 0)) === 200) {
            passed.set(id, (passed.get(id) ?? 0) + 1);
          }
        }),
      ),
    );
    return keys.every(({ id, calls }) => (passed.get(id) ?? 0) >= calls);
  });
  for (const { id, calls } of keys)
    expect({ id, passed: passed.get(id) }).toEqual({ id, passed: calls });
  const { data } = await manage<{ data: Key[] }>('GET', '/api-keys');
  for (const { id, calls } of keys) {
    const used = data.find((each) => each.id === id)?.used_amount ?? 0;
    expect(Math.round(used * 1e9)).toBe(price * calls);
  }
});

test('at the end the ledger agrees with the provider’s books, and no money is held', async () => {
  const { sql } = database;
  await until('nothing is held', async () => {
    const [row] = await sql<{ held: number }[]>`
      select sum(held_nano_usd)::int8 as held from api_key`;
    return row?.held === 0;
  });
  const [row] = await sql<{ lines: number }[]>`select count(*)::int4 as lines from usage_line`;
  const { totals } = await simulator.closedBooks();
  expect(row?.lines).toBe(totals.outcomes.whole);
  expect(await findMoneyFaults(sql)).toEqual([]);
});
