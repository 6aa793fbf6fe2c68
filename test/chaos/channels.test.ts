import { expect, test } from 'bun:test';
import { runBrownOut } from './channels.ts';

test('P9: while one channel is slow, one fails and one is dead, clients hardly notice', async () => {
  const report = await runBrownOut({ clients: 36, fault_ms: 14_000, seed: 1 });
  expect(report.violations).toEqual([]);
  expect(report.calls).toBeGreaterThan(500);
  // Other tests on the machine make some calls fail. Without other tests the share is 99.9 %
  // (bin/chaos).
  expect(report.success).toBeGreaterThanOrEqual(0.99);
  // The dead channel got only a few calls, and recovered by itself.
  expect(report.wasted['dead']).toBeLessThan(60);
  expect(report.readmitted_ms['dead']).toBeLessThan(16_000);
  // Slow start: one call at a time, then two, then four.
  for (const channel of ['slow', 'dead']) expect(report.herd[channel]).toBeLessThanOrEqual(1);
}, 120_000);
