import { describe, expect, test } from 'bun:test';
import { type AnyMachineSnapshot, initialTransition, transition } from 'xstate';
import { RESTORED } from '../../../src/actors/durable/registry.ts';
import type { TaskUpdate, TaskView } from '../../../src/inference/tasks/port.ts';
import {
  FIRST_PUBLIC_STATE,
  isPublicChange,
  isTerminal,
  nextPublicState,
  type PublicState,
  publicStatus,
  type TaskLogEvent,
} from '../../../src/inference/tasks/public-state.ts';
import {
  MAX_LOG_EVENTS_PER_QUERY,
  MAX_WAITING_CHANGES,
  OpenWatch,
} from '../../../src/inference/tasks/task-watch.ts';
import { taskMachine } from '../../../src/machines/task.ts';
import type { TaskEvent } from '../../../src/machines/task-events.ts';
import { fc } from '../../support/property.ts';

const random = 0.5;
const ACCEPTED: TaskEvent = {
  type: 'ACCEPTED',
  deadline_ms: 60_000,
  patient: true,
  announce: true,
  pinned_channel: null,
};
const SUBMITTED: TaskEvent = { type: 'SUBMITTED', channel_id: 'a', random };
const progressed = (progress: number | null): TaskEvent => ({
  type: 'PROGRESSED',
  progress,
  retry_after_ms: 0,
  random,
});
const REJECTED: TaskEvent = {
  type: 'SUBMIT_REJECTED',
  channel_id: 'a',
  retryable: true,
  more: false,
  busy: false,
  error_code: 'upstream_error',
  retry_after_ms: 0,
  random,
};

/** The events that a task gets besides polls. */
const OTHERS: TaskEvent[] = [
  ...[SUBMITTED, REJECTED],
  ...[{ type: 'PRODUCED', outputs: 1 } as const, { type: 'COLLECTED', outputs: 1 } as const],
  ...[{ type: 'SETTLED', billing_id: 'b' } as const, { type: 'RELEASED' } as const],
  ...[{ type: 'ANNOUNCED' } as const, { type: 'CANCELLED' } as const, { type: 'RETRY' } as const],
  ...[{ type: 'COLLECT_FAILED', random } as const, { type: 'LOST', random } as const],
  { type: 'UPSTREAM_FAILED', error_code: 'upstream_error' },
  ...[{ type: 'DEADLINE' } as const, { type: 'CANCEL' } as const],
];
const anyPoll = fc
  .option(fc.integer({ min: 0, max: 100 }))
  .map((progress): TaskEvent[] => [{ type: 'POLL' }, progressed(progress)]);
/** Events at the right and at the wrong time. */
const anyEvents = fc.oneof(
  { weight: 2, arbitrary: anyPoll },
  { weight: 3, arbitrary: fc.constantFrom(...OTHERS).map((event) => [event]) },
);

interface Step {
  readonly logged: TaskLogEvent;
  readonly snapshot: AnyMachineSnapshot;
}

/** The log that the machine writes, with the snapshot after each event. */
function play(events: readonly TaskEvent[]): Step[] {
  let [snapshot] = initialTransition(taskMachine);
  return [ACCEPTED, ...events].map((event, index) => {
    const taken = snapshot.status === 'active' && snapshot.can(event);
    if (taken) [snapshot] = transition(taskMachine, snapshot, event);
    const to_state = nameOf(snapshot.value);
    const logged = { seq: index + 1, event, to_state, taken } as TaskLogEvent;
    return { logged, snapshot: snapshot as AnyMachineSnapshot };
  });
}

function nameOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const [[name, inner] = ['', '']] = Object.entries(value as Record<string, unknown>);
  return `${name}.${nameOf(inner)}`;
}

/** The public changes of a log. */
function changesOf(log: readonly TaskLogEvent[]): PublicState[] {
  let state = FIRST_PUBLIC_STATE;
  const changes: PublicState[] = [];
  for (const logged of log) {
    const next = nextPublicState(state, logged);
    if (isPublicChange(state, next)) changes.push(next);
    state = next;
  }
  return changes;
}

