import { describe, expect, test } from 'bun:test';
import { type ChannelPermit, MAX_THROTTLE_MS } from '../../../src/actors/channels/channel.ts';
import type { ChannelTransition } from '../../../src/actors/channels/transition.ts';
import { COOLDOWNS_MS, FAILURES_TO_OPEN } from '../../../src/machines/channel.ts';
import { RetryableUpstreamError } from '../../../src/upstreams/contract.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { channelActor, channelConfig as config, openedChannel } from '../../support/channels.ts';
import { fc } from '../../support/property.ts';

const { server: FIRST_COOLDOWN_MS } = COOLDOWNS_MS;
const broken = () => new RetryableUpstreamError('server', 'broken');
const throttled = (retry_after_ms?: number) =>
  new RetryableUpstreamError('throttle', 'busy', { retry_after_ms, status: 429 });

describe('the channel actor', () => {
  test('gives one permit for each slot, and each permit ends once', () => {
    const channel = channelActor(config('a', { max_concurrency: 2 }), new VirtualClock());
    const first = channel.tryAcquire();
    channel.tryAcquire();
    expect(channel.canAcquire()).toBe(false);
    expect(channel.tryAcquire()).toBeNull();
    first?.abandoned();
    first?.failed(broken());
    first?.succeeded();
    expect(channel.snapshot.context.samples).toBe(0);
    expect(channel.tryAcquire()).not.toBeNull();
    expect(channel.tryAcquire()).toBeNull();
  });

  test('P9: after the cooldown one call runs as the probe; a client that leaves frees the probe', () => {
    const { channel, clock } = openedChannel();
    expect(channel.tryAcquire()).toBeNull();
    clock.advance(FIRST_COOLDOWN_MS - 1);
    expect(channel.tryAcquire()).toBeNull();
    clock.advance(1);
    expect(channel.canAcquire()).toBe(true);
    const probe = channel.tryAcquire();
    expect(probe).not.toBeNull();
    expect(channel.canAcquire()).toBe(false);
    expect(channel.tryAcquire()).toBeNull();
    probe?.abandoned();
    const next = channel.tryAcquire();
    expect(channel.state).toBe('probing');
    next?.succeeded();
    expect(channel.state).toBe('degraded');
  });

  test('P9: a long earlier call neither delays the probe nor changes its verdict', () => {
    const clock = new VirtualClock();
    const channel = channelActor(config('a'), clock);
    const before = [channel.tryAcquire(), channel.tryAcquire(), channel.tryAcquire()];
    for (let time = 0; time < FAILURES_TO_OPEN; time += 1) channel.tryAcquire()?.failed(broken());
    clock.advance(FIRST_COOLDOWN_MS);
    const probe = channel.tryAcquire();
    expect(probe).not.toBeNull();
    before[0]?.succeeded();
    before[1]?.failed(broken());
    before[2]?.abandoned();
    expect(channel.state).toBe('probing');
    expect(channel.tryAcquire()).toBeNull();
    probe?.failed(broken());
    expect(channel.availableAt() - clock.now()).toBe(2 * FIRST_COOLDOWN_MS);
  });

  test('stays open for the time that a throttle names, up to a limit', () => {
    for (const [asked, rest] of [
      [7_000, 7_000],
      [undefined, 1_000],
      [1e12, MAX_THROTTLE_MS],
    ] as const) {
      const clock = new VirtualClock();
      const channel = channelActor(config('a'), clock);
      channel.tryAcquire()?.failed(throttled(asked));
      expect(channel.availableAt() - clock.now()).toBe(rest);
    }
  });

  test('stays open for the time that a failing upstream names, and keeps the reason', () => {
    const clock = new VirtualClock();
    const channel = channelActor(config('a'), clock);
    channel
      .tryAcquire()
      ?.failed(
        new RetryableUpstreamError('server', 'overloaded', { retry_after_ms: 9_000, status: 503 }),
      );
    expect(channel.state).toBe('open');
    expect(channel.availableAt() - clock.now()).toBe(9_000);
    expect(channel.snapshot.context.reason).toBe('server');
  });

  test('a throttle during the probe opens the circuit for its time', () => {
    const { channel, clock } = openedChannel();
    clock.advance(FIRST_COOLDOWN_MS);
    channel.tryAcquire()?.failed(throttled(30_000));
    expect(channel.state).toBe('open');
    expect(channel.availableAt() - clock.now()).toBe(30_000);
  });

  test('a recovering channel gets one call, then two, then four: no thundering herd', () => {
    const { channel, clock } = openedChannel({ max_concurrency: 200 });
    clock.advance(FIRST_COOLDOWN_MS);
    channel.tryAcquire()?.succeeded();
    const taken: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      const permits: ChannelPermit[] = [];
      for (let permit = channel.tryAcquire(); permit; permit = channel.tryAcquire()) {
        permits.push(permit);
      }
      taken.push(permits.length);
      for (const permit of permits) permit.succeeded();
    }
    expect(taken).toEqual([1, 2, 4, 8, 16, 32, 64, 200]);
    expect(channel.state).toBe('healthy');
  });

  test('a recovering channel uses all its slots for urgent calls', () => {
    const { channel, clock } = openedChannel({ max_concurrency: 3 });
    clock.advance(FIRST_COOLDOWN_MS);
    channel.tryAcquire()?.succeeded();
    expect(channel.tryAcquire()).not.toBeNull();
    expect(channel.tryAcquire()).toBeNull();
    expect(channel.canAcquire()).toBe(true);
    expect(channel.tryAcquire('call', true)).not.toBeNull();
    expect(channel.tryAcquire('call', true)).not.toBeNull();
    expect(channel.tryAcquire('call', true)).toBeNull();
  });

  test('a failure during the recovery halves the slots', () => {
    const { channel, clock } = openedChannel();
    clock.advance(FIRST_COOLDOWN_MS);
    channel.tryAcquire()?.succeeded();
    for (let time = 0; time < 7; time += 1) channel.tryAcquire()?.succeeded();
    expect(channel.snapshot.context.slots).toBe(8);
    channel.tryAcquire()?.failed(broken());
    expect(channel.snapshot.context.slots).toBe(4);
  });

  test('the cooldown depends on the failure: short for a connection, a minute for a refused key', () => {
    for (const [failure, ms] of Object.entries(COOLDOWNS_MS)) {
      const clock = new VirtualClock();
      const channel = channelActor(config('a'), clock);
      for (let time = 0; time < FAILURES_TO_OPEN; time += 1) {
        channel.tryAcquire()?.failed(new RetryableUpstreamError(failure as 'auth', failure));
      }
      expect(channel.availableAt() - clock.now()).toBe(ms);
      expect(channel.state).toBe(failure === 'auth' ? 'disabled' : 'open');
    }
  });

  test('measures the time to the start of its answers', () => {
    const clock = new VirtualClock();
    const channel = channelActor(config('a'), clock);
    expect(channel.latency.p95_ms).toBeUndefined();
    for (let call = 1; call <= 40; call += 1) {
      const permit = channel.tryAcquire();
      clock.advance(call);
      permit?.answered();
      clock.advance(1_000);
      permit?.succeeded();
    }
    expect(channel.latency.p95_ms).toBe(39);
    expect(channel.latency.mean_ms).toBeGreaterThan(25);
  });

  describe('a hint of another replica', () => {
    test('opens the circuit, and closes it again', () => {
      const clock = new VirtualClock();
      const channel = channelActor(config('a'), clock);
      const until = clock.now() + 7_000;
      channel.onPeerHint({ kind: 'left_alone', until, reason: 'server' });
      expect(channel.state).toBe('open');
      expect(channel.snapshot.context.reason).toBe('server');
      expect(channel.availableAt()).toBe(until);
      channel.onPeerHint({ kind: 'mended' });
      expect(channel.state).toBe('degraded');
      expect(channel.snapshot.context.slots).toBe(1);
    });

    test('disables the channel for a refused key, and enables it again', () => {
      const channel = channelActor(config('a'), new VirtualClock());
      channel.onPeerHint({ kind: 'refused' });
      expect(channel.state).toBe('disabled');
      channel.onPeerHint({ kind: 'mended' });
      expect(channel.state).toBe('degraded');
    });

    test('changes nothing during a probe, or if the channel is switched off', () => {
      const { channel, clock } = openedChannel();
      clock.advance(FIRST_COOLDOWN_MS);
      const probe = channel.tryAcquire();
      channel.onPeerHint({ kind: 'mended' });
      channel.onPeerHint({ kind: 'left_alone', until: clock.now() + 1, reason: null });
      expect(channel.state).toBe('probing');
      probe?.succeeded();
      channel.disable('holiday');
      channel.onPeerHint({ kind: 'mended' });
      expect(channel.state).toBe('disabled');
    });
  });

  test('a channel that is not enabled gives no permit', () => {
    const channel = channelActor(config('a', { enabled: false }), new VirtualClock());
    expect(channel.tryAcquire()).toBeNull();
    expect(channel.canAcquire()).toBe(false);
    expect(channel.availableAt()).toBe(Number.POSITIVE_INFINITY);
  });

  test('calls its listener for each change of state, and survives an error of the listener', () => {
    const seen: ChannelTransition[] = [];
    const { channel, clock } = openedChannel({}, (transition) => {
      seen.push(transition);
      throw new Error('from the listener');
    });
    clock.advance(FIRST_COOLDOWN_MS);
    channel.tryAcquire()?.succeeded();
    expect(seen.map(({ from, to, reason }) => [from, to, reason])).toEqual([
      ['healthy', 'degraded', null],
      ['degraded', 'open', 'server'],
      ['open', 'probing', 'server'],
      ['probing', 'degraded', null],
    ]);
    expect(seen.at(-1)).toMatchObject({ channel_id: 'a', at_ms: clock.now() });
  });
});

