import { expect, test } from 'bun:test';
import { RUNS, runMany } from './many.ts';

test(`P2: near the cap two replicas never refuse falsely and never overspend, ${RUNS} runs`, async () => {
  const totals = await runMany(RUNS, { calls: 16, capCalls: 8, faults: 0, kills: 0 });
  expect(totals.served).toBeGreaterThan(7 * RUNS);
  expect(totals.refused).toBeGreaterThan(RUNS);
}, 500_000);