const ORDER = ['pending', 'processing', 'completed', 'failed'];
const anyLog = fc
  .array(anyEvents, { minLength: 5, maxLength: 60, size: 'max' })
  .map((events) => play([SUBMITTED, ...events.flat()]));

describe('the public changes of a task’s log', () => {
  test('P11: go only forward, have increasing ids, and end with at most one terminal state', () => {
    let ended = 0;
    fc.assert(
      fc.property(anyLog, (steps) => {
        const changes = changesOf(steps.map(({ logged }) => logged));
        let before = FIRST_PUBLIC_STATE;
        for (const [index, change] of changes.entries()) {
          expect(change.seq).toBeGreaterThan(before.seq);
          expect(ORDER.indexOf(change.status)).toBeGreaterThanOrEqual(ORDER.indexOf(before.status));
          expect(change.progress ?? -1).toBeGreaterThanOrEqual(before.progress ?? -1);
          if (isTerminal(change)) expect(index).toBe(changes.length - 1);
          before = change;
        }
        const last = steps.at(-1);
        expect(before.status).toBe(publicStatus(last?.logged.to_state ?? 'pending'));
        if (isTerminal(before)) ended += 1;
      }),
      { numRuns: 1_000 },
    );
    expect(ended).toBeGreaterThan(100);
  });

  test('have the progress that the task’s snapshot has', () => {
    fc.assert(
      fc.property(anyLog, (steps) => {
        let state = FIRST_PUBLIC_STATE;
        for (const { logged, snapshot } of steps) {
          state = nextPublicState(state, logged);
          expect(state.progress).toBe((snapshot.context as { progress: number | null }).progress);
        }
      }),
    );
  });

  test('an event of an earlier version, without progress, changes no progress', () => {
    const logged = {
      seq: 1,
      event: { type: 'PROGRESSED' },
      to_state: 'processing.waiting',
      taken: true,
    };
    const before: PublicState = { seq: 0, status: 'processing', progress: 30 };
    expect(nextPublicState(before, logged).progress).toBe(30);
  });
});

const VIEW = { id: 'weir_1', status: 'completed' } as unknown as TaskView;

/** A watch over a log in memory. */
function watchOf(log: TaskLogEvent[], status: TaskView['status'] = 'completed') {
  const errors: unknown[] = [];
  const counts = { closed: 0, reads: 0, largest: 0 };
  const watch = new OpenWatch({
    async readLog(after_seq, limit) {
      counts.reads += 1;
      counts.largest = Math.max(counts.largest, limit);
      return log.filter(({ seq }) => seq > after_seq).slice(0, limit);
    },
    readView: async () => ({ ...VIEW, status }),
    onClosed: () => {
      counts.closed += 1;
    },
    onError: (error) => errors.push(error),
  });
  return { watch, errors, counts };
}

/** Reads a watch until nothing more comes. */
async function drain(watch: OpenWatch): Promise<Exclude<TaskUpdate, { type: 'quiet' }>[]> {
  const updates: Exclude<TaskUpdate, { type: 'quiet' }>[] = [];
  for (;;) {
    const update = await watch.next(0);
    if (update.type === 'quiet' || update.type === 'closed') return updates;
    updates.push(update);
    if (update.type === 'ended') return updates;
  }
}

const changeOf = ({ logged, snapshot }: Step, type?: string) => ({
  ...{ kind: 'task', id: 'weir_1', seq: logged.seq, snapshot, taken: logged.taken },
  event: type === undefined ? logged.event : { type },
});
const seqsOf = (updates: readonly TaskUpdate[]) =>
  updates.map((update) => ('seq' in update ? update.seq : 0));

