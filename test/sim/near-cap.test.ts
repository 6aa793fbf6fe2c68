import { expect, test } from 'bun:test';
import { runMany } from './many.ts';

test('P2: near the cap two replicas refuse no call falsely and overspend no cent, 1,000 runs', async () => {
  const totals = await runMany(1_000, { calls: 16, capCalls: 8, faults: 0, kills: 0 });
  expect(totals.served).toBeGreaterThan(7_000);
  expect(totals.refused).toBeGreaterThan(1_000);
}, 500_000);
