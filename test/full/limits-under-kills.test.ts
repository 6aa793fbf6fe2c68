/**
 * Budgets and limits of keys on three whole replicas, of which two are killed with -9 under load. The simulator's books
 * tell what was really served: a limit is exact with Redis, and never exceeded without it; a budget is exact either way.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Call } from '../../simulator/shared/books.ts';
import { compareBooks } from '../support/books/compare-books.ts';
import { configOf } from '../support/installation.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir, type WeirOptions } from '../support/weir.ts';

setDefaultTimeout(300_000);

const NANO = 1e9;
const CALLERS = 8;
const LOAD_MS = 14_000;
/** When which replica is killed after the load begins, ms. Another takes its place at once. */
const KILLS = [
  [3_000, 1],
  [7_000, 2],
] as const;
const REQUESTS = 60;
const CONCURRENT = 6;
/** A call lasts for so long at the provider, and longer at Weir. */
const LATENCY_MS = 300;
const MINUTE_MS = 60_000;
/**
 * A call counts from its admission, and the simulator notes its arrival. The first call of a replica arrives later than
 * others, so that a call a minute later may arrive less than a minute later, ms.
 */
const ARRIVAL_MS = 3_000;

interface Key {
  id: string;
  key: string;
  used_amount: number;
}
interface Budget {
  used_amount: number;
}

/** Three replicas on one database, with Redis or without it. */
class World {
  private constructor(
    readonly simulator: RunningSimulator,
    readonly database: TestDatabase,
    readonly redis: TestRedis | undefined,
    private readonly options: WeirOptions,
    readonly replicas: RunningWeir[],
  ) {}

  static async start(has_redis: boolean): Promise<World> {
    const [simulator, database] = await Promise.all([startSimulator(), createTestDatabase()]);
    const redis = has_redis ? await startTestRedis() : undefined;
    const env = { DATABASE_URL: database.url, ...(redis ? { REDIS_URL: redis.url } : {}) };
    const options = { config: configOf(simulator.url), env };
    const first = await startWeir(options);
    const others = await Promise.all([startWeir(options), startWeir(options)]);
    return new World(simulator, database, redis, options, [first, ...others]);
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.stop()));
    await this.simulator.stop();
    await this.redis?.stop();
    await this.database.drop();
  }

  async manage<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const [{ base_url, management_token }] = this.replicas as [RunningWeir];
    const response = await fetch(`${base_url}/v1/management${path}`, {
      method,
      headers: { authorization: `Bearer ${management_token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Answer;
  }

  /** Returns the status of a call; 0 if its connection broke. `name` is in the provider's books. */
  async call(replica: number, { key }: Key, name: string, stream = false): Promise<number> {
    const content = `Say what a longer question would ask for [[sim tokens=1 latency_ms=${LATENCY_MS}]]`;
    try {
      const response = await fetch(`${this.replicas[replica]?.base_url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          ...{ model: 'gpt-4o-mini', stream, max_tokens: 1, user: name },
          messages: [{ role: 'user', content }],
        }),
      });
      await response.text();
      return response.status;
    } catch {
      return 0;
    }
  }

  /** Calls with each key from all replicas, and kills two of them meanwhile. Returns the statuses of each key. */
  async load(keys: Readonly<Record<string, Key>>): Promise<Record<string, number[]>> {
    const end = performance.now() + LOAD_MS;
    const statuses: Record<string, number[]> = {};
    const callers = Object.entries(keys).flatMap(([name, key]) => {
      const seen: number[] = [];
      statuses[name] = seen;
      return Array.from({ length: CALLERS * 3 }, async (_, caller) => {
        while (performance.now() < end) {
          const status = await this.call(caller % 3, key, name, caller % 2 === 0);
          seen.push(status);
          if (status !== 200) await Bun.sleep(200);
        }
      });
    });
    const kills = KILLS.map(async ([after_ms, at]) => {
      await Bun.sleep(after_ms);
      this.replicas[at]?.kill('SIGKILL');
      await this.replicas[at]?.exited;
      this.replicas[at] = await startWeir(this.options);
    });
    await Promise.all([...callers, ...kills]);
    return statuses;
  }

  /** The calls of a key that the provider began to answer, oldest first. */
  async served(name: string): Promise<Call[]> {
    const { calls } = await this.simulator.closedBooks();
    return calls.filter(({ client_reference }) => client_reference === name);
  }
}

/** The most calls that begin within so many milliseconds. */
function mostWithin(calls: readonly Call[], ms: number): number {
  const times = calls.map(({ at }) => at).sort((one, other) => one - other);
  return Math.max(
    0,
    ...times.map((from) => times.filter((at) => at >= from && at < from + ms).length),
  );
}

