import { describe, expect, test } from 'bun:test';
import { initialTransition, type SnapshotFrom, transition } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { taskMachine } from '../../src/machines/task.ts';
import {
  backOffMs,
  LAST_POLL_MS,
  MAX_CHANNELS_PER_ROUND,
  MAX_RECOLLECTIONS,
  type TaskEvent,
} from '../../src/machines/task-events.ts';
import { fc } from '../support/property.ts';
import { ACCEPTED, random, rejected, TASK_EVENTS } from './events.ts';

type Snapshot = SnapshotFrom<typeof taskMachine>;

interface Run {
  snapshot: Snapshot;
  effects: string[];
  statuses: string[];
}

function play(events: readonly TaskEvent[]): Run {
  let [snapshot] = initialTransition(taskMachine);
  const effects: string[] = [];
  const statuses = [topLevel(snapshot)];
  for (const event of events) {
    if (snapshot.status !== 'active') break;
    const [next, actions] = transition(taskMachine, snapshot, event);
    snapshot = next;
    effects.push(...actions.map(({ type }) => type));
    statuses.push(topLevel(snapshot));
  }
  return { snapshot, effects, statuses };
}

function topLevel({ value }: Snapshot): string {
  const top = typeof value === 'string' ? value : (Object.keys(value)[0] ?? '');
  return top === 'refunding' ? 'processing' : top;
}

const count = (effects: string[], name: string) => effects.filter((each) => each === name).length;
const RANKS: Record<string, number> = { pending: 0, processing: 1, completed: 2, failed: 2 };

