/** The same as `test/chaos/watch.test.ts`, with the messages between replicas over Redis. */
import { expect, test } from 'bun:test';
import { watchThroughKill, watchViolations } from '../chaos/watch.ts';
import { sharedRedisUrl } from '../support/redis.ts';

test('P3, P11: kill -9 of the owner: all who watch over Redis get each event once', async () => {
  const report = await watchThroughKill(await sharedRedisUrl());
  expect(watchViolations(report)).toEqual([]);
  expect(report.watched.length).toBeGreaterThan(6);
  for (const events of report.clients) expect(events.length).toBeGreaterThan(2);
}, 180_000);