let exact: World;
let shared: World;
beforeAll(async () => {
  [exact, shared] = await Promise.all([World.start(true), World.start(false)]);
});
afterAll(() => Promise.all([exact?.stop(), shared?.stop()]));

async function limitedKey(world: World, limit: object): Promise<Key> {
  const key = await world.manage<Key>('POST', '/api-keys', {});
  await world.manage('PATCH', `/api-keys/${key.id}`, { limits: [limit] });
  return key;
}

async function priceOfOne(world: World): Promise<number> {
  const { id, key, used_amount } = await world.manage<Key>('POST', '/api-keys', {});
  expect(await world.call(0, { id, key, used_amount }, 'price')).toBe(200);
  const paid = await until('the price is known', async () => {
    const now = await world.manage<Key>('GET', `/api-keys/${id}`);
    return now.used_amount > 0 && now.used_amount;
  });
  return Math.round(paid * NANO);
}

test('with Redis: limits are exact, and budgets are never overspent, despite two kills', async () => {
  const price = await priceOfOne(exact);
  const limited = await limitedKey(exact, { requests_per_minute: REQUESTS });
  const narrow = await limitedKey(exact, { concurrent_calls: CONCURRENT });
  const budgeted = await exact.manage<Key>('POST', '/api-keys', {});
  const { id } = await exact.manage<{ id: string }>('POST', '/budgets', {
    ...{ api_key_id: budgeted.id, period: 'day', limit_amount: (price * 50.5) / NANO },
  });
  const statuses = await exact.load({ limited, narrow, budgeted });

  const served = await exact.served('limited');
  expect(served.length).toBeLessThanOrEqual(REQUESTS);
  // A killed replica may have counted a call, and not have sent it.
  const broken = statuses['limited']?.filter((status) => status === 0).length ?? 0;
  expect(served.length + broken).toBeGreaterThanOrEqual(REQUESTS);
  const side_by_side = await exact.served('narrow');
  expect(side_by_side.length).toBeGreaterThan(CONCURRENT);
  expect(mostWithin(side_by_side, LATENCY_MS)).toBeLessThanOrEqual(CONCURRENT);
  const unexpected = Object.values(statuses)
    .flat()
    .filter((status) => ![0, 200, 402, 429].includes(status));
  expect(unexpected).toEqual([]);

  // Money of killed replicas is free when their leases have ended. Then the budget pays for the rest of its calls.
  let [caller, passed] = [0, 0];
  const isSpent = async () => {
    caller += 1;
    if ((await exact.call(caller % 3, budgeted, 'budgeted')) === 200) passed += 1;
    const { used_amount } = await exact.manage<Budget>('GET', `/budgets/${id}`);
    return Math.round(used_amount * NANO) === price * 50;
  };
  await until('the budget is spent', isSpent, 120_000);
  for (const replica of [0, 1, 2])
    expect(await exact.call(replica, budgeted, 'budgeted')).toBe(402);
  const whole = statuses['budgeted']?.filter((status) => status === 200).length ?? 0;
  expect(whole + passed).toBeLessThanOrEqual(50);
  const differences = await compareBooks({
    ...{ simulator_url: exact.simulator.url, sql: exact.database.sql, seed: 'kills', killed: true },
  });
  expect(differences).toEqual([]);
  expect(await findMoneyFaults(exact.database.sql)).toEqual([]);
});

test('without Redis: no minute has more than the limit, despite two kills', async () => {
  const limited = await limitedKey(shared, {
    ...{ requests_per_minute: REQUESTS, concurrent_calls: CONCURRENT },
  });
  // A replica that joins waits until others have left it its share.
  for (const replica of [0, 1, 2]) {
    await until(
      `replica ${replica} serves`,
      async () => {
        const status = await shared.call(replica, limited, 'limited');
        if (status !== 200) await Bun.sleep(1_000);
        return status === 200;
      },
      150_000,
    );
  }
  await shared.load({ limited });
  const served = await shared.served('limited');
  expect(mostWithin(served, MINUTE_MS - ARRIVAL_MS)).toBeLessThanOrEqual(REQUESTS);
  expect(mostWithin(served, LATENCY_MS)).toBeLessThanOrEqual(CONCURRENT);
  // The replica that was never killed has its whole share.
  expect(served.length).toBeGreaterThanOrEqual(REQUESTS / 3);
  expect(await findMoneyFaults(shared.database.sql)).toEqual([]);
});
