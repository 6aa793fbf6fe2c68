import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  ChannelActor,
  type ChannelPermit,
  type ChannelTransition,
  MAX_THROTTLE_MS,
} from '../../src/actors/channel.ts';
import { Channels } from '../../src/actors/channels.ts';
import {
  AUTH_COOLDOWN_MS,
  FAILURES_TO_OPEN,
  FIRST_COOLDOWN_MS,
} from '../../src/machines/channel.ts';
import { RetryableUpstreamError } from '../../src/upstreams/contract.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { channelConfig as config, openedChannel } from '../support/channels.ts';

const broken = () => new RetryableUpstreamError('server', 'broken');
const throttled = (retry_after_ms?: number) =>
  new RetryableUpstreamError('throttle', 'busy', retry_after_ms, 429);

describe('the channel actor', () => {
  test('gives as many permits as it may have calls, and each ends once', () => {
    const channel = new ChannelActor(config('a', { max_concurrency: 2 }), new VirtualClock());
    const first = channel.tryAcquire();
    channel.tryAcquire();
    expect(channel.canTake()).toBe(false);
    expect(channel.tryAcquire()).toBeNull();
    first?.abandoned();
    first?.failed(broken());
    first?.succeeded();
    expect(channel.snapshot.context.samples).toBe(0);
    expect(channel.tryAcquire()).not.toBeNull();
    expect(channel.tryAcquire()).toBeNull();
  });

  test('P9: half open it lets one call at a time through; a client that leaves frees the probe', () => {
    const { channel, clock } = openedChannel();
    expect(channel.tryAcquire()).toBeNull();
    clock.advance(FIRST_COOLDOWN_MS - 1);
    expect(channel.tryAcquire()).toBeNull();
    clock.advance(1);
    expect(channel.canTake()).toBe(true);
    const probe = channel.tryAcquire();
    expect(probe).not.toBeNull();
    expect(channel.canTake()).toBe(false);
    expect(channel.tryAcquire()).toBeNull();
    probe?.abandoned();
    const next = channel.tryAcquire();
    expect(channel.state).toBe('probing');
    next?.succeeded();
    expect(channel.state).toBe('degraded');
  });

  test('P9: a long call from before neither delays the probe nor speaks for it', () => {
    const clock = new VirtualClock();
    const channel = new ChannelActor(config('a'), clock);
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

  test('rests for the time that a throttle names, within a bound', () => {
    for (const [asked, rest] of [
      [7_000, 7_000],
      [undefined, 1_000],
      [1e12, MAX_THROTTLE_MS],
    ] as const) {
      const clock = new VirtualClock();
      const channel = new ChannelActor(config('a'), clock);
      channel.tryAcquire()?.failed(throttled(asked));
      expect(channel.availableAt() - clock.now()).toBe(rest);
    }
  });

  test('rests for the time that a sick upstream names, and remembers why', () => {
    const clock = new VirtualClock();
    const channel = new ChannelActor(config('a'), clock);
    channel.tryAcquire()?.failed(new RetryableUpstreamError('server', 'overloaded', 9_000, 503));
    expect(channel.state).toBe('open');
    expect(channel.availableAt() - clock.now()).toBe(9_000);
    expect(channel.snapshot.context.reason).toBe('server');
  });

  test('a throttle that arrives during the probe is believed', () => {
    const { channel, clock } = openedChannel();
    clock.advance(FIRST_COOLDOWN_MS);
    channel.tryAcquire()?.failed(throttled(30_000));
    expect(channel.state).toBe('open');
    expect(channel.availableAt() - clock.now()).toBe(30_000);
  });

  test('one that comes back gets fewer calls at once until it is healthy', () => {
    const { channel, clock } = openedChannel({ max_concurrency: 10 });
    clock.advance(FIRST_COOLDOWN_MS);
    channel.tryAcquire()?.succeeded();
    const permits: ChannelPermit[] = [];
    for (let permit = channel.tryAcquire(); permit; permit = channel.tryAcquire()) {
      permits.push(permit);
    }
    expect(permits).toHaveLength(5);
    for (const permit of permits) permit.succeeded();
    for (let time = 0; time < 20; time += 1) channel.tryAcquire()?.succeeded();
    expect(channel.state).toBe('healthy');
  });

  test('one that is not enabled is never used', () => {
    const channel = new ChannelActor(config('a', { enabled: false }), new VirtualClock());
    expect(channel.tryAcquire()).toBeNull();
    expect(channel.canTake()).toBe(false);
    expect(channel.availableAt()).toBe(Number.POSITIVE_INFINITY);
  });

  test('tells who looks on of every change of state, and survives him', () => {
    const seen: ChannelTransition[] = [];
    const { channel, clock } = openedChannel({}, (transition) => {
      seen.push(transition);
      throw new Error('from the onlooker');
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
  test('P9: never more than one probe, none before its time, none blamed for a client', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const clock = new VirtualClock();
        const channel = new ChannelActor(config('a', { max_concurrency: 4 }), clock);
        const held: ChannelPermit[] = [];
        let probe: ChannelPermit | undefined;
        for (const each of steps) {
          const { state: before, snapshot } = channel;
          if (each.do === 'pass') {
            clock.advance(each.ms);
            expect(channel.state).toBe(before);
          } else if (each.do === 'acquire') {
            const mayTake = channel.canTake();
            const permit = channel.tryAcquire();
            expect(permit !== null).toBe(mayTake);
            if (!permit) continue;
            held.push(permit);
            expect(held.length).toBeLessThanOrEqual(4);
            expect(['disabled', 'probing']).not.toContain(before);
            if (before !== 'open') continue;
            expect(clock.now()).toBeGreaterThanOrEqual(snapshot.context.open_until);
            probe = permit;
          } else {
            const [permit] = held.splice(each.which % Math.max(1, held.length), 1);
            if (!permit) continue;
            end(permit, each.how);
            const isProbe = permit === probe;
            // Judged: the client's doing never opens it; the probe alone closes it.
            if (each.how === 'abandoned') {
              expect(channel.state).toBe(isProbe && before === 'probing' ? 'open' : before);
            }
            if (each.how === 'succeeded' && channel.state !== before) {
              if (before === 'probing') expect(isProbe).toBe(true);
              expect(['healthy', 'degraded']).toContain(channel.state);
            }
            if (before === 'open') expect(channel.state).toBe('open');
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

  describe('has a circuit for each model', () => {
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

    test('P9: one that is sick leaves the others of its channel alone', () => {
      const { channels, x, y } = two();
      breakIt(x);
      expect([x.state, y.state]).toEqual(['open', 'healthy']);
      expect([channels.canServe('x'), channels.canServe('y')]).toEqual([false, true]);
      expect(channels.verdicts().get('a')).toBe('degraded');
      breakIt(y);
      expect(channels.verdicts().get('a')).toBe('open');
    });

    test('a refused credential opens all of them, and each comes back by its own probe', () => {
      const { clock, x, y } = two();
      x.tryAcquire()?.failed(new RetryableUpstreamError('auth', 'wrong key', undefined, 401));
      expect([x.state, y.state]).toEqual(['open', 'open']);
      clock.advance(AUTH_COOLDOWN_MS);
      y.tryAcquire()?.succeeded();
      expect([x.state, y.state]).toEqual(['open', 'degraded']);
      x.tryAcquire()?.succeeded();
      expect(x.state).toBe('degraded');
    });

    test('and shares the places of its account', () => {
      const { channels, x, y } = two({ max_concurrency: 2 });
      const first = x.tryAcquire();
      const second = y.tryAcquire();
      expect([x.tryAcquire(), y.tryAcquire()]).toEqual([null, null]);
      expect(channels.canServe('x')).toBe(false);
      second?.succeeded();
      expect(x.tryAcquire()).not.toBeNull();
      first?.succeeded();
    });

    test('says of each call what it shows of the model; of a job that was taken, nothing', () => {
      const said: unknown[] = [];
      const channels = new Channels(
        [config('a', { models })],
        new VirtualClock(),
        undefined,
        (...outcome) => said.push(outcome),
      );
      const x = channels.find('a', 'x');
      x?.tryAcquire()?.succeeded();
      x?.tryAcquire()?.failed(broken());
      x?.tryAcquire()?.abandoned();
      x?.tryAcquire(true)?.succeeded();
      expect(said).toEqual([
        ['a', 'x', true],
        ['a', 'x', false],
      ]);
      expect(channels.find('a', 'z')).toBeUndefined();
      expect(channels.find(null, 'x')).toBeUndefined();
    });
  });

  test('P13: a model counts as callable only if a call would find a channel now', () => {
    const clock = new VirtualClock();
    const models = { x: 'x' };
    const channels = new Channels(
      [config('a', { models, max_concurrency: 1 }), config('b', { models, enabled: false })],
      clock,
    );
    expect([channels.canServe('x'), channels.canServe('z')]).toEqual([true, false]);
    const permit = channels.all[0]?.tryAcquire();
    expect(channels.canServe('x')).toBe(false);
    permit?.failed(throttled(5_000));
    expect(channels.canServe('x')).toBe(false);
    clock.advance(5_000);
    expect(channels.canServe('x')).toBe(true);
  });
});
