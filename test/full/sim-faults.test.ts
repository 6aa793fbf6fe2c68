import { expect, test } from 'bun:test';
import { ADDED_LEDGER_RUNS, FIRST_SEED, LEDGER_RUNS, runMany } from '../sim/many.ts';

const first = FIRST_SEED + LEDGER_RUNS;
const RUNS = ADDED_LEDGER_RUNS.faults;

test(`P1: every grant ends once despite faults and kills, ${RUNS} more runs`, async () => {
  const totals = await runMany(RUNS, { calls: 12, capCalls: 8, faults: 0.2, kills: 2 }, first);
  expect(totals.faults).toBeGreaterThan(RUNS);
  expect(totals.kills).toBeGreaterThan(RUNS / 2);
}, 1_200_000);
