import { expect, test } from 'bun:test';
import { ADDED_LEDGER_RUNS, FIRST_SEED, LEDGER_RUNS, runMany } from '../sim/many.ts';

const first = FIRST_SEED + LEDGER_RUNS;
const RUNS = ADDED_LEDGER_RUNS.near_cap;

test(`P2: near the cap no call is refused falsely, ${RUNS} more runs`, async () => {
  const totals = await runMany(RUNS, { calls: 16, capCalls: 8, faults: 0, kills: 0 }, first);
  expect(totals.served).toBeGreaterThan(7 * RUNS);
}, 1_200_000);
