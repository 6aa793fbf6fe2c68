import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connectDatabase, type Database } from '../../db/client.ts';
import { Channels } from '../../src/actors/channels/channels.ts';
import { systemClock, systemIdSource } from '../../src/actors/clock.ts';
import { InspectionFeed, type Observation } from '../../src/actors/durable/inspection.ts';
import { Lane } from '../../src/actors/money/lane.ts';
import { Quotas } from '../../src/actors/money/quotas.ts';
import { FAILURES_TO_OPEN } from '../../src/machines/channel.ts';
import { channelEvents, publishSums, quotaEvents } from '../../src/start/inspection.ts';
import { RetryableUpstreamError } from '../../src/upstreams/contract.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { channelConfig } from '../support/channels.ts';
import { noHints } from '../support/money-hints.ts';
import { createTestDatabase } from '../support/postgres.ts';

/** The events that were observed, with the state after each. */
const seen = (observed: Observation[]) => observed.map(({ event, value }) => [event.type, value]);

const newFeed = () => new InspectionFeed();

describe('the feed gets the events of circuits', () => {
  const setUp = () => {
    const feed = newFeed();
    const configs = [channelConfig('a', { models: { x: 'x' } })];
    const clock = new VirtualClock();
    const nothing = () => undefined;
    const channels = new Channels(configs, clock, nothing, nothing, channelEvents(feed));
    const broken = () => new RetryableUpstreamError('server', 'broken');
    const fail = () => channels.find('a', 'x')?.tryAcquire()?.failed(broken());
    const succeed = () => channels.find('a', 'x')?.tryAcquire()?.succeeded();
    return { feed, channels, fail, succeed };
  };

  test('each event while somebody watches', () => {
    const { feed, fail, succeed } = setUp();
    const observed: Observation[] = [];
    feed.watch((observation) => observed.push(observation));
    fail();
    succeed();
    expect(seen(observed)).toEqual([
      ['FAILED', 'healthy'],
      ['SUCCEEDED', 'healthy'],
    ]);
    expect(observed[0]).toMatchObject({ kind: 'channel', id: 'a/x', seq: 1, taken: true });
  });

  test('none while nobody watches, and the actor keeps the last ones', () => {
    const { feed, channels, fail } = setUp();
    for (let time = 0; time < FAILURES_TO_OPEN; time += 1) fail();
    const observed: Observation[] = [];
    feed.watch((observation) => observed.push(observation));
    expect(observed).toEqual([]);
    const { ring } = channels.find('a', 'x') ?? {};
    expect(ring?.events.map(({ event, after }) => [event.type, after.value])).toEqual([
      ...Array.from({ length: 2 }, () => ['FAILED', 'healthy']),
      ...Array.from({ length: 2 }, () => ['FAILED', 'degraded']),
      ['FAILED', 'open'],
    ]);
  });
});

describe('the feed gets the events of quotas', () => {
  let database: Database;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const fresh = await createTestDatabase();
    drop = fresh.drop;
    database = connectDatabase(fresh.url, { pool: 'lane' });
    const { sql } = database;
    await sql`insert into organization (id, name, deposited_nano_usd, balance_nano_usd)
      values ('org', 'test', 1000000, 1000000)`;
    await sql`insert into deposit (id, organization_id, amount_nano_usd)
      values (gen_random_uuid(), 'org', 1000000)`;
    await sql`insert into api_key (id, organization_id, name, key_hash, key_prefix)
      values ('key', 'org', 'test', 'hash', 'sk-')`;
    await sql`insert into replica (id, lease_until) values ('replica', now() + interval '1 h')`;
  });

  afterAll(async () => {
    await database.close();
    await drop();
  });

  test('calls that need no event are published as one sum, and only while somebody watches', async () => {
    const { sql } = database;
    const clock = new VirtualClock();
    const feed = newFeed();
    const quotas = new Quotas({
      lane: new Lane({ sql, clock: systemClock, hints: noHints, onError: () => undefined }),
      clock: systemClock,
      ids: systemIdSource,
      replica_id: () => 'replica',
      mayAdmit: () => true,
      onFenced: () => undefined,
      onEvent: quotaEvents(feed),
    });
    const stop = publishSums(feed, quotas, clock);
    const quota = quotas.getOrCreate({ id: 'key', organization_id: 'org' });
    const signal = new AbortController().signal;
    (await quota.reserve({ amount: 10, minimum: () => 10, signal })).release();
    quotas.sendCalls();
    const observed: Observation[] = [];
    const calls = [quota.tryReserve(10), quota.tryReserve(10)];
    clock.advance(1_000);
    const unwatch = feed.watch((observation) => observed.push(observation));
    observed.length = 0;
    clock.advance(1_000);
    expect(seen(observed).map(([type]) => type)).toEqual(['CALLS']);
    expect(observed[0]).toMatchObject({ kind: 'quota', id: 'key', organization_id: 'org' });
    clock.advance(1_000);
    expect(seen(observed)).toHaveLength(1);
    for (const call of calls) call?.release();
    unwatch();
    clock.advance(1_000);
    expect(seen(observed)).toHaveLength(1);
    stop();
    await quotas.close();
  });
});
