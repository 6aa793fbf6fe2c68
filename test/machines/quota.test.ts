import { describe, expect, test } from 'bun:test';
import { createActor, type SnapshotFrom, transition } from 'xstate';
import { getAdjacencyMap } from 'xstate/graph';
import {
  chargeCall,
  idleOf,
  type QuotaEvent,
  quotaMachine,
  releaseCall,
} from '../../src/machines/quota.ts';
import { fc } from '../support/property.ts';

type State =
  | 'ample'
  | 'refilling'
  | 'exact'
  | 'exhausted'
  | 'inactive'
  | 'suspended'
  | 'revoked'
  | 'expired';

/** A plain model of the machine's required behaviour, without a statechart. */
class PlainQuota {
  state: State = 'ample';
  granted = 0;
  settled = 0;
  calls: number[] = [];

  get reserved(): number {
    return this.calls.reduce((sum, amount) => sum + amount, 0);
  }

  get idle(): number {
    return this.granted - this.settled - this.reserved;
  }

  get open(): boolean {
    return ['ample', 'refilling', 'exact'].includes(this.state);
  }
}

/** Commands as the quota actor sends them: a call ends with the amount that it reserved. */
const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('RESERVE' as const), amount: fc.nat(60) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('SETTLE' as const),
      call: fc.nat(9),
      actual: fc.nat(90),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('RELEASE' as const), call: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('EXTEND' as const),
      call: fc.nat(9),
      amount: fc.nat(40),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('GRANT' as const),
      more: fc.nat(200),
      exact: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('REFUSED' as const), gone: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('RECALLED' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('SHRINK' as const), keep: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('UNBOOKED' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('REFILL' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('LIMIT_CHANGED' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('REPLACED' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('STATUS' as const),
      status: fc.constantFrom('active', 'inactive', 'suspended', 'revoked'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('EXPIRED' as const) }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

/** Applies a command to the model; returns the machine's event and the expected verdict. */
function step(
  model: PlainQuota,
  command: Command,
): { event: QuotaEvent; verdict?: object } | undefined {
  switch (command.do) {
    case 'RESERVE': {
      const event = { type: 'RESERVE', amount: command.amount } as const;
      const fits = command.amount <= model.idle;
      if ((model.open || model.state === 'exhausted') && fits) {
        model.calls.push(command.amount);
        return { event, verdict: { type: 'admitted' } };
      }
      if (model.open) {
        return { event, verdict: { type: 'short', missing: command.amount - model.idle } };
      }
      return { event, verdict: { type: 'refused', reason: model.state } };
    }
    case 'EXTEND': {
      if (model.calls.length === 0) return undefined;
      const event = { type: 'EXTEND', amount: command.amount } as const;
      if (command.amount > model.idle) {
        return { event, verdict: { type: 'short', missing: command.amount - model.idle } };
      }
      const index = command.call % model.calls.length;
      model.calls[index] = (model.calls[index] ?? 0) + command.amount;
      return { event, verdict: { type: 'admitted' } };
    }
    case 'SETTLE': {
      if (model.calls.length === 0) return undefined;
      const idle = model.idle;
      const [reserved = 0] = model.calls.splice(command.call % model.calls.length, 1);
      const charge = Math.min(command.actual, reserved + idle);
      const sums = { granted: idle + reserved, settled: 0, reserved, in_flight: 1 };
      expect(chargeCall(sums, { reserved, actual: command.actual })).toMatchObject({
        charge,
        overrun: command.actual - charge,
        sums: { settled: charge, reserved: 0, in_flight: 0 },
      });
      model.settled += charge;
      return {
        event: { type: 'CALLS', reserved: -reserved, settled: charge, in_flight: -1 },
        verdict: { type: 'admitted' },
      };
    }
    case 'RELEASE': {
      if (model.calls.length === 0) return undefined;
      const [reserved = 0] = model.calls.splice(command.call % model.calls.length, 1);
      const sums = { granted: reserved, settled: 0, reserved, in_flight: 1 };
      expect(releaseCall(sums, reserved)).toEqual({ ...sums, reserved: 0, in_flight: 0 });
      return {
        event: { type: 'CALLS', reserved: -reserved, settled: 0, in_flight: -1 },
        verdict: { type: 'admitted' },
      };
    }
    case 'GRANT': {
      model.granted += command.more;
      if (model.open)
        model.state = command.exact ? (model.state === 'ample' ? 'ample' : 'exact') : 'ample';
      if (model.state === 'exhausted') model.state = 'exact';
      return { event: { type: 'GRANTED', granted: model.granted, exact: command.exact } };
    }
    case 'REFUSED':
      if (model.open) model.state = command.gone ? 'exhausted' : 'exact';
      return { event: { type: 'REFUSED', gone: command.gone } };
    case 'RECALLED':
    case 'SHRINK': {
      const keep = command.do === 'SHRINK' ? command.keep : 0;
      const amount = Math.max(0, model.idle - keep);
      model.granted -= amount;
      if (command.do === 'RECALLED' && model.open) model.state = 'exact';
      const event =
        command.do === 'SHRINK'
          ? ({ type: 'SHRINK', keep } as const)
          : ({ type: 'RECALLED' } as const);
      return { event, verdict: { type: 'returned', amount } };
    }
    case 'UNBOOKED': {
      const amount = Math.floor(model.settled / 2);
      model.settled -= amount;
      return { event: { type: 'UNBOOKED', amount } };
    }
    case 'REFILL':
      if (model.state === 'ample') model.state = 'refilling';
      return { event: { type: 'REFILL' } };
    case 'LIMIT_CHANGED':
      if (model.state === 'exhausted') model.state = 'exact';
      return { event: { type: 'LIMIT_CHANGED' } };
    case 'REPLACED':
      model.granted = 0;
      model.settled = 0;
      model.calls = [];
      return { event: { type: 'REPLACED' } };
    case 'STATUS':
      if (model.state !== 'revoked')
        model.state = command.status === 'active' ? 'ample' : (command.status as State);
      return { event: { type: 'STATUS_CHANGED', status: command.status as 'active' } };
    case 'EXPIRED':
      if (model.state !== 'revoked') model.state = 'expired';
      return { event: { type: 'EXPIRED' } };
  }
}

function stateName(snapshot: SnapshotFrom<typeof quotaMachine>): string {
  return typeof snapshot.value === 'string' ? snapshot.value : snapshot.value.open;
}

describe('the quota machine', () => {
  test('P2: 10,000 random command sequences agree with a plain model and never overspend', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        const model = new PlainQuota();
        const live = createActor(quotaMachine).start();
        for (const each of commands) {
          const expected = step(model, each);
          if (!expected) continue;
          live.send(expected.event);
          const snapshot = live.getSnapshot();
          const { context } = snapshot;
          if (expected.verdict) expect(context.verdict as object).toEqual(expected.verdict);
          expect(stateName(snapshot)).toBe(model.state);
          expect([context.granted, context.settled, context.reserved, context.in_flight]).toEqual([
            model.granted,
            model.settled,
            model.reserved,
            model.calls.length,
          ]);
          expect(idleOf(context)).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: 10_000 },
    );
  });

  test('every state is reached, and a call in flight can end in each of them', () => {
    const events: QuotaEvent[] = [
      { type: 'GRANTED', granted: 10, exact: false },
      { type: 'GRANTED', granted: 10, exact: true },
      { type: 'RESERVE', amount: 10 },
      { type: 'REFILL' },
      { type: 'RECALLED' },
      { type: 'REFUSED', gone: true },
      { type: 'LIMIT_CHANGED' },
      { type: 'STATUS_CHANGED', status: 'inactive' },
      { type: 'STATUS_CHANGED', status: 'suspended' },
      { type: 'STATUS_CHANGED', status: 'revoked' },
      { type: 'STATUS_CHANGED', status: 'active' },
      { type: 'EXPIRED' },
    ];
    // The verdict is no part of the state: without it the graph has some dozens of states.
    const states = getAdjacencyMap(quotaMachine, {
      events,
      serializeState: ({ value, context: { verdict: _, ...money } }) =>
        JSON.stringify([value, money]),
      limit: 5_000,
    });
    const reached = new Set<string>();
    for (const { state } of Object.values(states)) {
      reached.add(stateName(state));
      if (state.context.in_flight !== 1) continue;
      const [after] = transition(quotaMachine, state, {
        type: 'CALLS',
        reserved: -10,
        settled: 4,
        in_flight: -1,
      });
      expect(after.context.settled - state.context.settled).toBe(4);
      expect(after.value).toEqual(state.value);
    }
    expect([...reached].sort()).toEqual(
      [
        'ample',
        'exact',
        'exhausted',
        'expired',
        'inactive',
        'refilling',
        'revoked',
        'suspended',
      ].sort(),
    );
  });

  test('a revoked key stays revoked after any other event', () => {
    const live = createActor(quotaMachine).start();
    live.send({ type: 'STATUS_CHANGED', status: 'revoked' });
    live.send({ type: 'STATUS_CHANGED', status: 'active' });
    live.send({ type: 'EXPIRED' });
    live.send({ type: 'LIMIT_CHANGED' });
    expect(live.getSnapshot().value).toBe('revoked');
  });
});
