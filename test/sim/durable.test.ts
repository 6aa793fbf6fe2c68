import { expect, test } from 'bun:test';
import { FIRST_SEED, openDurableSimulation } from './many.ts';

test('P3: durable actors end correctly despite lost connections, kills and late effects, 1,000 runs', async () => {
  const simulation = await openDurableSimulation();
  const totals = { events: 0, faults: 0, kills: 0 };
  for (let seed = FIRST_SEED; seed < FIRST_SEED + 1_000; seed += 1) {
    const run = await simulation.run({ seed, actors: 3, faults: 0.2, kills: 2 });
    if (run.violations.length > 0) throw new Error(`seed ${seed}: ${run.violations.join('; ')}`);
    totals.events += run.events;
    totals.faults += run.faults;
    totals.kills += run.kills;
  }
  await simulation.close();
  expect(totals.events).toBeGreaterThan(6_000);
  expect(totals.faults).toBeGreaterThan(1_000);
  expect(totals.kills).toBeGreaterThan(500);
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
