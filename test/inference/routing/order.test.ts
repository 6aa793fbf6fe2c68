import { describe, expect, test } from 'bun:test';
import { orderChannels } from '../../../src/inference/routing/order.ts';
import type { ChannelConfig } from '../../../src/upstreams/contract.ts';
import { Random } from '../../sim/random.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { channelActor, channelConfig as config } from '../../support/channels.ts';

/** Creates channels. Each channel has run one call of the given time, ms. */
function scene(...configs: [config: ChannelConfig, ms?: number][]) {
  const clock = new VirtualClock();
  return configs.map(([each, ms]) => {
    const channel = channelActor(each, clock);
    if (ms === undefined) return channel;
    const permit = channel.tryAcquire();
    clock.advance(ms);
    permit?.succeeded();
    return channel;
  });
}

const ids = (channels: ReturnType<typeof orderChannels>) => channels.map((each) => each.config.id);

/** Counts how often each channel is tried first in 1,000 calls. */
function countFirst(channels: ReturnType<typeof scene>, policy: 'latency' | 'weighted') {
  const random = new Random(3);
  const counts: Record<string, number> = {};
  for (let call = 0; call < 1_000; call += 1) {
    const [first = ''] = ids(orderChannels(channels, () => random.next(), policy));
    counts[first] = (counts[first] ?? 0) + 1;
  }
  return counts;
}

describe('the routing policy of a model', () => {
  test('priority: channels of the same priority keep the order of the file, whatever their weights are', () => {
    const channels = scene(
      [config('b', { priority: 1, weight: 100 })],
      [config('a')],
      [config('c', { priority: 1 })],
    );
    for (const chance of [0.1, 0.9]) {
      expect(ids(orderChannels(channels, () => chance, 'priority'))).toEqual(['a', 'b', 'c']);
    }
  });

  test('latency: a channel that is twice as slow gets a quarter of the calls', () => {
    const counts = countFirst(scene([config('fast'), 100], [config('slow'), 200]), 'latency');
    expect(counts['fast']).toBeGreaterThan(760);
    expect(counts['slow']).toBeGreaterThan(150);
  });

  test('latency: a channel without a known time gets calls too', () => {
    const counts = countFirst(scene([config('known'), 100], [config('new')]), 'latency');
    expect(counts['new']).toBeGreaterThan(400);
    const unknown_times = countFirst(scene([config('one')], [config('other')]), 'latency');
    expect(unknown_times['one']).toBeGreaterThan(400);
  });

  test('price: the cheapest channel first, then by priority', () => {
    const channels = scene(
      [config('list')],
      [config('late', { cost_factor: 0.8, priority: 1 })],
      [config('cheap', { cost_factor: 0.8 })],
    );
    expect(ids(orderChannels(channels, () => 0.5, 'price'))).toEqual(['cheap', 'late', 'list']);
  });

  test('weighted: time and price have no influence', () => {
    const channels = scene([config('slow', { cost_factor: 9 }), 9_000], [config('fast'), 1]);
    const counts = countFirst(channels, 'weighted');
    expect(counts['slow']).toBeGreaterThan(430);
    expect(counts['fast']).toBeGreaterThan(430);
  });
});
