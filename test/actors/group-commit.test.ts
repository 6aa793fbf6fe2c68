import { expect, test } from 'bun:test';
import { type Gathering, GroupCommit } from '../../src/actors/group-commit.ts';

/** A queue whose commits and pauses the test sees. `endPause` ends the pause of the queue. */
function newQueue(gathering: Gathering[]) {
  const batches: number[] = [];
  const pauses: number[] = [];
  let endPause: () => void = () => undefined;
  const queue = new GroupCommit<number, number>({
    commit: async (commands) => {
      batches.push(commands.length);
      return commands;
    },
    clock: {
      now: () => 0,
      after: (delay_ms, then) => {
        pauses.push(delay_ms);
        endPause = then;
        return () => undefined;
      },
    },
    gathering,
    mustCommit: () => false,
    onOutcomeUnknown: () => undefined,
    onError: () => undefined,
  });
  const submit = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => queue.submit(index)));
  return { queue, submit, batches, pauses, endPause: () => endPause() };
}

test('after a large batch the queue pauses, and takes all that came meanwhile together', async () => {
  const { queue, submit, batches, pauses, endPause } = newQueue([{ size: 4, pause_ms: 20 }]);
  await submit(4);
  const meanwhile = [submit(1), submit(1), submit(1)];
  await Bun.sleep(1);
  expect({ batches, pauses }).toEqual({ batches: [4], pauses: [20] });
  endPause();
  await Promise.all(meanwhile);
  await queue.drain();
  expect({ batches, pauses }).toEqual({ batches: [4, 3], pauses: [20] });
});

test('after a small batch it does not pause, so a single command waits for nothing', async () => {
  const { queue, submit, batches, pauses } = newQueue([{ size: 4, pause_ms: 20 }]);
  await submit(3);
  await submit(1);
  await queue.drain();
  expect({ batches, pauses }).toEqual({ batches: [3, 1], pauses: [] });
});

test('the larger the batch, the longer the pause', async () => {
  const { queue, submit, pauses, endPause } = newQueue([
    { size: 16, pause_ms: 50 },
    { size: 4, pause_ms: 20 },
  ]);
  for (const count of [15, 16]) {
    await submit(count);
    await Bun.sleep(1);
    endPause();
    await queue.drain();
  }
  expect(pauses).toEqual([20, 50]);
});
