import { expect, test } from 'bun:test';
import { RunningSubmissions } from '../../../src/inference/tasks/running.ts';

const forever = new AbortController().signal;

test.each(['before', 'while'] as const)(
  'a client that leaves %s the submission runs aborts it',
  (when) => {
    const running = new RunningSubmissions();
    if (when === 'before') running.abort('task');
    const { signal, hasClientLeft, end } = running.watch('task', forever);
    const other = running.watch('another task', forever);
    if (when === 'while') running.abort('task');
    expect(signal.aborted).toBe(true);
    expect(hasClientLeft()).toBe(true);
    expect(other.hasClientLeft()).toBe(false);
    end();
  },
);

test('the mark of a task that has ended aborts no later submission', () => {
  const running = new RunningSubmissions();
  running.abort('task');
  running.onEnded('task');
  expect(running.watch('task', forever).signal.aborted).toBe(false);
});
