import { describe, expect, test } from 'bun:test';
import type { AnyStateMachine, StateNode } from 'xstate';
import { MACHINES } from '../../src/replay/machines.ts';
import { attemptOf, wordsFor } from '../../src/replay/words.ts';

/** The paths of all states without inner states. */
function leaves(machine: AnyStateMachine): string[] {
  const walk = (node: StateNode): string[] =>
    node.type === 'compound'
      ? Object.values(node.states).flatMap((inner) => walk(inner as StateNode))
      : [node.path.join('.')];
  return walk(machine.root as unknown as StateNode);
}

describe.each(Object.entries(MACHINES))('%s', (kind, { machine, earlier = [] }) => {
  test('has words for each state of each version', () => {
    const states = [machine, ...earlier.map((each) => each.machine)].flatMap(leaves);
    expect(states.length).toBeGreaterThan(1);
    expect(states.filter((state) => wordsFor(kind, state) === '')).toEqual([]);
  });

  test('is described without words that organizations may not read (P5)', () => {
    if (kind === 'channel') return;
    const words = leaves(machine).map((state) => wordsFor(kind, state));
    expect(words.join('\n')).not.toMatch(/channel|provider/i);
  });
});

test('an attempt is counted from 1', () => {
  expect(attemptOf('task', 'processing.polling', { polls: 4 }, null)).toBe(5);
  expect(attemptOf('task', 'pending.submitting', { rounds: 0 }, 0)).toBe(1);
  expect(attemptOf('task', 'processing.collecting', {}, 2)).toBe(3);
  expect(attemptOf('webhook', 'waiting', { attempts: 1 }, null)).toBe(2);
  expect(attemptOf('webhook', 'delivered', { attempts: 1 }, null)).toBeNull();
  expect(attemptOf('channel', 'open', { openings: 2 }, null)).toBe(2);
  expect(attemptOf('quota', 'exhausted', {}, null)).toBeNull();
});
