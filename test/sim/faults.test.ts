import { expect, test } from 'bun:test';
import { LEDGER_RUNS, openSimulation, runMany } from './many.ts';

test(`P1: every grant ends once despite lost connections and kills at every commit point, ${LEDGER_RUNS} runs`, async () => {
  const totals = await runMany(LEDGER_RUNS, { calls: 12, capCalls: 8, faults: 0.2, kills: 2 });
  expect(totals.faults).toBeGreaterThan(LEDGER_RUNS);
  expect(totals.kills).toBeGreaterThan(LEDGER_RUNS / 2);
}, 500_000);

test('the same seed gives the same trace', async () => {
  const simulation = await openSimulation();
  const options = { seed: 4_711, calls: 24, capCalls: 10, faults: 0.2, kills: 2 };
  const first = await simulation.run(options);
  const second = await simulation.run(options);
  await simulation.close();
  expect(second.trace).toEqual(first.trace);
});
