import { describe, expect, test } from 'bun:test';
import type { ChannelActor } from '../../../src/actors/channels/channel.ts';
import { Channels } from '../../../src/actors/channels/channels.ts';
import { COOLDOWNS_MS, FAILURES_TO_OPEN } from '../../../src/machines/channel.ts';
import { RetryableUpstreamError } from '../../../src/upstreams/contract.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { channelConfig as config } from '../../support/channels.ts';

const { auth: AUTH_COOLDOWN_MS } = COOLDOWNS_MS;
const broken = () => new RetryableUpstreamError('server', 'broken');
const throttled = (retry_after_ms?: number) =>
  new RetryableUpstreamError('throttle', 'busy', { retry_after_ms, status: 429 });

describe('the channels of a replica', () => {
  test('are found by the models that they serve', () => {
    const channels = new Channels(
      [
        config('a', { models: { x: 'x-1', y: 'y-1' } }),
        config('b', { models: { x: 'x-2' }, enabled: false }),
      ],
      new VirtualClock(),
    );
    const ids = (model: string) => channels.serving(model).map((each) => each.config.id);
    expect([ids('x'), ids('y'), ids('z')]).toEqual([['a', 'b'], ['a'], []]);
  });

  test('say what a caller may expect of a model', () => {
    const clock = new VirtualClock();
    const configs = [config('a', { models: { x: 'x-1' } }), config('b', { models: { x: 'x-2' } })];
    const channels = new Channels(configs, clock);
    const [a, b] = channels.serving('x') as [ChannelActor, ChannelActor];
    const fail = (channel: ChannelActor) => {
      for (let time = 0; time < FAILURES_TO_OPEN; time += 1) channel.tryAcquire()?.failed(broken());
    };
    expect([channels.availability('x'), channels.availability('z')]).toEqual([
      'available',
      'unavailable',
    ]);
    fail(a);
    expect(channels.availability('x')).toBe('available');
    fail(b);
    expect(channels.availability('x')).toBe('unavailable');
    clock.advance(COOLDOWNS_MS.server);
    expect(channels.availability('x')).toBe('degraded');
  });

  describe('have a circuit for each model', () => {
    const models = { x: 'x', y: 'y' };
    const two = (more: object = {}) => {
      const clock = new VirtualClock();
      const channels = new Channels([config('a', { models, ...more })], clock);
      const of = (model: string) => channels.find('a', model) as ChannelActor;
      return { channels, clock, x: of('x'), y: of('y') };
    };
    const breakIt = (channel: ChannelActor) => {
      for (let time = 0; time < FAILURES_TO_OPEN; time += 1) channel.tryAcquire()?.failed(broken());
    };

    test('P9: a failing model does not affect the other models of its channel', () => {
      const { channels, x, y } = two();
      breakIt(x);
      expect([x.state, y.state]).toEqual(['open', 'healthy']);
      expect([channels.canServe('x'), channels.canServe('y')]).toEqual([false, true]);
      expect(channels.verdicts().get('a')).toBe('degraded');
      breakIt(y);
      expect(channels.verdicts().get('a')).toBe('open');
    });

    test('a model is down from the time when its last channel fails until one recovers', () => {
      const clock = new VirtualClock();
      const both = ['a', 'b'].map((id) => config(id, { models: { x: 'x' } }));
      const channels = new Channels(both, clock);
      const [a, b] = ['a', 'b'].map((id) => channels.find(id, 'x') as ChannelActor);
      if (!a || !b) throw new Error('there are two channels');
      expect(channels.downSince('x')).toBeUndefined();
      breakIt(a);
      expect(channels.downSince('x')).toBeUndefined();
      clock.advance(1_000);
      const since = clock.now();
      breakIt(b);
      expect(channels.downSince('x')).toBe(since);
      // A probe that fails does not move the time.
      clock.advance(60_000);
      b.tryAcquire()?.failed(broken());
      expect(channels.downSince('x')).toBe(since);
      clock.advance(600_000);
      b.tryAcquire()?.succeeded();
      expect(channels.downSince('x')).toBeUndefined();
      expect(channels.downSince('unknown')).toBeUndefined();
    });

    test('a busy model is not down', () => {
      const { channels, x } = two({ max_concurrency: 1 });
      x.tryAcquire();
      expect([channels.canServe('x'), channels.downSince('x')]).toEqual([false, undefined]);
    });

    test('a refused credential disables all models, and each returns after a probe of its own', () => {
      const { channels, clock, x, y } = two();
      x.tryAcquire()?.failed(new RetryableUpstreamError('auth', 'wrong key', { status: 401 }));
      expect([x.state, y.state]).toEqual(['disabled', 'disabled']);
      expect(channels.verdicts().get('a')).toBe('disabled');
      clock.advance(AUTH_COOLDOWN_MS);
      y.tryAcquire()?.succeeded();
      expect([x.state, y.state]).toEqual(['disabled', 'degraded']);
      x.tryAcquire()?.succeeded();
      expect(x.state).toBe('degraded');
    });

    test('share the slots of their account', () => {
      const { channels, x, y } = two({ max_concurrency: 2 });
      const first = x.tryAcquire();
      const second = y.tryAcquire();
      expect([x.tryAcquire(), y.tryAcquire()]).toEqual([null, null]);
      expect(channels.canServe('x')).toBe(false);
      second?.succeeded();
      expect(x.tryAcquire()).not.toBeNull();
      first?.succeeded();
    });

    test('report the outcome of each call; a job reports only a failure that fails over', () => {
      const outcomes: unknown[] = [];
      const channels = new Channels(
        [config('a', { models })],
        new VirtualClock(),
        undefined,
        (...outcome) => outcomes.push(outcome),
      );
      const x = channels.find('a', 'x');
      x?.tryAcquire()?.succeeded();
      x?.tryAcquire()?.failed(broken());
      x?.tryAcquire()?.abandoned();
      x?.tryAcquire('job')?.succeeded();
      x?.tryAcquire('job')?.failed(broken());
      x?.tryAcquire('probe')?.failed(broken());
      expect(outcomes).toEqual([
        ['a', 'x', true],
        ['a', 'x', false],
      ]);
      x?.tryAcquire('job')?.failed(broken(), true);
      expect(outcomes.at(-1)).toEqual(['a', 'x', false]);
      expect(outcomes).toHaveLength(3);
      expect(channels.find('a', 'z')).toBeUndefined();
      expect(channels.find(null, 'x')).toBeUndefined();
    });
  });

  describe('a changed configuration', () => {
    const models = { x: 'x' };

    test('keeps the health of a channel unless its account changes', () => {
      const channels = new Channels([config('a', { models })], new VirtualClock());
      const x = channels.find('a', 'x') as ChannelActor;
      for (let time = 0; time < FAILURES_TO_OPEN; time += 1) x.tryAcquire()?.failed(broken());
      channels.configure([config('a', { models, weight: 7 })]);
      expect(channels.find('a', 'x')).toBe(x);
      expect([x.config.weight, x.state]).toEqual([7, 'open']);
      channels.configure([config('a', { models, api_key: 'another' })]);
      expect(x.state).toBe('degraded');
      expect(channels.canServe('x')).toBe(true);
    });

    test('P9: the outcome of a call with the old key does not count for the new key', () => {
      const channels = new Channels([config('a', { models })], new VirtualClock());
      const x = channels.find('a', 'x') as ChannelActor;
      const before = [x.tryAcquire(), x.tryAcquire()];
      channels.configure([config('a', { models, api_key: 'another' })]);
      before[0]?.failed(new RetryableUpstreamError('auth', 'wrong key', { status: 401 }));
      before[1]?.succeeded();
      expect(x.state).toBe('degraded');
      expect(x.snapshot.context.slots).toBe(1);
      expect(channels.account('a')?.inFlight).toBe(0);
      x.tryAcquire()?.failed(new RetryableUpstreamError('auth', 'wrong key', { status: 401 }));
      expect(x.state).toBe('disabled');
    });

    test('adds and removes channels and models; calls in flight still end', () => {
      const channels = new Channels([config('a', { models })], new VirtualClock());
      const x = channels.find('a', 'x') as ChannelActor;
      const running = x.tryAcquire();
      channels.configure([config('b', { models: { x: 'x', y: 'y' } })]);
      expect(channels.serving('x').map((each) => each.config.id)).toEqual(['b']);
      expect([...channels.verdicts().keys()]).toEqual(['b']);
      expect(channels.find('a', 'x')).toBe(x);
      running?.succeeded();
      channels.configure([config('b', { models: { y: 'y' } }), config('a', { models })]);
      expect(channels.find('b', 'x')).toBeDefined();
      expect(channels.serving('x').map((each) => each.config.id)).toEqual(['a']);
      expect(channels.find('a', 'x')).toBe(x);
    });

    test('P9: a disabled channel serves again after it is enabled', () => {
      const channels = new Channels([config('a', { models, enabled: false })], new VirtualClock());
      expect(channels.canServe('x')).toBe(false);
      channels.configure([config('a', { models })]);
      expect(channels.canServe('x')).toBe(true);
    });

    test('does not override an operator’s switch, and a draining channel ends its calls', () => {
      const channels = new Channels([config('a', { models })], new VirtualClock());
      const running = channels.find('a', 'x')?.tryAcquire();
      channels.applySwitches(new Map([['a', { state: 'draining', reason: 'moving' }]]));
      channels.configure([config('a', { models, weight: 2 })]);
      expect(channels.canServe('x')).toBe(false);
      expect(channels.verdicts().get('a')).toBe('draining');
      expect(channels.find('a', 'x')?.snapshot.context.reason).toBe('moving');
      running?.succeeded();
      expect(channels.verdicts().get('a')).toBe('disabled');
      channels.applySwitches(new Map());
      expect(channels.canServe('x')).toBe(true);
    });
  });

  test('P13: a model counts as callable only if a channel would serve a call now', () => {
    const clock = new VirtualClock();
    const models = { x: 'x' };
    const channels = new Channels(
      [config('a', { models, max_concurrency: 1 }), config('b', { models, enabled: false })],
      clock,
    );
    expect([channels.canServe('x'), channels.canServe('z')]).toEqual([true, false]);
    const permit = channels.find('a', 'x')?.tryAcquire();
    expect(channels.canServe('x')).toBe(false);
    permit?.failed(throttled(5_000));
    expect(channels.canServe('x')).toBe(false);
    clock.advance(5_000);
    expect(channels.canServe('x')).toBe(true);
  });
});
