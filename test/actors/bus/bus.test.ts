/** The bus on a simulated network and clock. */
import { describe, expect, test } from 'bun:test';
import { Bus } from '../../../src/actors/bus/bus.ts';
import { inProcessTransport } from '../../../src/actors/bus/in-process.ts';
import { MAX_QUEUED_BYTES } from '../../../src/actors/bus/outgoing.ts';
import { MAX_PEERS } from '../../../src/actors/bus/peers.ts';
import { SEND_TIMEOUT_MS } from '../../../src/actors/bus/sender.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { BusWorld, countGaps, testBus } from '../../support/bus.ts';

/** Longer than a replica starts, and than a silent sender is remembered. */
const LONG_MS = 3_000;

async function startedPair() {
  const world = new BusWorld();
  const [a, b] = [await world.join(), await world.join()];
  await world.pass(LONG_MS);
  return { world, a, b };
}

describe('messages', () => {
  test('reach this replica before publish returns, and the others in their order', async () => {
    const { world, a, b } = await startedPair();
    for (const name of ['1', '2', '3']) a.send(name);
    expect(a.received).toEqual(['1', '2', '3']);
    expect(b.received).toEqual([]);
    await world.pass(10);
    expect(b.received).toEqual(['1', '2', '3']);
    expect(a.received).toEqual(['1', '2', '3']);
    expect(a.gaps() + b.gaps()).toBe(0);
  });

  test('of the same tick share an envelope; more than fit are split', async () => {
    const { world, a, b } = await startedPair();
    const before = a.transport.sent.length;
    const names = Array.from({ length: 500 }, (_, index) => `organization ${index}`);
    for (const name of names) a.send(name);
    await world.pass(10);
    expect(b.received).toEqual(names);
    const sent = a.transport.sent.slice(before);
    expect(sent.length).toBeGreaterThan(1);
    expect(sent.length).toBeLessThan(10);
    for (const text of sent) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8_000);
  });

  test('that a subscriber publishes reach every subscriber after the first message', () => {
    const { bus, received } = testBus(inProcessTransport, new VirtualClock());
    const order: string[] = [];
    bus.subscribe('key', {
      onMessage: ({ key_id }) => {
        order.push(key_id);
        if (key_id === 'first') bus.publish('key', { key_id: 'second' });
      },
      onGap: () => undefined,
    });
    const later: string[] = [];
    bus.subscribe('key', { onMessage: ({ key_id }) => later.push(key_id), onGap: () => undefined });
    bus.publish('key', { key_id: 'first' });
    expect(order).toEqual(['first', 'second']);
    expect(later).toEqual(['first', 'second']);
    expect(received).toEqual([]);
  });

  test('a subscriber that throws is reported, and the others get the message', () => {
    const { bus, received, errors, send } = testBus(inProcessTransport, new VirtualClock());
    const end = bus.subscribe('money', {
      onMessage: () => {
        throw new Error('a defect');
      },
      onGap: () => undefined,
    });
    send('1');
    end();
    send('2');
    expect(received).toEqual(['1', '2']);
    expect(errors).toHaveLength(1);
  });

  test('within one process need no timer and no heartbeat', async () => {
    const clock = new VirtualClock();
    const { bus, received, gaps, send } = testBus(inProcessTransport, clock);
    await bus.start();
    send('1');
    bus.publishGap('money');
    expect([received, gaps(), clock.pending]).toEqual([['1'], 1, 0]);
    await bus.stop();
  });

  test('published before the start or just before the stop are sent', async () => {
    const world = new BusWorld();
    const listener = await world.join();
    const early = testBus(world.network.transport(), world.clock);
    early.send('before the start');
    await early.bus.start();
    await world.pass(10);
    early.send('before the stop');
    const stopped = early.bus.stop();
    await world.pass(10);
    await stopped;
    await world.pass(LONG_MS);
    expect(listener.received).toEqual(['before the start', 'before the stop']);
    expect(listener.gaps()).toBe(0);
    expect(listener.bus.peerCount).toBe(0);
  });
});

