import { expect, test } from 'bun:test';
import { LEDGER_RUNS, openMishaps, runManyMishaps } from './many.ts';

test(`P16: whatever happens to replicas and database, in the end memory is the row and nothing is held, ${LEDGER_RUNS} runs`, async () => {
  const counts = await runManyMishaps(LEDGER_RUNS);
  // Every kind of mishap happened.
  for (const mishap of ['outages', 'pauses', 'kills', 'cuts', 'reapings', 'twins', 'leaves']) {
    expect(counts[mishap] ?? 0).toBeGreaterThan(0);
  }
  expect(counts['overruns']).toBeGreaterThan(LEDGER_RUNS / 2);
  expect(counts['compared']).toBeGreaterThan(LEDGER_RUNS / 4);
  expect(counts['holds']).toBe(2 * LEDGER_RUNS);
}, 500_000);

test('the same seed of the mishaps gives the same trace', async () => {
  const simulation = await openMishaps();
  const first = await simulation.run({ seed: 4_711 });
  const second = await simulation.run({ seed: 4_711 });
  await simulation.close();
  expect(second.trace).toEqual(first.trace);
});
