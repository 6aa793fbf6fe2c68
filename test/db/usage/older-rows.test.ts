/** Rows that are older than the first fold are folded in parts. Each part reads its own rows, by an index. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { fold } from '../../../db/usage/roll-ups/fold.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { fillUsage } from '../../support/usage-rows.ts';

setDefaultTimeout(60_000);

const LINES = 40_000;
const PART = 2_000;
/** To find where a part ends, its rows are read; then they are summed. */
const READS_OF_A_ROW = 2;

let fresh: TestDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await createTestDatabase();
  // One connection, whose own counters are complete.
  database = connectDatabase(fresh.url, { pool: 'single' });
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

/** How many rows of usage lines and records were read so far, by any kind of plan. */
async function rowsRead(): Promise<number> {
  const { sql } = database;
  await sql`select pg_stat_force_next_flush()`;
  const [row] = await sql<{ rows: number }[]>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int8 as rows from pg_stat_user_tables
    where relname like 'usage_line%' or relname like 'call_record%'`;
  return row?.rows ?? 0;
}

test('each row is read a few times, however many parts there are', async () => {
  const { sql } = database;
  await sql`insert into organization (id, name) values ('org_a', 'A')`;
  const models = ['a', 'b', 'c'].map((id) => ({ id, owned_by: `v${id}`, scene: 'chat' }));
  const options = { organization_id: 'org_a', lines: LINES, keys: 20, days: 90 };
  await fillUsage(sql, models, options, () => undefined);
  const before = await rowsRead();
  let parts = 0;
  while ((await fold(sql, PART)).more) parts += 1;
  expect(parts).toBeGreaterThan(LINES / PART);
  const [sums] = await sql<{ charges: number }[]>`
    select sum(charges)::int8 as charges from usage_day
    join usage_series on usage_series.id = series_id where scope = 'total'`;
  expect(sums?.charges).toBe(LINES);
  const records = LINES / 20;
  const most = (LINES + records) * (READS_OF_A_ROW + 1);
  expect((await rowsRead()) - before).toBeLessThan(most);
});
