import { expect, test } from 'bun:test';
import { openDurableSimulation, runManyDurable, USUAL_RUNS } from './many.ts';

test(`P3: durable actors end right through lost connections, kills and late effects, ${USUAL_RUNS} runs`, async () => {
  const totals = await runManyDurable(USUAL_RUNS, { actors: 3, faults: 0.2, kills: 2 });
  expect(totals.events).toBeGreaterThan(6 * USUAL_RUNS);
  expect(totals.faults).toBeGreaterThan(USUAL_RUNS);
  expect(totals.kills).toBeGreaterThan(USUAL_RUNS / 2);
}, 500_000);

test('a seed of the durable runtime replays exactly', async () => {
  const simulation = await openDurableSimulation();
  const options = { seed: 4_711, actors: 4, faults: 0.2, kills: 2 };
  const names = /durable-\d+-[0-9a-f]{8}/g;
  const first = (await simulation.run(options)).trace.map((line) => line.replace(names, 'replica'));
  const second = (await simulation.run(options)).trace.map((line) =>
    line.replace(names, 'replica'),
  );
  await simulation.close();
  expect(second).toEqual(first);
});
