import { describe, expect, test } from 'bun:test';
import { createActor } from 'xstate';
import { QuotaMachine } from '../../../src/actors/money/quota-machine.ts';
import {
  idleOf,
  type QuotaEvent,
  type QuotaSums,
  quotaMachine,
} from '../../../src/machines/quota.ts';
import { fc } from '../../support/property.ts';

const RUNS = 5_000;

/** Generates calls, and sometimes another event. Only admitted calls end. */
const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('reserve' as const), amount: fc.nat(60) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      call: fc.nat(9),
      actual: fc.nat(90),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), call: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('look' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('event' as const),
      event: fc.constantFrom<QuotaEvent>(
        { type: 'GRANTED', granted: 500, exact: false },
        { type: 'GRANTED', granted: 900, exact: true },
        { type: 'REFILL' },
        { type: 'REFUSED', gone: true },
        { type: 'RECALLED' },
        { type: 'SHRINK', keep: 20 },
        { type: 'LIMIT_CHANGED' },
        { type: 'STATUS_CHANGED', status: 'inactive' },
        { type: 'STATUS_CHANGED', status: 'active' },
        { type: 'EXPIRED' },
      ),
    }),
  },
);

/** Events that set the verdict; other events keep the previous one. */
const ANSWERED = ['GRANTED', 'RECALLED', 'SHRINK'];

const sumsOf = ({ granted, settled, reserved, in_flight }: QuotaSums) => ({
  granted,
  settled,
  reserved,
  in_flight,
});

describe('the quota machine of a key', () => {
  test('gives the same verdicts and sums as if each call were an event', () => {
    let countedCalls = 0;
    fc.assert(
      fc.property(fc.array(command, { minLength: 10, maxLength: 60 }), (commands) => {
        const live = new QuotaMachine();
        const plain = createActor(quotaMachine).start();
        const send = (event: QuotaEvent) => {
          plain.send(event);
          return plain.getSnapshot().context.verdict;
        };
        send({ type: 'GRANTED', granted: 300, exact: false });
        live.send({ type: 'GRANTED', granted: 300, exact: false });
        const calls: number[] = [];
        for (const each of commands) {
          if (each.do === 'reserve') {
            const verdict = send({ type: 'RESERVE', amount: each.amount });
            expect(live.reserve(each.amount)).toEqual(verdict);
            if (verdict.type === 'admitted') calls.push(each.amount);
          } else if (each.do === 'settle' || each.do === 'release') {
            const [reserved] = calls.splice(each.call % Math.max(1, calls.length), 1);
            if (reserved === undefined) continue;
            countedCalls += 1;
            if (each.do === 'settle') {
              const idle = idleOf(plain.getSnapshot().context);
              const charge = Math.min(each.actual, reserved + idle);
              send({ type: 'CALLS', reserved: -reserved, settled: charge, in_flight: -1 });
              expect(live.settle(reserved, each.actual)).toEqual({
                charge,
                overrun: each.actual - charge,
              });
            } else {
              send({ type: 'CALLS', reserved: -reserved, settled: 0, in_flight: -1 });
              live.release(reserved);
            }
          } else if (each.do === 'event') {
            const [answer, expected] = [live.send(each.event), send(each.event)];
            if (ANSWERED.includes(each.event.type)) expect(answer).toEqual(expected);
          } else {
            const { value, context } = live.snapshot;
            expect(value).toEqual(plain.getSnapshot().value);
            expect(sumsOf(context)).toEqual(sumsOf(plain.getSnapshot().context));
          }
          expect(sumsOf(live.sums)).toEqual(sumsOf(plain.getSnapshot().context));
        }
      }),
      { numRuns: RUNS },
    );
    expect(countedCalls).toBeGreaterThan(RUNS);
  });

  test('sends the counted calls to the machine before a read of its snapshot, once', () => {
    const live = new QuotaMachine();
    live.send({ type: 'GRANTED', granted: 100, exact: false });
    for (let call = 0; call < 5; call += 1) live.reserve(10);
    live.settle(10, 4);
    live.release(10);
    expect(live.snapshot.context).toMatchObject({ reserved: 30, settled: 4, in_flight: 3 });
    expect(live.snapshot).toBe(live.snapshot);
  });
});
