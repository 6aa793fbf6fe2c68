/** What listening to arriving calls costs, and its limits. */
import { describe, expect, test } from 'bun:test';
import type { Messages, Topic } from '../../../src/actors/bus/messages.ts';
import { isMessage } from '../../../src/actors/bus/messages.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { ArrivalRing } from '../../../src/inference/records/arrival-ring.ts';
import { type ArrivalStream, Arrivals } from '../../../src/inference/records/arrivals.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';

/** A replica whose bus notes what is published, and delivers what the test sends. */
function startReplica(peerCount = 1) {
  const clock = new VirtualClock();
  const ring = new ArrivalRing();
  const published: [Topic, unknown][] = [];
  const subscribers = new Map<Topic, (message: never) => void>();
  const errors: unknown[] = [];
  const keyReads: string[][] = [];
  const arrivals = new Arrivals({
    ...{ ring, clock, replica_id: () => 'replica_own' },
    bus: {
      peerCount,
      publish: (topic, message) => {
        expect(isMessage(topic, message)).toBe(true);
        published.push([topic, message]);
      },
      subscribe: (topic, { onMessage }) => {
        subscribers.set(topic, onMessage as never);
        return () => subscribers.delete(topic);
      },
    },
    readKeys: async (ids) => {
      keyReads.push([...ids]);
      return new Map();
    },
    onError: (error) => errors.push(error),
  });
  let calls = 0;
  return {
    ...{ clock, ring, arrivals, published, errors },
    published_to: (topic: Topic) => published.filter(([each]) => each === topic),
    deliver: <T extends Topic>(topic: T, message: Messages[T]) =>
      subscribers.get(topic)?.(message as never),
    /** Notes a call that is refused at once. */
    call(error: unknown = new WeirError('invalid_api_key', 'The API key is not valid.')) {
      calls += 1;
      const uuid = `00000000-0000-7000-8000-${String(calls).padStart(12, '0')}`;
      const request = { method: 'POST', url: 'http://weir/v1/chat/completions' };
      const slot = ring.begin(uuid, '/v1/chat/completions', performance.now(), { request });
      const stranger = { key_prefix: null, path: '/v1/chat/completions', program: 'curl' };
      slot.end(uuid, undefined, 401, error, stranger);
      return uuid;
    },
    /** Lets time pass, with the work that it causes. */
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.advance(100);
        for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      }
    },
  };
}

async function newsIn(stream: ArrivalStream | undefined) {
  return (await stream?.next(0)) ?? [];
}

describe('while nobody listens', () => {
  test('nothing is published, and no timer runs', async () => {
    const { call, published, clock, pass } = startReplica();
    for (let number = 0; number < 1_000; number += 1) call();
    await pass(60_000);
    expect(published).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('the ring keeps the latest 64 calls, in the same slots', () => {
    const { ring, call } = startReplica();
    const uuids = Array.from({ length: 200 }, () => call());
    const slots = new Set(ring.all());
    expect(ring.all().map(({ uuid }) => uuid)).toEqual(uuids.slice(-64));
    call();
    expect(ring.all().every((slot) => slots.has(slot))).toBe(true);
  });

  test('a call that ends after its slot was used again changes nothing', () => {
    const { ring, call } = startReplica();
    const request = { method: 'POST', url: 'http://weir/' };
    const slow = ring.begin('slow', '/v1/messages', 0, { request });
    for (let number = 0; number < 64; number += 1) call();
    slow.end('slow', undefined, 200, undefined, undefined);
    expect(ring.all().every(({ status }) => status === 401)).toBe(true);
  });
});

describe('a listener', () => {
  test('gets the latest calls, then each new one once', async () => {
    const replica = startReplica();
    replica.call();
    const stream = replica.arrivals.open(undefined);
    await replica.pass(1_000);
    expect((await newsIn(stream)).map(({ call }) => call?.status)).toEqual([401]);
    replica.call();
    await replica.pass(1_000);
    expect(await newsIn(stream)).toHaveLength(1);
    await replica.pass(5_000);
    expect(await newsIn(stream)).toEqual([]);
    expect(replica.errors).toEqual([]);
    // Nobody listens at another replica.
    expect(replica.published_to('arrivals')).toEqual([]);
  });

  test('hears of calls that came too fast', async () => {
    const replica = startReplica();
    const stream = replica.arrivals.open(undefined);
    await replica.pass(1_000);
    for (let number = 0; number < 100; number += 1) replica.call();
    await replica.pass(300);
    const news = await newsIn(stream);
    expect(news.find(({ skipped }) => skipped)?.skipped).toEqual({
      replica: 'replica_own',
      calls: 36,
    });
    expect(news.filter(({ call }) => call)).toHaveLength(64);
  });

  test('that reads nothing is closed, and costs no memory', async () => {
    const replica = startReplica();
    const stream = replica.arrivals.open(undefined);
    for (let round = 0; round < 50; round += 1) {
      for (let number = 0; number < 64; number += 1) replica.call();
      await replica.pass(300);
    }
    const news = (await stream?.next(0)) ?? [];
    expect(news.length).toBeLessThanOrEqual(2_000);
    expect(await stream?.next(0)).toBeNull();
  });

  test('makes its replica ask the others until it leaves', async () => {
    const replica = startReplica();
    const stream = replica.arrivals.open(undefined);
    expect(replica.published_to('arrivals_asked')).toEqual([
      ['arrivals_asked', { replica: 'replica_own', is_first: true }],
    ]);
    await replica.pass(10_000);
    expect(replica.published_to('arrivals_asked').length).toBeGreaterThan(2);
    stream?.close();
    await replica.pass(5_000);
    const asked = replica.published_to('arrivals_asked').length;
    await replica.pass(30_000);
    expect(replica.published_to('arrivals_asked')).toHaveLength(asked);
    expect(replica.clock.pending).toBe(0);
  });

  test('of too many is refused', () => {
    const { arrivals } = startReplica();
    const streams = Array.from({ length: 201 }, () => arrivals.open(undefined));
    expect(streams.at(199)).toBeDefined();
    expect(streams.at(200)).toBeUndefined();
    streams[0]?.close();
    expect(arrivals.open(undefined)).toBeDefined();
  });
});

describe('a replica that is asked', () => {
  const ask = { replica: 'replica_other', is_first: true };

  test('sends its calls until it is no longer asked', async () => {
    const replica = startReplica();
    replica.call();
    replica.deliver('arrivals_asked', ask);
    await replica.pass(1_000);
    expect(replica.published_to('arrivals')).toHaveLength(1);
    replica.call();
    await replica.pass(1_000);
    expect(replica.published_to('arrivals')).toHaveLength(2);
    await replica.pass(12_000);
    replica.call();
    await replica.pass(5_000);
    expect(replica.published_to('arrivals')).toHaveLength(2);
    expect(replica.clock.pending).toBe(0);
  });

  test('sends texts that fit into a notification of PostgreSQL', async () => {
    const replica = startReplica();
    const long = '\u0001'.repeat(5_000);
    replica.call(new WeirError('invalid_request', long, { param: 'a', hint: long }));
    replica.deliver('arrivals_asked', ask);
    await replica.pass(1_000);
    const [message] = replica.published_to('arrivals');
    expect(JSON.stringify(message).length).toBeLessThan(7_000);
  });

  test('by itself sends nothing', async () => {
    const replica = startReplica();
    replica.call();
    replica.deliver('arrivals_asked', { replica: 'replica_own', is_first: true });
    await replica.pass(2_000);
    expect(replica.published).toEqual([]);
  });
});
