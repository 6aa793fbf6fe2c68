/** The bus over a real PostgreSQL and a real Redis. */
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { Redis } from 'ioredis';
import { connectDatabase } from '../../../db/client.ts';
import { BUS_CHANNEL, PostgresTransport } from '../../../src/actors/bus/postgres.ts';
import { RedisTransport } from '../../../src/actors/bus/redis.ts';
import type { Transport } from '../../../src/actors/bus/transport.ts';
import { systemClock } from '../../../src/actors/clock.ts';
import { type TestBus, testBus } from '../../support/bus.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

/** A server that carries the bus, and ways to break it. */
interface Carrier {
  transport(): Transport;
  /** Sends a text as some other program may do. */
  inject(text: string): Promise<void>;
  /** Closes the connections on which the buses listen. */
  cut(): Promise<void>;
  close(): Promise<void>;
}

async function postgresCarrier(): Promise<Carrier> {
  const database: TestDatabase = await createTestDatabase(15);
  const { sql } = database;
  return {
    transport: () => new PostgresTransport(() => connectDatabase(database.url, { pool: 'single' })),
    inject: async (text) => void (await sql`select pg_notify(${BUS_CHANNEL}, ${text})`),
    cut: async () => {
      const cut = await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query ilike 'listen %'`;
      expect(cut.length).toBeGreaterThan(0);
    },
    close: () => database.drop(),
  };
}

async function redisCarrier(): Promise<Carrier> {
  const server: TestRedis = await startTestRedis();
  const redis = new Redis(server.url);
  return {
    transport: () => new RedisTransport(server.url, 'test_bus', () => undefined),
    inject: async (text) => void (await redis.publish('test_bus', text)),
    cut: async () => {
      expect(await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')).toBeGreaterThan(0);
    },
    async close() {
      redis.disconnect();
      await server.stop();
    },
  };
}

describe.each([
  ['PostgreSQL', postgresCarrier],
  ['Redis', redisCarrier],
] as const)('the bus over %s', (_, open) => {
  let carrier: Carrier;
  let running: TestBus[] = [];
  beforeAll(async () => {
    carrier = await open();
  });
  afterEach(async () => {
    for (const { bus } of running.splice(0)) await bus.stop();
  });
  afterAll(() => carrier.close());

  async function join(count: number): Promise<TestBus[]> {
    running = Array.from({ length: count }, () => testBus(carrier.transport(), systemClock));
    for (const { bus } of running) await bus.start();
    await until('all replicas know each other', () =>
      running.every(({ bus }) => bus.peerCount === count - 1),
    );
    return running;
  }

  test.each([2, 3])('%i replicas get all messages in the order of their senders', async (count) => {
    const members = await join(count);
    const names = members.map((_member, sender) =>
      Array.from({ length: 300 }, (_number, number) => `${sender}/${number}`),
    );
    for (let number = 0; number < 300; number += 1) {
      members.forEach((member, sender) => {
        member.send(names[sender]?.[number] ?? '');
      });
      if (number % 20 === 0) await Bun.sleep(1);
    }
    await until('all messages arrive', () =>
      members.every(({ received }) => received.length === count * 300),
    );
    for (const { received } of members) {
      names.forEach((sent, sender) => {
        expect(received.filter((name) => name.startsWith(`${sender}/`))).toEqual(sent);
      });
    }
  });

  test('after a cut connection a gap follows, and messages arrive again', async () => {
    const [a, b] = (await join(2)) as [TestBus, TestBus];
    const before = [a.gaps(), b.gaps()];
    await carrier.cut();
    await until(
      'both report a gap',
      () => a.gaps() > Number(before[0]) && b.gaps() > Number(before[1]),
    );
    await until('a message arrives', async () => {
      a.send('again');
      await Bun.sleep(50);
      return b.received.includes('again');
    });
  });

  test('a sender that ends without a farewell causes a gap, one that stops does not', async () => {
    const [a, b] = (await join(2)) as [TestBus, TestBus];
    const transport = carrier.transport();
    const dying = testBus(transport, systemClock);
    await dying.bus.start();
    const stopping = testBus(carrier.transport(), systemClock);
    await stopping.bus.start();
    await until('they are received', () => a.bus.peerCount === 3 && b.bus.peerCount === 3);
    const before = a.gaps();
    await stopping.bus.stop();
    await until('one has left', () => a.bus.peerCount === 2);
    expect(a.gaps()).toBe(before);
    await transport.stop();
    await until('its silence is noticed', () => a.bus.peerCount === 1 && b.bus.peerCount === 1);
    await until('the gap is reported', () => a.gaps() > before && b.gaps() > 0);
    await dying.bus.stop();
  });

  test('new connections of a transport cause a gap, and messages arrive over them', async () => {
    const [a] = (await join(2)) as [TestBus, TestBus];
    const transport = carrier.transport();
    const renewed = testBus(transport, systemClock);
    await renewed.bus.start();
    for (let time = 0; time < 3; time += 1) {
      const before = renewed.gaps();
      transport.restart();
      await until('a gap is reported', () => renewed.gaps() > before);
      await until('messages arrive in both directions', async () => {
        a.send(`to ${time}`);
        renewed.send(`from ${time}`);
        await Bun.sleep(50);
        return renewed.received.includes(`to ${time}`) && a.received.includes(`from ${time}`);
      });
    }
    await renewed.bus.stop();
  });

  test('a malformed text causes a gap', async () => {
    const [a] = (await join(2)) as [TestBus];
    const before = a.gaps();
    await carrier.inject('{"hello":');
    await until('a gap is reported', () => a.gaps() > before);
  });

  test('a message that is too long becomes a gap, and the longest one arrives', async () => {
    const [a, b] = (await join(2)) as [TestBus, TestBus];
    const before = b.gaps();
    a.send('x'.repeat(200_000));
    a.send('\u0000"ü');
    a.send('x'.repeat(7_700));
    await until('the others arrive', () => b.received.length === 2);
    expect(b.received).toEqual(['\u0000"ü', 'x'.repeat(7_700)]);
    await until('a gap is reported', () => b.gaps() > before);
  });
});

test('while Redis is away, a replica reports gaps; when it is back, messages arrive', async () => {
  const server = await startTestRedis();
  const members = [1, 2].map(() =>
    testBus(new RedisTransport(server.url, 'test_bus', () => undefined), systemClock),
  );
  const [a, b] = members as [TestBus, TestBus];
  for (const { bus } of members) await bus.start();
  await until('they know each other', () => a.bus.peerCount === 1 && b.bus.peerCount === 1);
  process.kill(server.pid, 'SIGSTOP');
  await until('several gaps are reported', () => a.gaps() >= 3 && b.gaps() >= 3);
  process.kill(server.pid, 'SIGCONT');
  await until('a message arrives', async () => {
    a.send('again');
    await Bun.sleep(50);
    return b.received.includes('again');
  });
  for (const { bus } of members) await bus.stop();
  await server.stop();
});

test('a bus whose Redis is away starts all the same, and reports gaps', async () => {
  const server = await startTestRedis();
  const alone = testBus(new RedisTransport(server.url, 'test_bus', () => undefined), systemClock);
  await server.stop();
  await alone.bus.start();
  await until('a gap is reported', () => alone.gaps() > 0);
  alone.send('here');
  expect(alone.received).toEqual(['here']);
  await alone.bus.stop();
});
