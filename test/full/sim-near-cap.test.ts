import { expect, test } from 'bun:test';
import { ADDED_RUNS, FIRST_SEED, RUNS, runMany } from '../sim/many.ts';

const first = FIRST_SEED + RUNS;

test(`P2: near the cap no call is refused falsely, ${ADDED_RUNS} more runs`, async () => {
  const totals = await runMany(ADDED_RUNS, { calls: 16, capCalls: 8, faults: 0, kills: 0 }, first);
  expect(totals.served).toBeGreaterThan(7 * ADDED_RUNS);
}, 1_200_000);
