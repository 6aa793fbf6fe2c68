import { expect, test } from 'bun:test';
import { runKills } from './kill.ts';

test('P1: kill -9 of Weir under 50 streams: after the restart the ledger is what the provider delivered', async () => {
  const load = { streams: 50, tasks: 8, load_ms: 2_500 };
  const report = await runKills({ victim: 'weir', kills: 2, ...load, seed: 1 });
  expect(report.violations).toEqual([]);
  // Each answered call and each created task has one record, and the sums of records, lines and
  // balance are the sum of the charges, which agree with the provider's books.
  expect(report.records).toBeGreaterThanOrEqual(report.whole + report.tasks);
  expect(report.tasks).toBeGreaterThan(8);
  expect(report.failed_tasks).toBeGreaterThan(0);
  expect(report.broken).toBeGreaterThan(0);
  expect(report.whole).toBeGreaterThan(50);
  // Every answer was charged, or was cut by the kill before its charge was committed.
  expect(report.upstream_whole).toBe(report.settled + report.killed_before_commit);
}, 180_000);

test('P4: kill -9 of the database under 50 streams: no answer is lost, each is charged once', async () => {
  const report = await runKills({
    victim: 'database',
    kills: 2,
    streams: 50,
    tasks: 8,
    load_ms: 2_500,
    seed: 1,
  });
  expect(report.violations).toEqual([]);
  expect(report.broken).toBe(0);
  expect(report.settled).toBe(report.whole);
  expect(report.upstream_whole).toBe(report.whole);
}, 180_000);
