import { expect, test } from 'bun:test';
import type { Load } from '../../bench/load.ts';
import { measureBoth, noWork } from '../../bench/pairs.ts';
import type { SideName } from '../../bench/side.ts';

test('both versions are loaded in short turns, and neither is always the first one', async () => {
  const turns: { name: SideName; load: Load }[] = [];
  const sideOf = (name: SideName) => ({
    measure: async (load: Load) => {
      turns.push({ name, load });
      return { answers: turns.length, seconds: load.seconds, cpu_seconds: 0, undisturbed: true };
    },
  });
  const done = noWork();
  const sides = { old: sideOf('old'), new: sideOf('new') };
  await measureBoth(sides, ['new', 'old'], true, { connections: 8, seconds: 3 }, done);
  const once: SideName[] = ['new', 'old', 'old', 'new'];
  expect(turns.map(({ name }) => name)).toEqual([...once, ...once, ...once]);
  for (const { load } of turns) expect(load).toEqual({ connections: 8, stream: true, seconds: 1 });
  expect(done.new.map(({ answers }) => answers)).toEqual([1, 4, 5, 8, 9, 12]);
  expect(done.old.map(({ answers }) => answers)).toEqual([2, 3, 6, 7, 10, 11]);
});
