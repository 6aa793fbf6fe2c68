import { expect, test } from 'bun:test';
import { inTurn, oneByOne } from '../../../src/upstreams/transport/turns.ts';

const WORK_MS = 20;

function occupyLoop(): void {
  const end_ms = performance.now() + WORK_MS;
  while (performance.now() < end_ms);
}

test('P20: between two works, other tasks of the event loop run', async () => {
  const order: string[] = [];
  const works = Array.from({ length: 5 }, (_, at) =>
    inTurn(() => {
      occupyLoop();
      order.push(`work ${at}`);
    }),
  );
  const other = setInterval(() => order.push('other'), 1);
  await Promise.all(works);
  clearInterval(other);
  expect(order.filter((each) => each !== 'other')).toEqual(works.map((_, at) => `work ${at}`));
  for (let at = 1; at < order.length; at += 1) {
    expect(order[at - 1] === 'other' || order[at] === 'other').toBeTrue();
  }
});

test('P20: the pause after long work is three times as long', async () => {
  const ended_ms = await inTurn(() => {
    occupyLoop();
    return performance.now();
  });
  const next_ms = await inTurn(() => performance.now());
  // A timer may fire a millisecond early.
  expect(next_ms - ended_ms).toBeGreaterThanOrEqual(3 * WORK_MS - 1);
});

test('a work that throws rejects its own promise only', async () => {
  const broken = inTurn(() => {
    throw new Error('broken');
  });
  const next = inTurn(() => 'next');
  expect(broken).rejects.toThrow('broken');
  expect(await next).toBe('next');
});

test('P20: in each turn of the event loop one caller continues, in the order of the calls', async () => {
  const order: string[] = [];
  const callers = Array.from({ length: 50 }, async (_, at) => {
    await oneByOne();
    order.push(`${at}`);
    await oneByOne();
    order.push(`${at} again`);
  });
  let isOver = false;
  const other = (): void => {
    order.push('other');
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  await Promise.all(callers);
  isOver = true;
  const first = callers.map((_, at) => `${at}`);
  expect(order.filter((each) => each !== 'other')).toEqual([
    ...first,
    ...first.map((at) => `${at} again`),
  ]);
  for (let at = 1; at < order.length; at += 1) {
    expect(order[at - 1] === 'other' || order[at] === 'other').toBeTrue();
  }
});
