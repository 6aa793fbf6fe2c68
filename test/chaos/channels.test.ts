import { expect, test } from 'bun:test';
import { runBrownOut } from './channels.ts';

test('P9: while one channel is slow, one fails and one is dead, clients hardly notice', async () => {
  const report = await runBrownOut({ clients: 12, fault_ms: 9_000 });
  expect(report.calls).toBeGreaterThan(500);
  expect(report.success).toBeGreaterThanOrEqual(0.999);
  // The dead one was asked a few times only, and came back without a crowd.
  expect(report.wasted['dead']).toBeLessThan(60);
  expect(report.readmitted_ms['dead']).toBeLessThan(9_000);
  expect(report.herd['dead']).toBeLessThanOrEqual(12);
}, 120_000);
