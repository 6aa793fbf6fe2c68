import { describe, expect, test } from 'bun:test';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { orderChannels } from '../../../src/inference/routing/order.ts';
import { MAX_ATTEMPTS, withFailover } from '../../../src/inference/routing/route.ts';
import {
  type ChannelConfig,
  RetryableUpstreamError,
  TerminalUpstreamError,
} from '../../../src/upstreams/contract.ts';
import { Random } from '../../sim/random.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { channelActor, channelConfig as config } from '../../support/channels.ts';

type Failure = RetryableUpstreamError['failure'];

function scene(...configs: ChannelConfig[]) {
  const clock = new VirtualClock();
  const channels = configs.map((each) => channelActor(each, clock));
  const client = new AbortController();
  const options = { now: () => clock.now(), random: () => 0.5, signal: client.signal };
  return { clock, channels, options, client };
}

/**
 * Returns the error for the client if the channels fail in this order. The last failure repeats.
 */
async function refusalAfter(
  { channels, options }: ReturnType<typeof scene>,
  failures: Failure[] = [],
) {
  const remaining = [...failures];
  const refused = await withFailover(channels, options, async () => {
    const failure = remaining.shift() ?? failures.at(-1);
    if (!failure) throw new Error('no channel should have been called');
    throw new RetryableUpstreamError(failure, 'x', {
      retry_after_ms: failure === 'throttle' ? 3_000 : undefined,
    });
  }).catch((error: unknown) => error);
  if (!(refused instanceof WeirError)) throw refused;
  return refused;
}

