import { expect, test } from 'bun:test';
import { LEDGER_RUNS, runMany } from './many.ts';

test(`P2: near the cap two replicas never refuse falsely and never overspend, ${LEDGER_RUNS} runs`, async () => {
  const totals = await runMany(LEDGER_RUNS, { calls: 16, capCalls: 8, faults: 0, kills: 0 });
  expect(totals.served).toBeGreaterThan(7 * LEDGER_RUNS);
  expect(totals.refused).toBeGreaterThan(LEDGER_RUNS);
}, 500_000);
