import { expect, test } from 'bun:test';
import { watchThroughKill, watchViolations } from './watch.ts';

test('P3, P11: kill -9 of the owner: all who watch the task get each event once, up to its end', async () => {
  const report = await watchThroughKill(undefined);
  expect(watchViolations(report)).toEqual([]);
  expect(report.watched.length).toBeGreaterThan(6);
  for (const events of report.clients) expect(events.length).toBeGreaterThan(2);
}, 180_000);
