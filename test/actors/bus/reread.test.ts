import { expect, test } from 'bun:test';
import { Reread } from '../../../src/actors/bus/reread.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';

const microtasks = () => new Promise((resolve) => setImmediate(resolve));

/** A truth whose reads end when the test says so. */
function slowTruth() {
  const clock = new VirtualClock();
  const reads: { succeed(): void; fail(): void }[] = [];
  const errors: unknown[] = [];
  const reread = new Reread({
    clock,
    read: () =>
      new Promise((resolve, reject) =>
        reads.push({ succeed: () => resolve(), fail: () => reject(new Error('away')) }),
      ),
    onError: (error) => errors.push(error),
  });
  return { clock, reads, errors, reread };
}

test('requests during a read cause one more read after it', async () => {
  const { reads, reread } = slowTruth();
  reread.request();
  let isDone = false;
  const done = reread.readNow().then(() => {
    isDone = true;
  });
  reread.request();
  reread.request();
  expect(reads).toHaveLength(1);
  reads[0]?.succeed();
  await microtasks();
  expect([reads.length, isDone]).toEqual([2, false]);
  reads[1]?.succeed();
  await done;
  await microtasks();
  expect(reads).toHaveLength(2);
});

test('a failed read is repeated until one succeeds', async () => {
  const { clock, reads, errors, reread } = slowTruth();
  const first = reread.readNow().catch((error: Error) => error.message);
  for (let time = 0; time < 3; time += 1) {
    reads[time]?.fail();
    await microtasks();
    clock.advance(1_000);
  }
  expect([await first, reads.length, errors.length]).toEqual(['away', 4, 3]);
  reads[3]?.succeed();
  await microtasks();
  expect(clock.pending).toBe(0);
});

test('after the stop nothing is read', async () => {
  const { clock, reads, reread } = slowTruth();
  reread.request();
  reread.request();
  reread.stop();
  reads[0]?.fail();
  await microtasks();
  await reread.readNow();
  expect([reads.length, clock.pending]).toEqual([1, 0]);
});