describe('a watch', () => {
  test('has the changes after any event that the client knows, however the live events arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyLog,
        fc.nat(60),
        fc.nat(60),
        fc.infiniteStream(fc.constantFrom('live', 'missed', 'restored')),
        async (steps, known, from, kinds) => {
          const log = steps.map(({ logged }) => logged);
          const known_seq = 1 + (known % log.length);
          const status = publicStatus(log.at(-1)?.to_state ?? '');
          const committed = log.slice(0, Math.max(known_seq, from % (log.length + 1)));
          const { watch, errors } = watchOf(committed, status);
          expect(await watch.beginAfter(known_seq)).toBe(true);
          const updates = await drain(watch);
          for (const step of steps.slice(committed.length)) {
            committed.push(step.logged);
            const { value } = kinds.next();
            if (value !== 'missed')
              watch.onChange(changeOf(step, value === 'live' ? undefined : RESTORED));
            if (step.logged.seq % 3 === 0) updates.push(...(await drain(watch)));
          }
          // After the last event, the comparison with the row finds what was missed.
          const last = steps.at(-1);
          if (last) watch.onChange({ ...changeOf(last, RESTORED), seq: log.length });
          if (!updates.some(({ type }) => type === 'ended')) updates.push(...(await drain(watch)));
          const expected = changesOf(log).filter(({ seq }) => seq > known_seq);
          expect(seqsOf(updates)).toEqual(expected.map(({ seq }) => seq));
          expect(errors).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('reads a long log page by page', async () => {
    const count = 3 * MAX_LOG_EVENTS_PER_QUERY;
    const polls = Array.from({ length: count / 2 }, (_, index) => [
      { type: 'POLL' } as TaskEvent,
      progressed(Math.floor((index * 200) / count)),
    ]);
    const log = play([SUBMITTED, ...polls.flat()]).map(({ logged }) => logged);
    const { watch, counts } = watchOf(log);
    expect(await watch.beginAfter(1)).toBe(true);
    expect(counts.reads).toBe(1);
    const expected = changesOf(log).filter(({ seq }) => seq > 1);
    expect(seqsOf(await drain(watch))).toEqual(expected.map(({ seq }) => seq));
    expect(expected.length).toBeGreaterThan(90);
    expect(counts.largest).toBe(MAX_LOG_EVENTS_PER_QUERY);
  });

  test('a client that reads slowly gets the latest progress and the terminal record', async () => {
    const polls = Array.from({ length: 100 }, (_, index) => [
      { type: 'POLL' } as TaskEvent,
      progressed(index),
    ]);
    const end: TaskEvent[] = [
      ...[{ type: 'POLL' } as const, { type: 'PRODUCED', outputs: 1 } as const],
      ...[{ type: 'COLLECTED', outputs: 1 } as const],
      { type: 'SETTLED', billing_id: 'b' },
    ];
    const steps = play([SUBMITTED, ...polls.flat(), ...end]);
    const { watch } = watchOf([]);
    const [first] = steps;
    watch.beginAt(first?.snapshot as AnyMachineSnapshot, 1);
    for (const step of steps.slice(1)) watch.onChange(changeOf(step));
    const updates = await drain(watch);
    expect(updates.length).toBeLessThanOrEqual(MAX_WAITING_CHANGES);
    expect(updates.at(-2)).toMatchObject({ type: 'progress', status: 'processing', progress: 99 });
    expect(updates.at(-1)).toEqual({ type: 'ended', seq: steps.length, view: VIEW });
  });

  test('refuses an event that the log does not have', async () => {
    const log = play([SUBMITTED]).map(({ logged }) => logged);
    expect(await watchOf(log).watch.beginAfter(3)).toBe(false);
    expect(await watchOf(log).watch.beginAfter(2)).toBe(true);
  });

  test('closes without a terminal record if the log cannot be read', async () => {
    const { watch, errors, counts } = watchOf([]);
    const steps = play([SUBMITTED, { type: 'POLL' }]);
    watch.beginAt(steps[0]?.snapshot as AnyMachineSnapshot, 1);
    await drain(watch);
    // The live actor skipped an event, but the log does not have it.
    watch.onChange(changeOf(steps[2] as Step));
    expect(await watch.next(0)).toEqual({ type: 'closed' });
    expect(errors).toHaveLength(1);
    expect(counts.closed).toBe(1);
  });

  test('that is closed answers at once, and only once tells its owner', async () => {
    const { watch, counts } = watchOf([]);
    watch.beginAt(play([])[0]?.snapshot as AnyMachineSnapshot, 1);
    await drain(watch);
    const next = watch.next(60_000);
    watch.close();
    watch.close();
    expect(await next).toEqual({ type: 'closed' });
    expect(counts.closed).toBe(1);
  });
});
