/** A query of usage until now reads sums, and not the rows of the last minutes, however many calls they had. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';
import { fillUsage } from '../../support/usage-rows.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

const LINES = 4_000;
/** All lines are of the last minutes. */
const DAYS = 0.005;
const QUERIES = 10;
const MODELS = [{ id: 'gpt-4o', owned_by: 'openai', scene: 'chat' }];

let fresh: TestDatabase;
let database: Database;
let weir: RunningWeir;
beforeAll(async () => {
  fresh = await createTestDatabase();
  const env = { DATABASE_URL: fresh.url };
  // The first start makes the organization. Lines are added while no Weir runs.
  await (await startWeir({ env })).stop();
  database = connectDatabase(fresh.url, { pool: 'single' });
  const { sql } = database;
  const [organization] = await sql<{ id: string }[]>`select id from organization`;
  const options = { lines: LINES, keys: 3, days: DAYS };
  await fillUsage(sql, MODELS, { organization_id: organization?.id ?? '', ...options }, () => {});
  weir = await startWeir({ env });
  await until('the sums', async () => {
    const [row] = await sql<{ is_ready: boolean }[]>`select is_ready from usage_fold`;
    return row?.is_ready;
  });
});
afterAll(async () => {
  await weir.stop();
  await database.close();
  await fresh.drop();
});

async function rowsRead(): Promise<number> {
  const [row] = await database.sql<{ rows: number }[]>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int8 as rows from pg_stat_user_tables
    where relname like 'usage_line%'`;
  return row?.rows ?? 0;
}

/** Returns the sum of a query, nano-USD. */
async function spend(query: Record<string, string>): Promise<number> {
  const parameters = new URLSearchParams({ metric: 'cost', ...query });
  const answer = await fetch(`${weir.base_url}/v1/management/usage/query?${parameters}`, {
    headers: { authorization: `Bearer ${weir.management_token}` },
  });
  expect(answer.status).toBe(200);
  const { total } = (await answer.json()) as { total: { value: number } };
  return Math.round(total.value * 1e9);
}

test.each([
  ['in days', { bucket: 'day', group: 'logical_model' }],
  ['in 15 minutes', { bucket: '15min', startDate: new Date(Date.now() - 3_600_000).toISOString() }],
  ['of keys by model', { bucket: 'day', group: 'api_key_id', subgroup: 'logical_model' }],
])('%s it has the sum of all lines, without reading them', async (_what, query) => {
  const [sum] = await database.sql<{ nano_usd: number }[]>`
    select sum(charged_nano_usd)::int8 as nano_usd from usage_line`;
  const before = await rowsRead();
  for (let count = 0; count < QUERIES; count += 1)
    expect(await spend(query)).toBe(sum?.nano_usd ?? 0);
  // PostgreSQL counts what a connection read after it was idle.
  await Bun.sleep(1_500);
  await spend(query);
  expect((await rowsRead()) - before).toBeLessThan((QUERIES * LINES) / 4);
});