describe('the order of the channels', () => {
  test('is by priority, then by chance in proportion to the weights', () => {
    const random = new Random(7);
    const { channels } = scene(
      config('late', { priority: 1, weight: 1_000 }),
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

  test('puts the healthier channel first more often', () => {
    const random = new Random(11);
    const { channels } = scene(config('healthy'), config('failing'));
    for (let time = 0; time < 12; time += 1) {
      const permit = channels[1]?.tryAcquire();
      if (time % 3 === 0) permit?.succeeded();
      else permit?.failed(new RetryableUpstreamError('server', 'x'));
    }
    let healthyFirst = 0;
    for (let time = 0; time < 1_000; time += 1) {
      if (orderChannels(channels, () => random.next())[0]?.config.id === 'healthy')
        healthyFirst += 1;
    }
    expect(healthyFirst).toBeGreaterThan(600);
  });
});

describe('failover', () => {
  test('a failure of the upstream leads to the next channel, and counts for its channel alone', async () => {
    const { channels, options } = scene(config('a'), config('b', { priority: 1 }));
    const tried: string[] = [];
    const served = await withFailover(channels, options, async (permit) => {
      const { id } = permit.channel.config;
      tried.push(id);
      if (id === 'a') throw new RetryableUpstreamError('server', 'broken');
      return id;
    });
    expect([served.result, served.permit.channel.config.id, tried]).toEqual([
      ...['b', 'b'],
      ['a', 'b'],
    ]);
    served.permit.succeeded();
    const failures = channels.map((each) => each.snapshot.context.consecutive_failures);
    expect(failures).toEqual([1, 0]);
  });

  test('P9: a client’s error or disconnect ends the call, and counts against no channel', async () => {
    const { channels, options } = scene(config('a', { max_concurrency: 1 }), config('b'));
    const gone = new Error('the client left');
    const terminal = new TerminalUpstreamError('invalid_request', 'bad', 'n', 400);
    for (const thrown of [terminal, gone]) {
      let attempts = 0;
      const refused = await withFailover(channels, options, async () => {
        attempts += 1;
        throw thrown;
      }).catch((error: unknown) => error);
      expect(attempts).toBe(1);
      if (thrown === gone) expect(refused).toBe(gone);
      else expect(refused).toMatchObject({ id: 'invalid_request', details: { param: 'n' } });
    }
    for (const each of channels) {
      expect(each.snapshot.context.consecutive_failures).toBe(0);
      expect(each.canAcquire()).toBe(true);
    }
  });

  test('P7: after an attempt has resolved, no other channel is tried', async () => {
    const { channels, options } = scene(config('a'), config('b'));
    let attempts = 0;
    const { permit } = await withFailover(channels, options, async () => {
      attempts += 1;
    });
    permit.failed(new RetryableUpstreamError('connection', 'broke off in the middle'));
    expect(attempts).toBe(1);
  });

  test('a recovering channel takes more than its share if no other channel is left', async () => {
    const { clock, channels, options } = scene(config('a'));
    const [channel] = channels;
    for (let time = 0; time < 5; time += 1) {
      channel?.tryAcquire()?.failed(new RetryableUpstreamError('server', 'x'));
    }
    clock.advance(60_000);
    channel?.tryAcquire()?.succeeded();
    expect(channel?.tryAcquire()).not.toBeNull();
    expect(channel?.tryAcquire()).toBeNull();
    const { result } = await withFailover(channels, options, async () => 'served');
    expect(result).toBe('served');
  });

  test('tries at most MAX_ATTEMPTS channels', async () => {
    const all = Array.from({ length: 9 }, (_, index) => config(`c${index}`));
    const { channels, options } = scene(...all);
    let attempts = 0;
    await withFailover(channels, options, async () => {
      attempts += 1;
      throw new RetryableUpstreamError('server', 'x');
    }).catch(() => undefined);
    expect(attempts).toBe(MAX_ATTEMPTS);
  });

  test('starts no attempt after the time for failover', async () => {
    const { clock, channels, options } = scene(config('a'), config('b'), config('c'));
    let attempts = 0;
    const refused = await withFailover(channels, options, async () => {
      attempts += 1;
      clock.advance(300_000);
      throw new RetryableUpstreamError('server', 'x');
    }).catch((error: unknown) => error);
    expect(attempts).toBe(2);
    expect(refused).toMatchObject({ id: 'timeout_error' });
  });

  test('starts no attempt after the client’s deadline, and throws its error', async () => {
    const { channels, options, client } = scene(config('a'), config('b'));
    const late = new WeirError('timeout_error', 'x');
    let attempts = 0;
    const call = () =>
      withFailover(channels, options, async () => {
        attempts += 1;
        client.abort(late);
        throw new RetryableUpstreamError('server', 'x');
      });
    expect(await call().catch((error: unknown) => error)).toBe(late);
    expect(await call().catch((error: unknown) => error)).toBe(late);
    expect(attempts).toBe(1);
  });

  test('P9: the client’s deadline is no failure of the channel', async () => {
    const { channels, options } = scene(config('a'));
    const late = () => Promise.reject(new WeirError('timeout_error', 'x'));
    for (let call = 0; call < 20; call += 1) {
      await withFailover(channels, options, late).catch(() => undefined);
    }
    expect(channels[0]?.state).toBe('healthy');
    expect(channels[0]?.canAcquire()).toBe(true);
  });
});

describe('the error if no channel served', () => {
  test.each<[Failure, string]>([
    ['throttle', 'rate_limit_exceeded'],
    ['timeout', 'timeout_error'],
    ['server', 'upstream_error'],
    ['connection', 'upstream_error'],
    ['malformed', 'upstream_error'],
    ['auth', 'all_channels_failed'],
  ])('after the failure %s of the only channel: %s', async (failure, expected) => {
    expect((await refusalAfter(scene(config('a')), [failure])).id).toBe(
      expected as WeirError['id'],
    );
  });

  test.each<[Failure[], string]>([
    [['throttle', 'throttle'], 'rate_limit_exceeded'],
    [['timeout', 'timeout'], 'timeout_error'],
    [['server', 'server'], 'all_channels_failed'],
    [['throttle', 'server'], 'all_channels_failed'],
    [['timeout', 'server'], 'all_channels_failed'],
  ])('after the failures %j of two channels: %s', async (failures, expected) => {
    const refused = await refusalAfter(scene(config('a'), config('b')), failures);
    expect(refused.id).toBe(expected as WeirError['id']);
  });

  test('after a 429 no channel is called, and retry_after is the rest of the cooldown', async () => {
    const setup = scene(config('a'), config('off', { enabled: false }));
    expect(await refusalAfter(setup, ['throttle'])).toMatchObject({ details: { retry_after: 3 } });
    setup.clock.advance(1_500);
    expect(await refusalAfter(setup)).toMatchObject({
      id: 'rate_limit_exceeded',
      details: { retry_after: 2 },
    });
  });

  test('retry_after is at most two minutes, however long the cooldown is', async () => {
    const setup = scene(config('a'));
    setup.channels[0]
      ?.tryAcquire()
      ?.failed(new RetryableUpstreamError('throttle', 'x', { retry_after_ms: 600_000 }));
    expect(await refusalAfter(setup)).toMatchObject({
      id: 'rate_limit_exceeded',
      details: { retry_after: 120 },
    });
  });

  test('retry_after of an open circuit is the time until its next call', async () => {
    const setup = scene(config('a'), config('b'));
    for (let time = 0; time < 5; time += 1) await refusalAfter(setup, ['server']);
    const refused = await refusalAfter(setup);
    expect(refused).toMatchObject({ id: 'all_channels_failed', details: { retry_after: 5 } });
    expect(refused.retryable).toBe(true);
  });

  test('retry_after is 1 s without a free slot, and 120 s without an enabled channel or without any channel', async () => {
    const full = scene(config('a', { max_concurrency: 1 }));
    full.channels[0]?.tryAcquire();
    const off = scene(config('a', { enabled: false }));
    for (const [setup, retry_after] of [
      [full, 1],
      [off, 120],
      [scene(), 120],
    ] as const) {
      expect(await refusalAfter(setup)).toMatchObject({
        id: 'all_channels_failed',
        details: { retry_after },
      });
    }
  });

  test('P5: the cause does not reach the client', async () => {
    const refused = await refusalAfter(scene(config('secret-channel')), ['server']);
    expect(refused.message + JSON.stringify(refused.details)).not.toMatch(/secret|broken|x:/);
    expect(refused.cause).toBeInstanceOf(AggregateError);
  });
});
