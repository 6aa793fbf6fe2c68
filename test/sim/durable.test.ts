import { expect, test } from 'bun:test';
import { openDurableSimulation, RUNS, runManyDurable } from './many.ts';

test(`P3: durable actors and their live actors are right despite lost connections, kills and late effects, ${RUNS} runs`, async () => {
  const totals = await runManyDurable(RUNS, { actors: 3, faults: 0.2, kills: 2 });
  expect(totals.events).toBeGreaterThan(6 * RUNS);
  expect(totals.faults).toBeGreaterThan(RUNS);
  expect(totals.kills).toBeGreaterThan(RUNS / 2);
  expect(totals.watched).toBeGreaterThan(2 * RUNS);
}, 500_000);

test('the same seed of the durable runtime gives the same trace', async () => {
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
