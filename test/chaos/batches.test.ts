import { expect, test } from 'bun:test';
import { runBatchKills } from './batches.ts';

test('P1, P3: kill -9 in the middle of a batch: every request has its result and is charged once', async () => {
  const report = await runBatchKills({ kills: 2, requests: 120, work_ms: 800, seed: 1 });
  expect(report.violations).toEqual([]);
  expect(report).toMatchObject({ succeeded: 120, charged: 120 });
  expect(report.struck).toBeGreaterThan(0);
  expect(report.answered).toBeGreaterThanOrEqual(120);
}, 180_000);
