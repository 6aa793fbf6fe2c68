/** Queries read only the partitions that have rows which the sums lack (docs/decisions/usage-roll-ups.md). */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Sql } from '../../../db/client.ts';
import { firstIdAt } from '../../../db/housekeeping.ts';
import { listPartitions } from '../../../db/retention/months.ts';
import { type AsOf, readAsOf } from '../../../db/usage/as-of.ts';
import { changedPartitions } from '../../../db/usage/roll-ups/changed.ts';
import { fold } from '../../../db/usage/roll-ups/fold.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

setDefaultTimeout(60_000);

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

const between = (a: AsOf, b: AsOf) =>
  fresh.sql.begin((transaction) =>
    changedPartitions(transaction as unknown as Sql, a, b),
  ) as Promise<{ table: string; name: string }[]>;

async function writeLine(sql: Sql, at: Date): Promise<void> {
  const id = firstIdAt(at.getTime()).slice(0, -12) + crypto.randomUUID().slice(-12);
  await sql`
    insert into usage_line (id, request_id, organization_id, key_id, grant_id, scene, access_channel,
      model, model_vendor, channel_id, outcome, input_tokens, cached_input_tokens,
      cache_write_tokens, output_tokens, estimated, charged_nano_usd, at, protocol)
    values (${id}, ${id}, 'org', 'key', ${id}, 'chat', 'platform', 'm', 'v', 'c', 'completed', 1, 0,
      0, 0, false, 5, ${at}, 'openai')`;
}

test('names the partitions that have rows of one of two states, in both directions', async () => {
  const { sql } = fresh;
  const [first] = await listPartitions(sql, 'usage_line');
  if (!first) throw new Error('a partition is needed');
  const later_month = 'usage_line_default';
  const before = await readAsOf(sql);
  // Another transaction changes the state, but not the rows.
  await sql`update usage_fold set id = id`;
  const idle = await readAsOf(sql);
  expect(idle.next_xid).toBeGreaterThan(before.next_xid);
  expect(await between(before, idle)).toEqual([]);
  await writeLine(sql, first.until);
  const later = await readAsOf(sql);
  const expected = [{ table: 'usage_line', name: later_month }];
  expect(await between(before, later)).toEqual(expected);
  expect(await between(later, idle)).toEqual(expected);
  await writeLine(sql, new Date(first.until.getTime() - 1));
  const both = (await between(before, await readAsOf(sql))).map(({ name }) => name);
  expect(both.sort()).toEqual([first.name, later_month].sort());
  expect(await between(later, later)).toEqual([]);
});

test('finds the row of a transaction that was open in the earlier state', async () => {
  const { sql } = fresh;
  const [partition] = await listPartitions(sql, 'usage_line');
  if (!partition) throw new Error('a partition is needed');
  const writer = await sql.reserve();
  try {
    await writer`begin`;
    await writeLine(writer, new Date(partition.until.getTime() - 1));
    const [own] = await writer<{ xid: number }[]>`select pg_current_xact_id()::text::int8 as xid`;
    // A state names an open transaction if a later one has ended.
    await sql`update usage_fold set id = id`;
    const open = await readAsOf(sql);
    // Transactions of the server's other databases are open too.
    expect(open.open_xids).toContain(own?.xid ?? 0);
    expect(await between(open, await readAsOf(sql))).toEqual([]);
    await writer`commit`;
    expect(await between(open, await readAsOf(sql))).toEqual([
      { table: 'usage_line', name: partition.name },
    ]);
  } finally {
    writer.release();
  }
});

test('later statements of the transaction are planned as before', async () => {
  await fresh.sql.begin(async (transaction) => {
    const tx = transaction as unknown as Sql;
    await tx`set local plan_cache_mode = force_custom_plan`;
    const settings = () => tx`
      select current_setting('plan_cache_mode') as mode, current_setting('enable_seqscan') as scan,
        current_setting('enable_indexscan') as index,
        current_setting('max_parallel_workers_per_gather') as parallel`;
    const before = await settings();
    const as_of = await readAsOf(tx);
    await changedPartitions(tx, { ...as_of, next_xid: 0 }, as_of);
    expect([...(await settings())]).toEqual([...before]);
  });
});

test('a fold finds rows after more transactions without rows than one fold takes', async () => {
  const { sql } = fresh;
  while ((await fold(sql)).more);
  await sql
    .unsafe(`do $$ begin
      for n in 1..20001 loop perform pg_current_xact_id(); commit; end loop; end $$`)
    .simple();
  await writeLine(sql, new Date());
  const charges = async () => {
    const [row] = await sql<{ charges: number }[]>`
      select coalesce(sum(charges), 0)::int4 as charges from usage_key_day`;
    return row?.charges ?? 0;
  };
  const before = await charges();
  let folds = 1;
  while ((await fold(sql)).more) folds += 1;
  expect(folds).toBe(2);
  expect(await charges()).toBe(before + 1);
});
