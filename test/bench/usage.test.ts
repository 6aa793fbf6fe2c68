/** The arguments of `bin/bench usage`, and the database that it fills: its books balance. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readUsageOptions } from '../../bench/usage-options.ts';
import { findImbalances } from '../../db/ledger/audit.ts';
import { fold } from '../../db/usage/roll-ups/fold.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { bookMore, fillUsage, insertMore, keyOf } from '../support/usage-rows.ts';

setDefaultTimeout(60_000);

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

test('by default 10,000,000 lines are made, and each query is sent 200 times', () => {
  expect(readUsageOptions([])).toEqual({
    ...{ lines: 10_000_000, samples: 200, data: undefined, write: true },
  });
  expect(readUsageOptions('--lines 5 --samples 7 --no-write'.split(' '))).toEqual({
    ...{ lines: 5, samples: 7, data: undefined, write: false },
  });
});

test('the filled database has the lines, all summed, and books that balance', async () => {
  const { sql } = fresh;
  await sql`insert into organization (id, name) values ('org_a', 'A')`;
  const models = ['a', 'b', 'c', 'd'].map((id) => ({ id, owned_by: `v${id}`, scene: 'chat' }));
  const options = { organization_id: 'org_a', lines: 4_000, keys: 20, days: 90 };
  await fillUsage(sql, models, options, () => undefined);
  while ((await fold(sql)).more);
  expect(await findImbalances(sql)).toEqual([]);
  await bookMore(sql, 'org_a', await insertMore(sql, models, options, 10));
  while ((await fold(sql)).more);
  expect(await findImbalances(sql)).toEqual([]);
  const [sums] = await sql<{ charges: number; days: number }[]>`
    select sum(charges)::int4 as charges, count(distinct day)::int4 as days
    from usage_name_day join usage_series on id = series_id and scope = 'organization'`;
  expect(sums?.charges).toBe(4_010);
  expect(sums?.days).toBeGreaterThanOrEqual(90);
  // The first models and keys have more lines than the last ones, by Zipf's law.
  const shares = async (column: string) =>
    sql<{ name: string; count: number }[]>`
      select ${sql(column)} as name, count(*)::int4 as count from usage_line group by 1 order by 2 desc`;
  expect((await shares('key_id'))[0]?.name).toBe(keyOf(1));
  const [protocols] = await sql<{ most: number }[]>`
    select max(count)::int4 as most from (
      select count(distinct protocol) from usage_line group by key_id) as each`;
  expect(protocols?.most).toBe(1);
});