describe('the task machine', () => {
  const STATES = [
    { pending: 'reserved' },
    { pending: 'submitting' },
    { processing: 'waiting' },
    { processing: 'polling' },
    { processing: { unknown: 'resting' } },
    { processing: { unknown: 'asking' } },
    { processing: 'collecting' },
    { processing: 'settling' },
    'refunding',
    'completed',
    'failed',
  ];

  test('every state is reached, and a final state is reached from each state', () => {
    const paths = getShortestPaths(taskMachine, {
      events: TASK_EVENTS,
      // If the state contained the counters, the graph would be infinite.
      serializeState: ({ value, context }) =>
        JSON.stringify([value, context.ending, context.has_job, context.patient]),
      stopWhen: ({ status }) => status !== 'active',
    });
    const reached = new Set(paths.map(({ state }) => JSON.stringify(state.value)));
    expect(reached).toEqual(new Set(STATES.map((state) => JSON.stringify(state))));
    for (const { state } of paths) {
      if (state.status !== 'active') continue;
      const onwards = getShortestPaths(taskMachine, {
        fromState: state,
        events: TASK_EVENTS,
        serializeState: ({ value, context }) => JSON.stringify([value, context.ending]),
        stopWhen: ({ status }) => status !== 'active',
      });
      expect(onwards.some((path) => path.state.status !== 'active')).toBe(true);
    }
  });

  test('P1, P11: for any order of events, money moves at most once and the status never goes back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...TASK_EVENTS), { minLength: 1, maxLength: 80 }),
        (events) => {
          const { snapshot, effects, statuses } = play([ACCEPTED, ...events]);
          const ranks = statuses.map((status) => RANKS[status] ?? Number.NaN);
          expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
          const moved = count(effects, 'settle') + count(effects, 'refund');
          expect(moved).toBeLessThanOrEqual(1);
          if (snapshot.value === 'completed') expect(count(effects, 'settle')).toBe(1);
          if (snapshot.value === 'failed') expect(count(effects, 'refund')).toBe(1);
          if (snapshot.status === 'done') expect(count(effects, 'announce')).toBe(1);
          // The context is stored as JSON, so it must survive a round trip.
          expect(JSON.parse(JSON.stringify(snapshot.context))).toEqual(snapshot.context);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('P10: after a lost answer no event leads to another submission', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...TASK_EVENTS), { maxLength: 60 }), (events) => {
        const { effects } = play([ACCEPTED, { type: 'LOST', random }, ...events]);
        expect(count(effects, 'submit')).toBe(1);
      }),
    );
  });

  test('after a rejection the next submission leaves out the channels that were tried', () => {
    const [pending] = initialTransition(taskMachine);
    const [submitting] = transition(taskMachine, pending, ACCEPTED);
    const [next, actions] = transition(taskMachine, submitting, rejected({ more: true }));
    expect(next.value).toEqual({ pending: 'submitting' });
    expect(actions).toContainEqual(
      expect.objectContaining({ type: 'submit', params: { tried: ['a'], pinned: null } }),
    );
  });

  test('a new round tries every channel again', () => {
    const round = [rejected({ more: true }), rejected({ channel_id: 'b' })];
    const { snapshot } = play([ACCEPTED, ...round]);
    const [, actions] = transition(taskMachine, snapshot, { type: 'RETRY' });
    expect(actions).toContainEqual(
      expect.objectContaining({ type: 'submit', params: { tried: [], pinned: null } }),
    );
  });

  test('a result that cannot be fetched is collected three times more, then refunded', () => {
    const again: TaskEvent[] = [
      { type: 'PRODUCED', outputs: 1 },
      { type: 'COLLECT_FAILED', random },
      { type: 'POLL' },
    ];
    const job: TaskEvent[] = [
      ACCEPTED,
      { type: 'SUBMITTED', channel_id: 'a', random },
      { type: 'POLL' },
    ];
    const { snapshot, effects } = play([...job, ...Array.from({ length: 9 }, () => again).flat()]);
    expect(snapshot.value).toBe('refunding');
    expect(count(effects, 'collect')).toBe(1 + MAX_RECOLLECTIONS);
  });

  test('a job is polled after 1, 2, 4, 8, 15 and 15 seconds', () => {
    const job: TaskEvent[] = [ACCEPTED, { type: 'SUBMITTED', channel_id: 'a', random }];
    const progressed: TaskEvent = { type: 'PROGRESSED', progress: null, retry_after_ms: 0, random };
    let [snapshot] = initialTransition(taskMachine);
    const delays: number[] = [];
    for (const event of [...job, ...Array.from({ length: 5 }, () => progressed)]) {
      if (event === progressed) [snapshot] = transition(taskMachine, snapshot, { type: 'POLL' });
      const [next, actions] = transition(taskMachine, snapshot, event);
      snapshot = next;
      for (const { type, params } of actions as { type: string; params?: unknown }[]) {
        const { name, delay_ms } = (params ?? {}) as { name?: string; delay_ms?: number };
        if (type === 'setTimer' && name === 'poll') delays.push(delay_ms ?? Number.NaN);
      }
    }
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  });

  test('P11: the progress is the largest one that the upstream reported', () => {
    const poll = (progress: number | null): TaskEvent[] => [
      { type: 'POLL' },
      { type: 'PROGRESSED', progress, retry_after_ms: 0, random },
    ];
    const job: TaskEvent[] = [ACCEPTED, { type: 'SUBMITTED', channel_id: 'a', random }];
    const after = (...reported: (number | null)[]) =>
      play([...job, ...reported.flatMap(poll)]).snapshot.context.progress;
    expect(after()).toBeNull();
    expect(after(null)).toBeNull();
    expect(after(0)).toBe(0);
    expect(after(40, null, 30)).toBe(40);
    expect(after(40, 30, 70)).toBe(70);
    // A report that no state expects, e.g. of a repeated effect, changes nothing.
    const stray: TaskEvent = { type: 'PROGRESSED', progress: 99, retry_after_ms: 0, random };
    expect(play([...job, ...poll(10), stray]).snapshot.context.progress).toBe(10);
  });

  test('a task whose client waits fails after one round, others after several', () => {
    const tries = Array.from({ length: 40 }, (_, index) =>
      index % 2 ? ({ type: 'RETRY' } as TaskEvent) : rejected(),
    );
    expect(count(play([{ ...ACCEPTED, patient: false }, ...tries]).effects, 'submit')).toBe(1);
    expect(count(play([ACCEPTED, ...tries]).effects, 'submit')).toBe(4);
    const endless = Array.from({ length: 40 }, () => rejected({ more: true }));
    const once = play([{ ...ACCEPTED, patient: false }, ...endless]);
    expect(count(once.effects, 'submit')).toBe(MAX_CHANNELS_PER_ROUND);
  });

  test('P3: the deadline polls once more; a result that is ready then is collected', () => {
    const waiting: TaskEvent[] = [ACCEPTED, { type: 'SUBMITTED', channel_id: 'a', random }];
    const late = play([...waiting, { type: 'DEADLINE' }, { type: 'PRODUCED', outputs: 1 }]);
    expect(late.snapshot.value).toEqual({ processing: 'collecting' });
    const never = play([
      ...waiting,
      { type: 'DEADLINE' },
      { type: 'PROGRESSED', progress: null, retry_after_ms: 0, random },
    ]);
    expect(never.snapshot.value).toBe('refunding');
    expect(never.effects).toContain('cancel');
    expect(never.snapshot.context.error_code).toBe('timeout_error');
  });

  test('P8: a client that leaves before there is a result stops the job', () => {
    const { snapshot, effects } = play([
      ACCEPTED,
      { type: 'CANCEL' },
      { type: 'SUBMITTED', channel_id: 'a', random },
    ]);
    expect(snapshot.value).toBe('refunding');
    expect(effects).toContain('cancel');
    const running = play([
      ...[ACCEPTED, { type: 'SUBMITTED', channel_id: 'a', random } as const],
      { type: 'CANCEL' },
    ]);
    expect(running.snapshot.value).toBe('refunding');
    expect(running.effects).toContain('cancel');
  });

  test('the pause between polls grows from 1 s to 15 s, is spread, and respects retry_after_ms', () => {
    fc.assert(
      fc.property(
        fc.nat(1_000),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.nat(120_000),
        (times, chance, retry_after_ms) => {
          const delay = backOffMs(times, chance, retry_after_ms);
          expect(delay).toBeGreaterThanOrEqual(Math.min(retry_after_ms, 60_000));
          expect(delay).toBeGreaterThanOrEqual(750);
          expect(backOffMs(times, chance)).toBeLessThanOrEqual(LAST_POLL_MS);
          expect(backOffMs(times + 1, chance)).toBeGreaterThanOrEqual(backOffMs(times, chance));
        },
      ),
    );
    expect(backOffMs(3, 0.1)).not.toBe(backOffMs(3, 0.9));
  });
});
