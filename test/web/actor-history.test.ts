/** The past of an actor, as its page replays it. */
import { describe, expect, test } from 'bun:test';
import { type AnyEventObject, initialTransition } from 'xstate';
import { MACHINES } from '../../src/replay/machines.ts';
import type { RecordedActor, RecordedEvent } from '../../src/replay/recording.ts';
import { statePath, takeEvent } from '../../src/replay/step.ts';
import { partingOf } from '../../web/pages/actors/compare/parting.ts';
import {
  changesAt,
  entryOf,
  historyOf,
  indexOf,
  statesUntil,
} from '../../web/pages/actors/one/history.ts';
import { ACCEPTED, rejected } from '../machines/events.ts';

const money = (held: number, settled = 0, released = 0) => ({
  ...{ held_nano_usd: held, settled_nano_usd: settled, released_nano_usd: released },
});

/** An actor that got these events. The first of them held 7, and the last one released them. */
function recorded(kind: string, events: readonly AnyEventObject[]): RecordedActor {
  const version = MACHINES[kind];
  if (!version) throw new Error(`no machine ${kind}`);
  let [snapshot] = initialTransition(version.machine);
  const log = events.map((event, index): RecordedEvent => {
    const [after] = takeEvent(version.machine, snapshot, event);
    const [from, to, taken] = [statePath(snapshot), statePath(after), after !== snapshot];
    snapshot = after;
    return {
      ...{ seq: index + 1, at: '2026-11-26T00:00:00.000Z', event, taken, from, to, hash: null },
      machine_version: version.version,
      money: index === 0 ? money(7) : index === events.length - 1 ? money(0, 0, 7) : null,
      ...{ cause: null, request_id: null, task_id: null },
    };
  });
  return { kind, id: 'one', replica: null, state: statePath(snapshot), base: null, events: log };
}

const FAILED = recorded('task', [
  ACCEPTED,
  rejected({ more: true }),
  rejected({ retryable: false }),
  { type: 'RELEASED' },
]);

describe('the history of a task that failed', () => {
  const history = historyOf(FAILED);

  test('begins before its first event, and has each event with its transition', () => {
    expect(history).toMatchObject({ isWhole: true, problem: null });
    expect(history.moments.map(({ seq, state }) => [seq, state])).toEqual([
      [0, 'pending.reserved'],
      [1, 'pending.submitting'],
      [2, 'pending.submitting'],
      [3, 'refunding'],
      [4, 'failed'],
    ]);
    expect(history.moments.map(({ taken }) => taken?.guard)).toEqual([
      ...[undefined, 'isNew', 'mayFailOver', null, null],
    ]);
  });

  test('sums the money that moved', () => {
    expect(history.moments.map((moment) => moment.money.held)).toEqual([0, 7, 7, 7, 7]);
    expect(history.moments.map((moment) => moment.money.released)).toEqual([0, 0, 0, 0, 7]);
  });

  test('says what each event changed', () => {
    expect(changesAt(history, 2)).toEqual([{ member: 'tried', before: [], after: ['a'] }]);
    expect(changesAt(history, 0)).toBeUndefined();
    expect(changesAt(history, 4)).toEqual([]);
  });

  test('says how it came into a state, up to a moment', () => {
    expect(entryOf(history, 'refunding', 4)).toEqual({ entered: 3 });
    expect(entryOf(history, 'refunding', 2)).toBe('never');
    expect(entryOf(history, 'pending', 4)).toBe('before');
    expect(entryOf(history, 'pending.submitting', 4)).toEqual({ entered: 1 });
    expect(statesUntil(history, 3)).toEqual([
      ...['refunding', 'pending.submitting', 'pending.reserved'],
    ]);
  });

  test('finds a moment by the number of its event', () => {
    expect(indexOf(history, 0)).toBe(0);
    expect(indexOf(history, 3)).toBe(3);
    expect(indexOf(history, undefined)).toBe(4);
    expect(indexOf(history, 99)).toBe(4);
  });
});

test('an actor whose earlier events are gone begins with what is kept', () => {
  const [, second, ...rest] = FAILED.events;
  if (!second) throw new Error('there is no second event');
  const whole = historyOf(FAILED);
  const context = { ...whole.moments[1]?.context };
  const base = { value: { pending: 'submitting' }, context };
  const history = historyOf({ ...FAILED, base, events: [second, ...rest] });
  expect(history).toMatchObject({ isWhole: false, problem: null });
  expect(history.moments.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  expect(entryOf(history, 'pending.submitting', 1)).toBe('before');
});

test('where the replay stops, the states are those of the log', () => {
  const events = FAILED.events.map((event) =>
    event.seq === 3 ? { ...event, to: 'completed' } : event,
  );
  const history = historyOf({ ...FAILED, events });
  expect(history.problem).toMatch(/event 3/);
  expect(history.moments.map(({ context }) => context !== null)).toEqual([
    ...[true, true, true, false, false],
  ]);
  expect(history.moments[3]?.state).toBe('completed');
  expect(changesAt(history, 3)).toBeUndefined();
});

test('an actor without events has one moment', () => {
  const history = historyOf({ ...FAILED, events: [], state: 'pending.reserved' });
  expect(history.moments).toHaveLength(1);
  expect(history.moments[0].state).toBe('pending.reserved');
});

describe('two runs of one machine part', () => {
  const run = (...events: AnyEventObject[]) => historyOf(recorded('task', [ACCEPTED, ...events]));
  const refused = run(rejected({ retryable: false }));

  test('where their events lead to other states', () => {
    expect(partingOf(refused, run({ type: 'LOST' }))).toBe(2);
    expect(partingOf(run(rejected({ more: true })), refused)).toBe(2);
  });

  test('where one of them ends', () => {
    expect(partingOf(refused, historyOf(FAILED))).toBe(2);
    expect(partingOf(refused, run(rejected({ retryable: false }), { type: 'RELEASED' }))).toBe(3);
  });

  test('nowhere if they took the same steps', () => {
    expect(partingOf(refused, run(rejected({ retryable: false })))).toBeUndefined();
  });
});
