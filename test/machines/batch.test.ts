import { describe, expect, test } from 'bun:test';
import { initialTransition, transition } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { type BatchEvent, batchMachine } from '../../src/machines/batch.ts';
import { fc } from '../support/property.ts';
import { BATCH_EVENTS, COUNTS } from './events.ts';

/** Runs the machine as the runtime does, and collects its effects in order. */
function play(events: readonly BatchEvent[]) {
  let [snapshot] = initialTransition(batchMachine);
  const effects: { type: string; params: unknown }[] = [];
  for (const event of events) {
    if (snapshot.status !== 'active') break;
    const [next, actions] = transition(batchMachine, snapshot, event);
    snapshot = next;
    effects.push(...actions.map(({ type, params }) => ({ type, params })));
  }
  return { snapshot, effects: effects.filter(({ type }) => type === 'work' || type === 'close') };
}

describe('the batch machine', () => {
  test('reaches every state, and a final state from each state', () => {
    const paths = getShortestPaths(batchMachine, { events: BATCH_EVENTS });
    const reached = new Set(paths.map(({ state }) => JSON.stringify(state.value)));
    expect(reached).toEqual(
      new Set(
        [
          'received',
          { in_progress: 'working' },
          { in_progress: 'closing' },
          { canceling: 'draining' },
          { canceling: 'closing' },
          'ended',
        ].map((value) => JSON.stringify(value)),
      ),
    );
    for (const { state } of paths) {
      if (state.status !== 'active') continue;
      const onwards = getShortestPaths(batchMachine, { fromState: state, events: BATCH_EVENTS });
      expect(onwards.some((path) => path.state.status === 'done')).toBe(true);
    }
  });

  test('remaining items expire if the work ends, and are canceled if the batch is canceled', () => {
    const [opened, cancel, worked, closed] = BATCH_EVENTS as [
      BatchEvent,
      BatchEvent,
      BatchEvent,
      BatchEvent,
    ];
    const whole = play([opened, worked, closed]);
    expect(whole.effects).toEqual([
      { type: 'work', params: {} },
      { type: 'close', params: { rest: 'expired' } },
    ]);
    expect(whole.snapshot.context.counts).toEqual(COUNTS);
    const cancelled = play([opened, cancel, cancel, worked, closed]);
    expect(cancelled.effects.at(-1)).toEqual({ type: 'close', params: { rest: 'canceled' } });
    expect(cancelled.snapshot.value).toBe('ended');
  });

  test('cannot be canceled after all items have run', () => {
    const [opened, cancel, worked] = BATCH_EVENTS as [BatchEvent, BatchEvent, BatchEvent];
    expect(play([opened, worked, cancel]).snapshot.value).toEqual({ in_progress: 'closing' });
  });

  test('for any sequence of events it works at most once and closes at most once', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...BATCH_EVENTS), { maxLength: 30 }), (events) => {
        const { effects } = play(events);
        expect(effects.filter(({ type }) => type === 'work').length).toBeLessThanOrEqual(1);
        expect(effects.filter(({ type }) => type === 'close').length).toBeLessThanOrEqual(1);
      }),
    );
  });
});