type Step =
  | { do: 'acquire' }
  | { do: 'end'; which: number; how: 'succeeded' | 'abandoned' | 'server' | 'auth' | 'throttle' }
  | { do: 'pass'; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'acquire' }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      which: fc.nat(),
      how: fc.constantFrom('succeeded', 'abandoned', 'server', 'server', 'auth', 'throttle'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(1, 999, 1_000, 5_000, 60_000, 200_000),
    }),
  },
);

describe('the channel actor under any sequence of calls', () => {
  test('P9: at most one probe runs, no probe starts early, and a client error is no failure', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const clock = new VirtualClock();
        const channel = channelActor(config('a', { max_concurrency: 4 }), clock);
        const held: ChannelPermit[] = [];
        let probe: ChannelPermit | undefined;
        for (const each of steps) {
          const { state: before, snapshot } = channel;
          if (each.do === 'pass') {
            clock.advance(each.ms);
            expect(channel.state).toBe(before);
          } else if (each.do === 'acquire') {
            const mayTake = channel.canAcquire();
            const permit = channel.tryAcquire('call', true);
            expect(permit !== null).toBe(mayTake);
            if (!permit) continue;
            held.push(permit);
            expect(held.length).toBeLessThanOrEqual(4);
            expect(before).not.toBe('probing');
            if (before !== 'open' && before !== 'disabled') continue;
            expect(clock.now()).toBeGreaterThanOrEqual(snapshot.context.open_until);
            probe = permit;
          } else {
            const [permit] = held.splice(each.which % Math.max(1, held.length), 1);
            if (!permit) continue;
            end(permit, each.how);
            const isProbe = permit === probe;
            // A client that leaves never opens the circuit; only the probe closes it.
            if (each.how === 'abandoned') {
              const previous = snapshot.context.returns ? 'disabled' : 'open';
              expect(channel.state).toBe(isProbe && before === 'probing' ? previous : before);
            }
            if (each.how === 'succeeded' && channel.state !== before) {
              if (before === 'probing') expect(isProbe).toBe(true);
              expect(['healthy', 'degraded']).toContain(channel.state);
            }
            if (before === 'open') expect(['open', 'disabled']).toContain(channel.state);
            if (before === 'disabled') expect(channel.state).toBe('disabled');
          }
          if (channel.state !== 'probing') probe = undefined;
          else expect(held).toContain(probe as ChannelPermit);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  function end(permit: ChannelPermit, how: Extract<Step, { do: 'end' }>['how']): void {
    if (how === 'succeeded') permit.succeeded();
    else if (how === 'abandoned') permit.abandoned();
    else permit.failed(new RetryableUpstreamError(how, how));
  }
});
