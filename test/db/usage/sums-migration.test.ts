/** Sums of an earlier version keep their values, and get the sums by few names. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Sql } from 'postgres';
import { migrateDatabase } from '../../../db/migrate.ts';
import { fold } from '../../../db/usage/roll-ups/fold.ts';
import { earlierMigrations } from '../../support/earlier-migrations.ts';
import { createEmptyDatabase } from '../../support/postgres.ts';
import { removeFolder } from '../../support/throwaway.ts';

setDefaultTimeout(60_000);

const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const COUNTERS = [
  ...['requests', 'charges', 'succeeded', 'charged_nano_usd', 'list_nano_usd', 'input_tokens'],
  ...['cached_input_tokens', 'cache_write_tokens', 'output_tokens', 'reasoning_tokens'],
  ...['audio_tokens', 'duration_ms', 'durations', 'first_token_ms', 'first_tokens'],
].join(', ');

/** Series of two organizations with two models, protocols and outcomes, each with sums of two spans. */
async function addEarlierSums(sql: Sql): Promise<void> {
  await sql`
    insert into usage_series (organization_id, scope, key_id, scene, model, model_vendor,
      access_channel, protocol, outcome)
    select organization_id, scope, case when scope like 'key%' then 'key' else '' end,
      case when by_name then 'chat' else '' end, case when by_name then model else '' end,
      case when by_name then 'vendor' else '' end, case when by_name then 'platform' else '' end,
      case when by_name then protocol else '' end, case when by_name then outcome else '' end
    from unnest(array['a', 'b']) as organization_id,
      unnest(array['organization', 'total', 'key', 'key_total']) as scope,
      unnest(array['m', 'n']) as model, unnest(array['p', 'q']) as protocol,
      unnest(array['completed', 'refused']) as outcome,
      lateral (select scope in ('organization', 'key') as by_name) as named
    on conflict do nothing`;
  for (const [table, column] of [
    ['usage_quarter', 'quarter'],
    ['usage_day', 'day'],
  ] as const) {
    await sql.unsafe(`
      insert into ${table} (series_id, ${column}, ${COUNTERS}, took_3)
      select id, span, ${COUNTERS.split(', ')
        .map((_, at) => `id * span * ${at + 1}`)
        .join(', ')}, case when id % 2 = 0 then id end
      from usage_series, unnest(array[7, 8]) as span
      where '${table}' <> 'usage_quarter' or scope <> 'key'`);
  }
}

const sumsOf = (sql: Sql, table: string, span: string, names: string, where: string) =>
  sql.unsafe(`
    select organization_id, ${names ? `${names}, ` : ''}${span} as span, sum(charged_nano_usd)::int8 as charged,
      sum(first_tokens)::int8 as first_tokens, sum(took_3)::int8 as took
    from ${table} join usage_series on id = series_id where ${where}
    group by ${names ? `${names}, ` : ''}1, span order by 1, ${names ? `${names}, ` : ''}span`);

test('the earlier sums keep their values, and sums by few names are added', async () => {
  const { sql, drop } = await createEmptyDatabase(18);
  cleanups.push(() => drop());
  const before = earlierMigrations((tags) =>
    tags.slice(
      0,
      tags.findIndex((tag) => tag.endsWith('_narrower_usage_sums')),
    ),
  );
  cleanups.push(() => removeFolder(before));
  await migrateDatabase(sql, before);
  await addEarlierSums(sql);
  const all = 'scene, model, model_vendor, access_channel, protocol, outcome';
  const few: [scope: string, names: string][] = [
    ['by_model', 'scene, model, model_vendor, access_channel'],
    ['by_protocol', 'protocol'],
    ['by_outcome', 'outcome'],
  ];
  const earlier = (span: string, names: string, scope: string) =>
    sumsOf(sql, `usage_${span}`, span, names, `scope = '${scope}'`);
  const wanted = new Map<string, object[]>();
  for (const span of ['quarter', 'day']) {
    const keep = async (table: string, names: string, scope: string, from = scope) =>
      wanted.set(`${table} ${span} ${scope} ${names}`, [...(await earlier(span, names, from))]);
    await keep(`usage_${span}`, '', 'total');
    await keep(`usage_name_${span}`, all, 'organization');
    await keep(`usage_key_${span}`, 'key_id', 'key_total');
    for (const [scope, names] of few) await keep(`usage_${span}`, names, scope, 'organization');
  }
  wanted.set(`usage_key_name_day day key key_id, ${all}`, [
    ...(await earlier('day', `key_id, ${all}`, 'key')),
  ]);
  await migrateDatabase(sql);
  for (const [what, rows] of wanted) {
    const [table = '', span = '', scope = '', ...names] = what.split(' ');
    expect(rows.length).toBeGreaterThan(1);
    const found = await sumsOf(sql, table, span, names.join(' '), `scope = '${scope}'`);
    expect<unknown>({ what, rows: [...found] }).toEqual({ what, rows });
  }
  const strays = await sql`
    select from usage_key_name_day as sum join usage_series as series on series.id = sum.series_id
    join usage_series as owner on owner.id = sum.owner_id
    where owner.scope <> 'total' or owner.organization_id <> series.organization_id`;
  expect(strays.length).toBe(0);
  await fold(sql);
  const models = 'key_id, scene, model, model_vendor, access_channel';
  const sums = (table: string) => sumsOf(sql, table, 'day', models, 'true');
  expect([...(await sums('usage_key_model_day'))]).toEqual([...(await sums('usage_key_name_day'))]);
  const monday = "day + date '1970-01-01' - extract(isodow from day + date '1970-01-01')::int4";
  const weeks = await sql`
    select series_id, week, sum(requests)::int8 as requests, sum(charged_nano_usd)::int8 as charged
    from usage_key_model_week group by 1, 2 order by 1, 2`;
  const from_days = await sql`
    select series_id, (${sql.unsafe(monday)} + 1 - date '1969-12-29') / 7 as week,
      sum(requests)::int8 as requests, sum(charged_nano_usd)::int8 as charged
    from usage_key_model_day group by 1, 2 order by 1, 2`;
  expect(weeks.length).toBeGreaterThan(1);
  expect([...weeks]).toEqual([...from_days]);
  // No table has sums of another kind.
  const scopes = await sql<{ table: string; scopes: string }[]>`
    select source as table, string_agg(distinct scope, ' ' order by scope) as scopes from (
      select 'usage_quarter' as source, series_id from usage_quarter
      union all select 'usage_day', series_id from usage_day
      union all select 'usage_name_quarter', series_id from usage_name_quarter
      union all select 'usage_name_day', series_id from usage_name_day
      union all select 'usage_key_quarter', series_id from usage_key_quarter
      union all select 'usage_key_day', series_id from usage_key_day
      union all select 'usage_key_name_day', series_id from usage_key_name_day
      union all select 'usage_key_model_day', series_id from usage_key_model_day
      union all select 'usage_key_model_week', series_id from usage_key_model_week) as sums
    join usage_series on id = series_id group by 1 order by 1`;
  const few_names = 'by_model by_outcome by_protocol total';
  expect(scopes.map((row) => [row.table, row.scopes])).toEqual([
    ['usage_day', few_names],
    ['usage_key_day', 'key_total'],
    ['usage_key_model_day', 'key_model'],
    ['usage_key_model_week', 'key_model'],
    ['usage_key_name_day', 'key'],
    ['usage_key_quarter', 'key_total'],
    ['usage_name_day', 'organization'],
    ['usage_name_quarter', 'organization'],
    ['usage_quarter', few_names],
  ]);
});
