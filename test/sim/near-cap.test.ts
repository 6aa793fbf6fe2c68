import { expect, test } from 'bun:test';
import { runMany } from './many.ts';

test('P2: near the cap two replicas never refuse falsely and never overspend, 1,000 runs', async () => {
  const totals = await runMany(1_000, { calls: 16, capCalls: 8, faults: 0, kills: 0 });
  expect(totals.served).toBeGreaterThan(7_000);
  expect(totals.refused).toBeGreaterThan(1_000);
}, 500_000);
