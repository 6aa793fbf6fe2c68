/** How long actors are usually in a state. */
import { describe, expect, test } from 'bun:test';
import { MACHINES } from '../../src/replay/machines.ts';
import { isStuck, USUAL_MS, usualMs } from '../../src/replay/usual.ts';

test('every machine has its times', () => {
  expect(Object.keys(USUAL_MS).sort()).toEqual(Object.keys(MACHINES).sort());
});

describe.each(Object.entries(MACHINES))('%s', (kind, { machine }) => {
  test('has times only for states that exist, and none for an end', () => {
    const states = Object.values(machine.states);
    const lasting = states.filter(({ type }) => type !== 'final').map(({ key }) => key);
    expect(Object.keys(USUAL_MS[kind] ?? {}).filter((top) => !lasting.includes(top))).toEqual([]);
  });
});

test('an actor is stuck if it is longer in its state than is usual', () => {
  const usual = usualMs('task', 'processing') ?? 0;
  expect(isStuck('task', 'processing', 0, usual)).toBe(false);
  expect(isStuck('task', 'processing', 0, usual + 1)).toBe(true);
});

test('an actor may rest where it waits for a person or has ended', () => {
  for (const [kind, top] of [
    ['quota', 'exhausted'],
    ['channel', 'healthy'],
    ['channel', 'disabled'],
    ['task', 'completed'],
    ['unknown', 'unknown'],
  ] as const) {
    expect(isStuck(kind, top, 0, Number.MAX_SAFE_INTEGER)).toBe(false);
  }
});
