/**
 * Spans of days with whole weeks. Each day has another amount, a power of two, so a sum says which days it has.
 * Random histories are in `roll-ups.test.ts`.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readAsOf } from '../../../db/usage/as-of.ts';
import { fold } from '../../../db/usage/roll-ups/fold.ts';
import { readSums } from '../../../db/usage/roll-ups/snapshot.ts';
import { readUsage } from '../../../db/usage/roll-ups/sums.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { writeEntry } from './usage-world.ts';

setDefaultTimeout(120_000);

const DAY_MS = 86_400_000;
const DAYS = 24;
/** The first days of the spans: a Wednesday, and days around the Unix epoch, where counts of days become negative. */
const STARTS = [Date.parse('2026-03-04T00:00:00Z'), Date.parse('1969-12-20T00:00:00Z')];

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

test.each(STARTS)('each span of days has its days and no others, from %d on', async (start) => {
  const organization_id = `org_${start}`;
  for (let day = 0; day < DAYS; day += 1) {
    await writeEntry(fresh.sql, {
      ...{ organization_id, key_id: 'key', at: new Date(start + day * DAY_MS + 3_600_000) },
      ...{ scene: 'chat', model: 'a', protocol: 'openai', outcome: 'completed' },
      ...{ charged: 2 ** day, overrun: 0, tokens: 0, ended_ms: 1, first_token_ms: 1 },
      ...{ end_user: null, task: false, looked_up: false },
    });
  }
  while ((await fold(fresh.sql)).more);
  const [found] = await fresh.sql<{ weeks: number }[]>`
    select count(*)::int4 as weeks from usage_key_model_week
    join usage_series on id = series_id where organization_id = ${organization_id}`;
  expect(found?.weeks).toBeGreaterThanOrEqual(4);
  const as_of = await readAsOf(fresh.sql);
  for (let first = 0; first < DAYS; first += 1) {
    for (let end = first + 1; end <= DAYS; end += 1) {
      const from = new Date(start + first * DAY_MS);
      const until = new Date(start + end * DAY_MS);
      const filters = { organization_id, from, until };
      const rows = await readSums(fresh.sql, (reader) =>
        readUsage(reader, { filters, as_of, groups: ['key_id', 'model'] }),
      );
      const sums = rows.map(({ counts }) => counts.charged_nano_usd);
      expect({ first, end, sums }).toEqual({ first, end, sums: [2 ** end - 2 ** first] });
    }
  }
});
