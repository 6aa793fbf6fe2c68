import { expect, test } from 'bun:test';
import { isDisturbed, readTicks, ticksOfFamily } from '../../bench/disturbance.ts';

test('the ticks of a family are those of a process and of all its descendants', () => {
  const processes = [
    { pid: 4, parent: 3, ticks: 1 },
    { pid: 2, parent: 1, ticks: 10 },
    { pid: 3, parent: 2, ticks: 100 },
    { pid: 9, parent: 1, ticks: 1_000 },
  ];
  expect(ticksOfFamily(processes, 2)).toBe(111);
});

test('a measurement is disturbed if others used more than a tenth of the cores', () => {
  const before = { all: 1_000, programs: 500, own: 100 };
  const after = (foreign: number) => ({ all: 1_200, programs: 600 + foreign, own: 200 });
  expect(isDisturbed(before, after(20))).toBe(false);
  expect(isDisturbed(before, after(21))).toBe(true);
});

test('the CPU time of an ended child counts for this process', () => {
  const before = readTicks();
  Bun.spawnSync([
    process.execPath,
    '-e',
    'const end = Date.now() + 500; while (Date.now() < end);',
  ]);
  const after = readTicks();
  expect(after.own).toBeGreaterThan(before.own);
  expect(after.programs).toBeGreaterThan(before.programs);
  expect(after.all).toBeGreaterThan(before.all);
});