describe('a gap', () => {
  test('is not reported when a replica starts, whatever the others sent before', async () => {
    const world = new BusWorld();
    const old = await world.join();
    for (let time = 0; time < 5; time += 1) {
      old.send('x');
      await world.pass(1_000);
    }
    const fresh = await world.join();
    await world.pass(LONG_MS);
    old.send('y');
    await world.pass(10);
    expect(fresh.received).toEqual(['y']);
    expect([old.gaps(), fresh.gaps()]).toEqual([0, 0]);
    expect([old.bus.peerCount, fresh.bus.peerCount]).toEqual([1, 1]);
  });

  test('is reported once for a lost envelope, with the next heartbeat at the latest', async () => {
    const { world, a, b } = await startedPair();
    world.network.carry = (text, _, to) =>
      to === b.transport && text.includes('lost') ? [] : [text];
    a.send('lost');
    await world.pass(600);
    expect([b.received, b.gaps(), a.gaps()]).toEqual([[], 1, 0]);
    a.send('next');
    await world.pass(LONG_MS);
    expect([b.received, b.gaps()]).toEqual([['next'], 1]);
  });

  test('is reported at most every 500 ms, and none is left out', async () => {
    const { world, a, b } = await startedPair();
    world.network.carry = (text, _, to) =>
      to === b.transport && text.includes('lost') ? [] : [text];
    for (let time = 0; time < 50; time += 1) {
      a.send('lost');
      await world.pass(10);
      a.send('arrives');
      await world.pass(10);
    }
    expect(b.gaps()).toBeGreaterThanOrEqual(2);
    expect(b.gaps()).toBeLessThanOrEqual(3);
    const before = b.gaps();
    await world.pass(500);
    expect(b.gaps()).toBe(before + 1);
  });

  test('is reported if a sender falls silent, which is then forgotten', async () => {
    const { world, a, b } = await startedPair();
    a.transport.crash();
    world.network.carry = (text, from) => (from === a.transport ? [] : [text]);
    await world.pass(1_400);
    expect(b.gaps()).toBe(0);
    await world.pass(1_000);
    expect([b.gaps(), b.bus.peerCount]).toEqual([1, 0]);
    await world.pass(LONG_MS);
    expect(b.gaps()).toBe(1);
  });

  test('is reported if a sender was forgotten, sent something and is received again', async () => {
    const { world, a, b } = await startedPair();
    a.send('1');
    await world.pass(100);
    world.network.carry = (text, from, to) =>
      from === a.transport && to === b.transport ? [] : [text];
    await world.pass(2_500);
    const before = b.gaps();
    a.send('2');
    await world.pass(1_000);
    world.network.carry = (text) => [text];
    await world.pass(1_000);
    expect(b.gaps()).toBe(before + 1);
  });

  test('is reported each second while the transport is away, and once when it is back', async () => {
    const { world, a } = await startedPair();
    world.network.carry = () => [];
    await world.pass(6_000);
    expect(a.gaps()).toBeGreaterThanOrEqual(4);
    expect(a.gaps()).toBeLessThanOrEqual(6);
    await world.pass(5_000);
    expect(a.transport.restarts).toBe(1);
    const before = a.gaps();
    world.network.carry = (text) => [text];
    await world.pass(1_200);
    expect(a.gaps()).toBeGreaterThan(before);
    const after = a.gaps();
    await world.pass(LONG_MS);
    expect(a.gaps()).toBe(after);
  });

  test('is reported if the transport subscribed again', async () => {
    const { world, a } = await startedPair();
    a.transport.events?.onSubscribed();
    await world.pass(10);
    expect(a.gaps()).toBe(1);
  });

  test.each([
    ['no JSON', 'hello'],
    ['no envelope', '{"from":"a"}'],
    ['a wrong number', '{"from":"a","run":"b","seq":-1,"messages":[]}'],
    ['a text that is too long', ' '.repeat(8_001)],
  ])('is reported for %s', async (_, text) => {
    const { a } = await startedPair();
    a.transport.events?.onText(text);
    expect([a.gaps(), a.errors]).toEqual([1, []]);
  });

  test('is reported for a malformed message, to the subscribers of its topic', async () => {
    const { a } = await startedPair();
    const keyGaps = countGaps(a.bus, 'key');
    const messages = [
      ['money', { organization_id: 1 }],
      ['newer', {}],
      ['money', { organization_id: 'fine', added: 1 }],
    ];
    a.transport.events?.onText(JSON.stringify({ from: 'c', run: 'c', seq: 1, messages }));
    expect([a.gaps(), keyGaps(), a.received]).toEqual([1, 0, ['fine']]);
  });

  test('replaces a message that fits into no envelope', async () => {
    const { world, a, b } = await startedPair();
    const keyGaps = countGaps(b.bus, 'key');
    a.send('1');
    a.send('é'.repeat(4_000));
    a.send('2');
    await world.pass(600);
    expect([b.received, b.gaps(), keyGaps()]).toEqual([['1', '2'], 1, 0]);
    expect(a.received).toHaveLength(3);
  });

  test('follows if the queue is full, and the queue stays bounded', async () => {
    const { world, a, b } = await startedPair();
    let free: () => void = () => undefined;
    a.transport.onSend = () => new Promise((resolve) => (free = resolve));
    const long = 'x'.repeat(7_000);
    const fitting = Math.floor(MAX_QUEUED_BYTES / long.length);
    for (let time = 0; time < fitting + 100; time += 1) a.send(long);
    await world.pass(20);
    a.transport.onSend = undefined;
    free();
    await world.pass(SEND_TIMEOUT_MS);
    expect(b.received.length).toBeGreaterThan(fitting - 10);
    expect(b.received.length).toBeLessThanOrEqual(fitting);
    expect(b.gaps()).toBeGreaterThan(0);
    expect(a.received).toHaveLength(fitting + 100);
  });

  test('follows if the transport refuses an envelope, also at a replica that starts just then', async () => {
    const { world, a, b } = await startedPair();
    a.transport.onSend = () => Promise.reject(new Error('away'));
    const fresh = await world.join();
    a.send('refused');
    await world.pass(100);
    a.transport.onSend = undefined;
    await world.pass(1_000);
    expect([b.gaps() > 0, fresh.gaps() > 0]).toEqual([true, true]);
    expect(a.errors).toHaveLength(1);
  });

  test('follows if the transport never answers', async () => {
    const { world, a, b } = await startedPair();
    a.transport.onSend = () => new Promise(() => undefined);
    a.send('stuck');
    await world.pass(SEND_TIMEOUT_MS + 100);
    a.transport.onSend = undefined;
    a.send('next');
    await world.pass(1_000);
    expect([b.received, b.gaps() > 0]).toEqual([['next'], true]);
  });

  test('can be published, and reaches this replica and the others', async () => {
    const { world, a, b } = await startedPair();
    a.bus.publishGap('money');
    expect(a.gaps()).toBe(1);
    await world.pass(10);
    expect(b.gaps()).toBe(1);
    expect(b.bus.gaps).toBe(1);
  });

  test('is reported if more senders speak than are remembered', async () => {
    const { a } = await startedPair();
    for (let sender = 0; sender < MAX_PEERS + 10; sender += 1) {
      a.transport.events?.onText(
        JSON.stringify({ from: 'x', run: `run ${sender}`, seq: 0, messages: [] }),
      );
    }
    expect(a.bus.peerCount).toBe(MAX_PEERS);
    expect(a.gaps()).toBe(1);
  });
});

test('a bus starts although its transport is away, and reports a gap when it is back', async () => {
  const clock = new VirtualClock();
  const world = new BusWorld();
  const transport = world.network.transport();
  let connect: () => void = () => undefined;
  const late = Object.assign(Object.create(transport), {
    start: (events: Parameters<typeof transport.start>[0]) =>
      new Promise<void>((resolve) => {
        connect = () => void transport.start(events).then(resolve);
      }),
  }) as typeof transport;
  const { bus, gaps } = testBus(late, clock);
  const started = bus.start();
  clock.advance(2_000);
  await started;
  expect(bus).toBeInstanceOf(Bus);
  expect(gaps()).toBe(0);
  connect();
  expect(gaps()).toBe(1);
});
