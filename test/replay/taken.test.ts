/** Which transition a machine took, and why, in words. */
import { describe, expect, test } from 'bun:test';
import { type AnyMachineSnapshot, type AnyStateMachine, initialTransition } from 'xstate';
import { MACHINES, versionedTask } from '../../src/replay/machines.ts';
import { takeEvent } from '../../src/replay/step.ts';
import { takenTransition } from '../../src/replay/taken.ts';
import type { VersionedMachine } from '../../src/replay/versioned.ts';
import { eventWords, guardWords, whyWords } from '../../src/replay/why-words.ts';
import { ACCEPTED, rejected } from '../machines/events.ts';

/** The state of a machine after events. */
function after(machine: AnyStateMachine, events: readonly { type: string }[]): AnyMachineSnapshot {
  return events.reduce<AnyMachineSnapshot>(
    (snapshot, event) => takeEvent(machine, snapshot, event)[0],
    initialTransition(machine)[0],
  );
}

const taskAfter = (...events: { type: string }[]) => after(versionedTask.machine, events);
const takenByTask = (snapshot: AnyMachineSnapshot, event: { type: string }, version = 3) =>
  takenTransition(versionedTask, version, snapshot, event);

test('the guard that held is named', () => {
  const taken = takenByTask(taskAfter(ACCEPTED), rejected({ more: true }));
  expect(taken).toEqual({
    ...{ event: 'SUBMIT_REJECTED', source: 'pending.submitting', target: 'pending.submitting' },
    ...{ guard: 'mayFailOver', failed: ['isEnding', 'isUnwanted', 'isBusy'] },
  });
});

test('where no guard held, those that failed say why', () => {
  const taken = takenByTask(taskAfter(ACCEPTED), rejected({ retryable: false }));
  expect(taken).toMatchObject({ target: 'refunding', guard: null });
  expect(taken?.failed).toEqual(['isEnding', 'isUnwanted', 'isBusy', 'mayFailOver', 'mayTryLater']);
});

test('a transition of an outer state names it as its source', () => {
  const lost = taskAfter(ACCEPTED, { type: 'LOST' });
  const taken = takenByTask(lost, { type: 'UPSTREAM_FAILED' });
  expect(taken).toMatchObject({ source: 'processing.unknown', target: 'refunding', guard: null });
});

test('an event that nothing takes has no transition', () => {
  expect(takenByTask(taskAfter(), { type: 'POLL' })).toBeUndefined();
  const ended = taskAfter(ACCEPTED, { type: 'UPSTREAM_FAILED' }, { type: 'RELEASED' });
  expect(takenByTask(ended, { type: 'POLL' })).toBeUndefined();
});

test('an event of an earlier version is taken by the machine of that version', () => {
  const [first] = versionedTask.earlier ?? [];
  if (!first) throw new Error('there is no earlier version');
  const cancel = { type: 'CANCEL_REQUESTED' };
  expect(takenByTask(after(first.machine, [ACCEPTED]), cancel, first.version)).toBeUndefined();
  expect(takenByTask(taskAfter(ACCEPTED), cancel)).toMatchObject({ target: null, guard: null });
});

test('why a key is refused, in words', () => {
  const { quota } = MACHINES;
  if (!quota) throw new Error('there is no machine of quotas');
  const start = after(quota.machine, []);
  const why = (gone: boolean) => {
    const event = { type: 'REFUSED', gone };
    const taken = takenTransition(quota, 1, start, event);
    return taken && whyWords('quota', taken);
  };
  expect(why(true)).toBe(
    'the ledger granted no money, and all money of the key or of its organization is spent',
  );
  expect(why(false)).toBe('the ledger granted no money, and running calls could still free money');
});

interface Node {
  readonly transitions: ReadonlyMap<string, readonly { readonly guard?: unknown }[]>;
  readonly states: Readonly<Record<string, Node>>;
}

/** The events and the guards of all states of a machine. */
function namesOf({ transitions, states }: Node): { events: string[]; guards: string[] } {
  const inner = Object.values(states).map(namesOf);
  const guards = [...transitions.values()].flat().flatMap(({ guard }) => guard ?? []);
  return {
    events: [...transitions.keys(), ...inner.flatMap(({ events }) => events)],
    guards: [...guards.map(String), ...inner.flatMap((each) => each.guards)],
  };
}

describe.each(Object.entries(MACHINES))('%s', (kind, current: VersionedMachine) => {
  const { events, guards } = namesOf(current.machine.root as unknown as Node);

  test('has words for each event', () => {
    expect(events.length).toBeGreaterThan(3);
    expect(events.filter((event) => eventWords(kind, event) === '')).toEqual([]);
  });

  test('has words for each guard, if it holds and if it does not', () => {
    const silent = guards.filter(
      (guard) => guardWords(kind, guard, true) === '' || guardWords(kind, guard, false) === '',
    );
    expect(silent).toEqual([]);
  });

  test('is explained without words that organizations may not read (P5)', () => {
    if (kind === 'channel') return;
    const words = [
      ...events.map((event) => eventWords(kind, event)),
      ...guards.flatMap((guard) => [true, false].map((held) => guardWords(kind, guard, held))),
    ];
    expect(words.join('\n')).not.toMatch(/channel|provider/i);
  });
});
