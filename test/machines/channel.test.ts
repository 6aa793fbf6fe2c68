import { describe, expect, test } from 'bun:test';
import { createActor, transition } from 'xstate';
import { getAdjacencyMap } from 'xstate/graph';
import {
  type ChannelEvent,
  COOLDOWNS_MS,
  channelMachine,
  FAILURES_TO_OPEN,
  LONGEST_COOLDOWNS_MS,
} from '../../src/machines/channel.ts';
import { fc } from '../support/property.ts';

const NOW = 1_000_000;
const FIRST_COOLDOWN_MS = COOLDOWNS_MS.server;
const fail = (failure: 'server' | 'auth' = 'server', now = NOW): ChannelEvent => ({
  type: 'FAILED',
  failure,
  now,
});

const probed = (probe: number): ChannelEvent => ({ type: 'PROBED', probe, verdict: 'succeeded' });

function channel(events: ChannelEvent[]) {
  const live = createActor(channelMachine).start();
  for (const event of events) live.send(event);
  return live.getSnapshot();
}

const isRefusal = (event: ChannelEvent) => event.type === 'FAILED' && event.failure === 'auth';

const times = (count: number, event: ChannelEvent) => Array.from({ length: count }, () => event);

describe('the channel machine', () => {
  test('opens after five failures in a row; a success in between resets the count', () => {
    expect(channel(times(FAILURES_TO_OPEN - 1, fail())).value).not.toBe('open');
    expect(channel(times(FAILURES_TO_OPEN, fail())).value).toBe('open');
    const interrupted = [...times(4, fail()), { type: 'SUCCEEDED' } as const, ...times(4, fail())];
    expect(channel(interrupted).value).not.toBe('open');
  });

  test('opens when over half of the recent calls fail, even if never five in a row', () => {
    const mixed = times(60, fail()).flatMap((event, index): ChannelEvent[] =>
      index % 3 === 2 ? [{ type: 'SUCCEEDED' }] : [event],
    );
    expect(channel(mixed).value).toBe('open');
  });

  test('a refused key disables the channel at once; one call a minute probes it until a probe succeeds', () => {
    const { value, context } = channel([fail('auth')]);
    expect(value).toBe('disabled');
    expect(context).toMatchObject({ open_until: NOW + 60_000, reason: 'auth' });
    const early: ChannelEvent = { type: 'COOLED', now: NOW + 59_999 };
    const due: ChannelEvent = { type: 'COOLED', now: NOW + 60_000 };
    const refused = { type: 'PROBED', probe: 1, verdict: 'failed', failure: 'auth' } as const;
    expect(channel([fail('auth'), early]).value).toBe('disabled');
    expect(channel([fail('auth'), due]).value).toBe('probing');
    const again = channel([fail('auth'), due, { ...refused, now: NOW + 60_000 }]);
    expect(again.value).toBe('disabled');
    expect(again.context.open_until).toBe(NOW + 120_000);
    const left: ChannelEvent = { type: 'PROBED', probe: 1, verdict: 'abandoned' };
    expect(channel([fail('auth'), due, left]).value).toBe('disabled');
    expect(channel([fail('auth'), due, probed(1)]).value).toBe('degraded');
    expect(channel([fail('auth'), { type: 'MENDED' }]).value).toBe('degraded');
  });

  test('a channel that the operator disabled stays disabled after COOLED and MENDED', () => {
    const disabled: ChannelEvent[] = [fail('auth'), { type: 'DISABLED', reason: 'operator' }];
    for (const event of [{ type: 'COOLED', now: NOW * 2 }, { type: 'MENDED' }] as const) {
      expect(channel([...disabled, event]).value).toBe('disabled');
    }
  });

  test('stays open until the time that the upstream names; a later time is never shortened', () => {
    const { value, context } = channel([
      { type: 'THROTTLED', until: NOW + 30_000 },
      { type: 'THROTTLED', until: NOW + 1_000 },
      { type: 'COOLED', now: NOW + 29_999 },
    ]);
    expect(value).toBe('open');
    expect(context.open_until).toBe(NOW + 30_000);
  });

  test('each failed probe doubles the cooldown, up to a limit', () => {
    let snapshot = channel(times(FAILURES_TO_OPEN, fail()));
    let wait = FIRST_COOLDOWN_MS;
    for (let probe = 0; probe < 10; probe += 1) {
      const now = snapshot.context.open_until;
      [snapshot] = transition(channelMachine, snapshot, { type: 'COOLED', now });
      expect(snapshot.value).toBe('probing');
      const { probe } = snapshot.context;
      const verdict = { type: 'PROBED', probe, verdict: 'failed', failure: 'server', now } as const;
      [snapshot] = transition(channelMachine, snapshot, verdict);
      wait = Math.min(wait * 2, LONGEST_COOLDOWNS_MS.server);
      expect(snapshot.context.open_until - now).toBe(wait);
    }
  });

  const cooled: ChannelEvent = { type: 'COOLED', now: NOW + FIRST_COOLDOWN_MS };
  const opened = times(FAILURES_TO_OPEN, fail());

  test('after a successful probe the circuit closes with a success share of 0.5 and one slot', () => {
    const { value, context } = channel([...opened, cooled, probed(1)]);
    expect(value).toBe('degraded');
    expect(context).toMatchObject({ recent_success: 0.5, slots: 1, reason: null });
  });

  test('a channel that opens again before it was healthy has a longer cooldown', () => {
    const again = channel([...opened, cooled, probed(1), ...opened]);
    expect(again.context.open_until).toBe(NOW + 2 * FIRST_COOLDOWN_MS);
    const success: ChannelEvent = { type: 'SUCCEEDED' };
    const healed = channel([...opened, cooled, probed(1), ...times(30, success), ...opened]);
    expect(healed.context.open_until).toBe(NOW + FIRST_COOLDOWN_MS);
  });

  test('only the verdict of the current probe ends the probing', () => {
    const others: ChannelEvent[] = [{ type: 'SUCCEEDED' }, fail(), probed(0), probed(2), cooled];
    for (const other of others) expect(channel([...opened, cooled, other]).value).toBe('probing');
    const abandoned: ChannelEvent = { type: 'PROBED', probe: 1, verdict: 'abandoned' };
    const { value, context } = channel([...opened, cooled, abandoned]);
    expect(value).toBe('open');
    // Without a verdict, the next call may probe at once.
    expect(context.open_until).toBe(NOW + FIRST_COOLDOWN_MS);
    expect(channel([...opened, cooled, abandoned, cooled, probed(1)]).value).toBe('probing');
  });

  test('every state is reached, and a disabled channel leaves its state only by ENABLED', () => {
    const events: ChannelEvent[] = [
      fail(),
      { type: 'SUCCEEDED' },
      { type: 'THROTTLED', until: NOW + 10 },
      { type: 'COOLED', now: NOW * 10 },
      probed(1),
      { type: 'PROBED', probe: 1, verdict: 'abandoned' },
      { type: 'PROBED', probe: 1, verdict: 'failed', failure: 'server', now: NOW },
      { type: 'DISABLED', reason: 'operator' },
      { type: 'ENABLED' },
      { type: 'MENDED' },
      fail('auth'),
    ];
    const states = getAdjacencyMap(channelMachine, {
      events,
      // More failures than the threshold add no new behaviour.
      stopWhen: ({ context }) => context.consecutive_failures > FAILURES_TO_OPEN,
      // The share of successes is rounded, which limits the graph to some hundreds of states.
      serializeState: ({ value, context }) =>
        JSON.stringify([
          value,
          context.consecutive_failures,
          Math.round(context.recent_success * 4),
          context.returns,
        ]),
      limit: 20_000,
    });
    const reached = new Set<string>();
    for (const { state } of Object.values(states)) {
      reached.add(state.value);
      for (const event of events) {
        const [next] = transition(channelMachine, state, event);
        if (state.value === 'disabled' && !state.context.returns && event.type !== 'ENABLED') {
          expect(next.value).toBe('disabled');
        }
        // P9: a success never opens the circuit, and only COOLED starts a probe.
        if (event.type === 'SUCCEEDED' && state.value !== 'open') {
          expect(next.value).not.toBe('open');
        }
        if (state.value === 'open' && next.value === 'probing') expect(event.type).toBe('COOLED');
        const leads = ['COOLED', 'DISABLED', 'MENDED'].includes(event.type) || isRefusal(event);
        if (state.value === 'open' && !leads) expect(next.value).toBe('open');
      }
    }
    expect([...reached].sort()).toEqual(['degraded', 'disabled', 'healthy', 'open', 'probing']);
  });

  test('P9: successes alone never open the circuit, and their share stays between 0 and 1', () => {
    const report = fc.constantFrom<ChannelEvent>(
      fail(),
      { type: 'SUCCEEDED' },
      { type: 'COOLED', now: NOW },
    );
    fc.assert(
      fc.property(fc.array(report, { maxLength: 60 }), (reports) => {
        const { value, context } = channel(reports);
        expect(context.recent_success).toBeGreaterThanOrEqual(0);
        expect(context.recent_success).toBeLessThanOrEqual(1);
        if (reports.every(({ type }) => type !== 'FAILED')) expect(value).toBe('healthy');
      }),
      { numRuns: 1_000 },
    );
  });
});
