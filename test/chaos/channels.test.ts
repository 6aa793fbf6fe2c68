import { expect, test } from 'bun:test';
import { runBrownOut } from './channels.ts';

test('P9: while one channel is slow, one fails and one is dead, clients hardly notice', async () => {
  const report = await runBrownOut({ clients: 36, fault_ms: 14_000 });
  expect(report.calls).toBeGreaterThan(500);
  // A machine that is busy with other tests is a fault of its own; alone it is 99.9 % (bin/chaos).
  expect(report.success).toBeGreaterThanOrEqual(0.99);
  // The dead one was asked a few times only, and came back by itself.
  expect(report.wasted['dead']).toBeLessThan(60);
  expect(report.readmitted_ms['dead']).toBeLessThan(16_000);
  // Let in again one call at a time, then two, then four.
  for (const channel of ['slow', 'dead']) expect(report.herd[channel]).toBeLessThanOrEqual(1);
}, 120_000);
