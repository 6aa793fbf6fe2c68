import { expect, test } from 'bun:test';
import { ADDED_RUNS, FIRST_SEED, RUNS, runMany } from '../sim/many.ts';

const first = FIRST_SEED + RUNS;

test(`P1: every grant ends once despite faults and kills, ${ADDED_RUNS} more runs`, async () => {
  const totals = await runMany(
    ADDED_RUNS,
    { calls: 12, capCalls: 8, faults: 0.2, kills: 2 },
    first,
  );
  expect(totals.faults).toBeGreaterThan(ADDED_RUNS);
  expect(totals.kills).toBeGreaterThan(ADDED_RUNS / 2);
}, 1_200_000);
