/** The second half of the schedules with mishaps, in a file of its own, so that both halves run at the same time. */
import { expect, test } from 'bun:test';
import { ADDED_LEDGER_RUNS, FIRST_SEED, LEDGER_RUNS, runManyMishaps } from '../sim/many.ts';

const RUNS = ADDED_LEDGER_RUNS.mishaps / 2;

test(`P16: whatever happens to replicas and database, nothing stays held, the last ${RUNS} runs`, async () => {
  const counts = await runManyMishaps(RUNS, FIRST_SEED + LEDGER_RUNS + RUNS);
  expect(counts['outages']).toBeGreaterThan(RUNS / 10);
  expect(counts['compared']).toBeGreaterThan(RUNS / 4);
}, 1_200_000);
