import { describe, expect, test } from 'bun:test';
import { ChannelActor } from '../../src/actors/channel.ts';
import { orderChannels, withFailover } from '../../src/inference/route.ts';
import {
  type ChannelConfig,
  RetryableUpstreamError,
  TerminalUpstreamError,
} from '../../src/upstreams/contract.ts';
import { Random } from '../sim/random.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';

function config(id: string, more: Partial<ChannelConfig> = {}): ChannelConfig {
  return {
    id,
    protocol: 'openai',
    base_url: 'http://127.0.0.1:1',
    api_key: 'k',
    priority: 0,
    weight: 1,
    max_concurrency: 2,
    timeout_ms: 1_000,
    enabled: true,
    models: {},
    ...more,
  };
}

const broken = () => new RetryableUpstreamError('server', 'broken');

describe('the channel actor', () => {
  test('gives as many permits as it may have calls, and each ends once', () => {
    const channel = new ChannelActor(config('a'), new VirtualClock());
    const first = channel.tryAcquire();
    channel.tryAcquire();
    expect(channel.tryAcquire()).toBeNull();
    first?.abandoned();
    first?.abandoned();
    expect(channel.tryAcquire()).not.toBeNull();
    expect(channel.tryAcquire()).toBeNull();
  });

  test('P9: half open it lets one call at a time through; a client that leaves frees the probe', () => {
    const clock = new VirtualClock();
    const channel = new ChannelActor(config('a', { max_concurrency: 100 }), clock);
    for (let time = 0; time < 5; time += 1) channel.tryAcquire()?.failed(broken());
    expect(channel.tryAcquire()).toBeNull();
    clock.advance(channel.availableAt() - clock.now());
    const probe = channel.tryAcquire();
    expect(probe).not.toBeNull();
    expect(channel.tryAcquire()).toBeNull();
    probe?.abandoned();
    const next = channel.tryAcquire();
    expect(channel.state).toBe('probing');
    next?.succeeded();
    expect(channel.state).toBe('degraded');
  });

  test('rests for the time that a throttle names', () => {
    const clock = new VirtualClock();
    const channel = new ChannelActor(config('a'), clock);
    const throttle = new RetryableUpstreamError('throttle', 'busy', 7_000, 429);
    channel.tryAcquire()?.failed(throttle);
    expect(channel.availableAt() - clock.now()).toBe(7_000);
  });

  test('one that is not enabled is never used', () => {
    const channel = new ChannelActor(config('a', { enabled: false }), new VirtualClock());
    expect(channel.tryAcquire()).toBeNull();
    expect(channel.availableAt()).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('routing', () => {
  const clock = new VirtualClock();
  const pool = (...configs: ChannelConfig[]) =>
    configs.map((each) => new ChannelActor(each, clock));
  const surroundings = { now: () => clock.now(), random: () => 0.5 };

  test('lower priority numbers first; among equals by weight', () => {
    const random = new Random(7);
    const channels = pool(
      config('late', { priority: 1 }),
      config('heavy', { weight: 9 }),
      config('light'),
    );
    let heavyFirst = 0;
    for (let time = 0; time < 1_000; time += 1) {
      const order = orderChannels(channels, () => random.next()).map(({ config: { id } }) => id);
      expect(order[2]).toBe('late');
      if (order[0] === 'heavy') heavyFirst += 1;
    }
    expect(heavyFirst).toBeGreaterThan(850);
    expect(heavyFirst).toBeLessThan(950);
  });

  test('a retryable failure moves on, a terminal one stops and blames nobody', async () => {
    const channels = pool(config('a'), config('b', { priority: 1 }));
    const tried: string[] = [];
    const served = await withFailover(channels, surroundings, async ({ channel }) => {
      tried.push(channel.config.id);
      if (channel.config.id === 'a') throw broken();
      return channel.config.id;
    });
    expect([served, tried]).toEqual(['b', ['a', 'b']]);
    const terminal = new TerminalUpstreamError('invalid_request', 'bad', 'n', 400);
    const refused = withFailover(channels, surroundings, async () => {
      throw terminal;
    });
    expect(refused).rejects.toMatchObject({ id: 'invalid_request', details: { param: 'n' } });
    await refused.catch(() => undefined);
    expect(channels[0]?.snapshot.context.consecutive_failures).toBe(1);
  });

  test('what the client is told depends on why nobody served', async () => {
    const failing = (failure: 'throttle' | 'timeout' | 'auth' | 'server') =>
      withFailover(pool(config('only')), surroundings, async () => {
        throw new RetryableUpstreamError(failure, 'x', failure === 'throttle' ? 3_000 : undefined);
      }).catch((error: unknown) => error);
    expect(await failing('throttle')).toMatchObject({
      id: 'rate_limit_exceeded',
      details: { retry_after: 3 },
    });
    expect(await failing('timeout')).toMatchObject({ id: 'timeout_error' });
    expect(await failing('server')).toMatchObject({ id: 'upstream_error' });
    expect(await failing('auth')).toMatchObject({ id: 'all_channels_failed' });
  });
});
