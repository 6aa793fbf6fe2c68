import { expect, test } from 'bun:test';
import { sharedRedisUrl } from '../support/redis.ts';
import { watchThroughKill, watchViolations } from './watch.ts';

test.each(['PostgreSQL', 'Redis'])(
  'P3, P11: kill -9 of the owner: all who watch the task get each event once, up to its end (bus over %s)',
  async (carrier) => {
    const redis_url = carrier === 'Redis' ? await sharedRedisUrl() : undefined;
    const report = await watchThroughKill(redis_url);
    expect(watchViolations(report)).toEqual([]);
    expect(report.watched.length).toBeGreaterThan(6);
    for (const events of report.clients) expect(events.length).toBeGreaterThan(2);
  },
  180_000,
);
