import { expect, test } from 'bun:test';
import { ADDED_LEDGER_RUNS, FIRST_SEED, LEDGER_RUNS, runManyMishaps } from '../sim/many.ts';

/** The other half is in sim-more-mishaps.test.ts. */
const RUNS = ADDED_LEDGER_RUNS.mishaps / 2;

test(`P16: whatever happens to replicas and database, nothing stays held, ${RUNS} more runs`, async () => {
  const counts = await runManyMishaps(RUNS, FIRST_SEED + LEDGER_RUNS);
  expect(counts['outages']).toBeGreaterThan(RUNS / 10);
  expect(counts['compared']).toBeGreaterThan(RUNS / 4);
}, 1_200_000);
