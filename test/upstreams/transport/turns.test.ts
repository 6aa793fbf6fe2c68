import { expect, test } from 'bun:test';
import { inTurn } from '../../../src/upstreams/transport/turns.ts';

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

test('a work that throws rejects its own promise only', async () => {
  const broken = inTurn(() => {
    throw new Error('broken');
  });
  const next = inTurn(() => 'next');
  expect(broken).rejects.toThrow('broken');
  expect(await next).toBe('next');
});
