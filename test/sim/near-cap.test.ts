import { expect, test } from 'bun:test';
import { runMany, USUAL_RUNS } from './many.ts';

test(`P2: near the cap two replicas refuse no call falsely and overspend no cent, ${USUAL_RUNS} runs`, async () => {
  const totals = await runMany(USUAL_RUNS, { calls: 16, capCalls: 8, faults: 0, kills: 0 });
  expect(totals.served).toBeGreaterThan(7 * USUAL_RUNS);
  expect(totals.refused).toBeGreaterThan(USUAL_RUNS);
}, 500_000);
