/**
 * `GET /v1/management/usage/query` of a real Weir equals plain SQL over all lines and records: random
 * queries over days on which clocks change, in zones whose hours begin at :15, :30 and :45. PostgreSQL
 * has its own tables of time zones, and no part of the sums.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { UsageQuerySchema } from '../../../src/http/management/usage/explore-answer.ts';
import { UNKNOWN_MODEL, writeEntry } from '../../db/usage/usage-world.ts';
import { errorOf } from '../../support/envelope.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { fc } from '../../support/property.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(180_000);

let database: TestDatabase;
let weir: RunningWeir;
let organization_id = '';

beforeAll(async () => {
  database = await createTestDatabase();
  weir = await startWeir({ env: { DATABASE_URL: database.url } });
  const [own] = await database.sql<{ id: string }[]>`select id from organization`;
  organization_id = own?.id ?? '';
  const write = (entries: typeof ENTRIES) =>
    database.sql.begin(async (tx) => {
      for (const entry of entries) await writeEntry(tx as never, entryOf(entry));
    });
  await write(ENTRIES);
  await until('the sums of these lines', async () => {
    const [row] = await database.sql<{ count: number }[]>`
      select coalesce(sum(requests), 0)::int4 as count from usage_name_day
      join usage_series on id = series_id and scope = 'organization'`;
    // The record of a call that created a task is no request: the end of the task is.
    const isCreation = ({ task, charged, ...rest }: Entry) =>
      task && charged === null && outcomeOf({ charged, ...rest }) === 'accepted';
    return row?.count === ENTRIES.filter((each) => !isCreation(each)).length;
  });
  // Some lines are in no sum yet when the first queries run.
  await write(fc.sample(entry, { numRuns: 100, seed: 2 }));
});
afterAll(async () => {
  await weir.stop();
  await database.drop();
});

/** Clocks change on these days in zones below, or no clock does. */
const DAYS = ['2026-03-08', '2026-03-29', '2026-04-05', '2026-09-27', '2026-10-04', '2026-11-01'];
const ZONES = [
  ...['UTC', 'Asia/Kathmandu', 'Asia/Kolkata', 'Australia/Adelaide', 'Pacific/Chatham'],
  ...['America/New_York', 'America/Havana', 'Europe/Berlin', 'America/St_Johns'],
];
const DAY_MS = 86_400_000;
const entry = fc.record({
  own: fc.constantFrom(true, true, true, false),
  key: fc.nat(3),
  day: fc.constantFrom(...DAYS),
  ms: fc.oneof(
    fc.integer({ min: -DAY_MS, max: 2 * DAY_MS }),
    fc.integer({ min: -48, max: 96 }).map((half) => half * 1_800_000),
  ),
  scene: fc.constantFrom('chat', 'image'),
  model: fc.constantFrom('a', 'b', 'c', UNKNOWN_MODEL),
  protocol: fc.constantFrom('openai', 'anthropic'),
  charged: fc.option(fc.constantFrom(0, 1, 999_999_999, 5_000_000_001), { freq: 3 }),
  overrun: fc.constantFrom(0, 0, 7),
  tokens: fc.nat(1_000),
  ended_ms: fc.option(fc.integer({ min: 16, max: 100_000 })),
  first_token_ms: fc.option(fc.nat(1_000)),
  end_user: fc.constantFrom(null, 'anna'),
  task: fc.boolean(),
  refusal: fc.constantFrom('refused', 'failed', 'canceled', 'repeated', 'accepted', 'free'),
  partial: fc.boolean(),
  cache: fc.constantFrom('bypass', 'miss', 'hit'),
});
type Entry = typeof entry extends fc.Arbitrary<infer Value> ? Value : never;
const ENTRIES = fc.sample(entry, { numRuns: 500, seed: 1 }).map((each) => ({ ...each, own: true }));

function entryOf({
  own,
  key,
  day,
  ms,
  refusal,
  partial,
  cache,
  ...rest
}: (typeof ENTRIES)[number]) {
  return {
    ...rest,
    organization_id: own ? organization_id : 'org_other',
    key_id: `key_${key}`,
    at: new Date(Date.parse(`${day}T00:00:00Z`) + ms),
    outcome: outcomeOf({ refusal, partial, cache, charged: rest.charged }),
    looked_up: cache !== 'bypass',
    ...(cache === 'hit' ? { saved: 70_001 } : {}),
  };
}

function outcomeOf({
  refusal,
  partial,
  cache,
  charged,
}: Pick<Entry, 'refusal' | 'partial' | 'cache' | 'charged'>) {
  if (cache === 'hit') return 'cached';
  return charged === null ? refusal : partial ? 'partial' : 'completed';
}

const COLUMNS: Record<string, string> = {
  api_key_id: 'key_id',
  logical_model: 'model',
  model_vendor: 'model_vendor',
  scene: 'scene',
  access_channel: 'access_channel',
  protocol: 'protocol',
  outcome: 'outcome',
};
/** Sums that plain SQL makes. Those of a part and of the rest add up. */
const ADDED: Record<string, string> = {
  cost: 'sum(charged)::float8 / 1e9',
  list_price: 'sum(charged + overrun)::float8 / 1e9',
  requests: 'count(*)::int4',
  input_tokens: 'sum(tokens)::int4',
  cached_input_tokens: 'sum(is_line)::int4',
  cache_write_tokens: '2 * sum(is_line)::int4',
  output_tokens: '3 * sum(is_line)::int4',
  cache_lookups: 'sum(looked_up::int4)::int4',
  cache_hits: 'sum(is_hit::int4)::int4',
  saved: 'coalesce(sum(saved) filter (where is_hit), 0)::float8 / 1e9',
};
const OTHERS: Record<string, string> = {
  error_rate: `avg((outcome not in ('completed', 'repeated', 'cached', 'accepted', 'free'))::int4)::float8`,
  cache_hit_rate: 'sum(is_hit::int4)::float8 / nullif(sum(looked_up::int4), 0)',
  latency_p50: 'percentile_disc(0.5) within group (order by ended_ms)',
  latency_p95: 'percentile_disc(0.95) within group (order by ended_ms)',
  first_token_mean: 'round(avg(first_token_ms))::int4',
};

interface Asked {
  metric: string;
  groups: string[];
  bucket: string;
  zone: string;
  start: string;
  days: number;
  top: number;
  key: number | null;
  model: string | null;
  outcome: string | null;
}
const asked: fc.Arbitrary<Asked> = fc.record({
  metric: fc.constantFrom(...Object.keys(ADDED), ...Object.keys(OTHERS)),
  groups: fc.uniqueArray(fc.constantFrom(...Object.keys(COLUMNS)), { maxLength: 2 }),
  bucket: fc.constantFrom('15min', 'hour', 'day', 'day', 'month', 'none'),
  zone: fc.constantFrom(...ZONES),
  start: fc.constantFrom(...DAYS, '2026-03-01', '2026-10-01'),
  days: fc.constantFrom(1, 2, 5, 31, 240),
  top: fc.integer({ min: 1, max: 6 }),
  key: fc.option(fc.nat(3), { freq: 2 }),
  model: fc.option(fc.constantFrom('a', 'b'), { freq: 2 }),
  outcome: fc.option(fc.constantFrom('completed', 'refused'), { freq: 2 }),
});

const dayAfter = (day: string, days: number) =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

type Found = Record<string, { value: number; requests: number }>;

/** The figure of each group and bucket, by plain SQL. */
async function plain(
  { metric, groups, bucket, zone, key, model, outcome }: Asked,
  [first, last]: [string, string],
  in_buckets: boolean,
): Promise<Found> {
  const { sql } = database;
  const start = `case '${in_buckets ? bucket : 'none'}'
    when '15min' then date_bin('15 min', at, '2000-01-01Z')::text
    when 'hour' then date_trunc('hour', at, '${zone}')::text
    when 'day' then date_trunc('day', at at time zone '${zone}')::text
    when 'month' then date_trunc('month', at at time zone '${zone}')::text else '' end`;
  const names = groups.map((name) => COLUMNS[name] ?? '');
  const rows = await sql<Record<string, string | number>[]>`
    with entry as (
      select organization_id, key_id, at, scene, model, model_vendor, access_channel, protocol,
        outcome, charged_nano_usd as charged, overrun_nano_usd as overrun, input_tokens as tokens,
        ended_ms, first_token_ms, 1 as is_line, looked_up, outcome = 'cached' as is_hit,
        (detail ->> 'saved_nano_usd')::int8 as saved
      from usage_line
      union all
      select organization_id, key_id, at, scene,
        case when model_vendor = '' then '' else model end, model_vendor, 'platform', protocol,
        outcome, 0, 0, 0, ended_ms, first_token_ms, 0, looked_up, outcome = 'cached',
        (detail ->> 'saved_nano_usd')::int8
      from call_record where task_id is null or outcome <> 'accepted')
    select ${sql.unsafe([...names, ''].join(', '))} ${sql.unsafe(start)} as start,
      ${sql.unsafe(ADDED[metric] ?? OTHERS[metric] ?? '')} as value, count(*)::int4 as requests
    from entry where organization_id = ${organization_id}
      and (at at time zone ${zone})::date between ${first}::text::date and ${last}::text::date
      ${key === null ? sql`` : sql`and key_id = ${`key_${key}`}`}
      ${model === null ? sql`` : sql`and model = ${model}`}
      ${outcome === null ? sql`` : sql`and outcome = ${outcome}`}
    group by ${sql.unsafe([...names, ''].join(', '))} start`;
  return Object.fromEntries(
    rows.map((row) => [
      JSON.stringify([...names.map((name) => row[name] || null), row['start']]),
      { value: row['value'] as number, requests: row['requests'] as number },
    ]),
  );
}

type Answer = Static<typeof UsageQuerySchema>;

const send = (parameters: Record<string, string>) =>
  fetch(`${weir.base_url}/v1/management/usage/query?${new URLSearchParams(parameters)}`, {
    headers: { authorization: `Bearer ${weir.management_token}` },
  });

/** The names of buckets as `plain` writes them. */
async function labels({ bucket, zone }: Asked, starts: readonly string[]): Promise<string[]> {
  const { sql } = database;
  const rows = await sql<{ label: string }[]>`
    select case ${bucket}::text
      when '15min' then date_bin('15 min', at, '2000-01-01Z')::text
      when 'hour' then date_trunc('hour', at, ${zone}::text)::text
      when 'day' then date_trunc('day', at at time zone ${zone}::text)::text
      when 'month' then date_trunc('month', at at time zone ${zone}::text)::text else '' end as label
    from unnest(${[...starts]}::text[]::timestamptz[]) with ordinality as start(at, n) order by n`;
  return rows.map(({ label }) => label);
}

/** True if two figures agree: money to the nano-dollar, durations within their class. */
function agree(metric: string, found: number | null, expected: number | null): boolean {
  if (found === null || expected === null) return found === expected;
  if (!metric.startsWith('latency')) return Math.abs(found - expected) < 4e-10;
  return Math.max(found, expected) / Math.min(found, expected) < 1.45;
}

async function check(query: Asked): Promise<void> {
  const { metric, groups, bucket, zone, start, top, key, model, outcome } = query;
  const names = groups.includes('api_key_id') || key !== null;
  const isRows =
    names && (groups.some((name) => name !== 'api_key_id') || model !== null || outcome !== null);
  const longest = { '15min': 5, hour: 31 }[bucket] ?? 240;
  const days = Math.min(query.days, isRows ? 2 : longest);
  const last = dayAfter(start, days - 1);
  const response = await send({
    ...{ metric, bucket, timeZone: zone, startDate: start, endDate: last, top: String(top) },
    compare: 'previous',
    ...(groups[0] === undefined ? {} : { group: groups[0] }),
    ...(groups[1] === undefined ? {} : { subgroup: groups[1] }),
    ...(key === null ? {} : { api_key_id: `key_${key}` }),
    ...(model === null ? {} : { logicalModel: model }),
    ...(outcome === null ? {} : { outcome }),
  });
  const answer = (await response.json()) as Answer;
  expect([...Value.Errors(UsageQuerySchema, answer)]).toEqual([]);

  const whole = { ...query, groups: [] };
  const [totals, parts, sums, all] = await Promise.all([
    plain(whole, [start, last], true),
    plain(query, [start, last], true),
    plain(query, [start, last], false),
    plain(whole, [start, last], false),
  ]);
  const starts = await labels(query, answer.buckets);
  expect(new Set(starts).size).toBe(starts.length);
  const none = metric in ADDED ? 0 : null;
  const same = (
    values: readonly (number | null)[],
    found: Found,
    group: readonly (string | null)[],
  ) => {
    for (const [at, label] of starts.entries()) {
      const expected = found[JSON.stringify([...group, label])]?.value ?? none;
      const value = values[at] ?? null;
      if (!agree(metric, value, expected))
        expect([label, group, value]).toEqual([label, group, expected]);
    }
  };
  same(answer.total.values, totals, []);
  expect(answer.total.requests).toBe(all['[""]']?.requests ?? 0);
  const named = answer.series.map((each) => [each.group, each.subgroup].slice(0, groups.length));
  for (const [at, group] of named.entries()) {
    same(answer.series[at]?.values ?? [], parts, group);
    const expected = sums[JSON.stringify([...group, ''])];
    expect(answer.series[at]?.requests).toBe(expected?.requests ?? 0);
    expect(agree(metric, answer.series[at]?.value ?? null, expected?.value ?? none)).toBe(true);
  }
  if (groups.length > 0) {
    const count = Object.keys(sums).length;
    expect([named.length, answer.other?.count ?? 0]).toEqual([
      Math.min(top, count),
      Math.max(0, count - top),
    ]);
    // The shown series are the largest.
    const rank = (found: { value: number; requests: number } | undefined) =>
      (metric in ADDED ? found?.value : found?.requests) ?? 0;
    const ranks = Object.values(sums)
      .map(rank)
      .sort((a, b) => b - a);
    expect(named.map((group) => rank(sums[JSON.stringify([...group, ''])]))).toEqual(
      ranks.slice(0, top),
    );
    // What is shown, and what is not, is everything.
    if (metric in ADDED) {
      const shown = [...answer.series, ...(answer.other ? [answer.other] : [])];
      for (const at of starts.keys()) {
        const sum = shown.reduce((added, { values }) => added + (values[at] ?? 0), 0);
        expect(Math.abs(sum - (answer.total.values[at] ?? 0))).toBeLessThan(4e-9);
      }
    }
  }
  // Whole months are compared with whole months, days with as many days.
  const next = dayAfter(last, 1);
  const areMonths = start.endsWith('-01') && next.endsWith('-01');
  const months =
    (Number(next.slice(0, 4)) - Number(start.slice(0, 4))) * 12 +
    (Number(next.slice(5, 7)) - Number(start.slice(5, 7)));
  const earlier = new Date(`${start}T00:00:00Z`);
  if (areMonths) earlier.setUTCMonth(earlier.getUTCMonth() - months);
  else earlier.setUTCDate(earlier.getUTCDate() - days);
  const before = await plain(
    whole,
    [earlier.toISOString().slice(0, 10), dayAfter(start, -1)],
    false,
  );
  const found = answer.total.previous?.value ?? null;
  if (!agree(metric, found, before['[""]']?.value ?? none)) {
    expect([found, answer.previous]).toEqual([before['[""]']?.value ?? none, null as never]);
  }
}

test('every answer equals plain SQL over all lines', async () => {
  const numRuns = 15 * Number(process.env['WEIR_PROPERTY_RUNS'] ?? 15);
  await fc.assert(fc.asyncProperty(asked, check), { numRuns });
});

test('days on which clocks change have their 23, 24.5 or 25 hours', async () => {
  const hours = async (timeZone: string, day: string) => {
    const query = { metric: 'requests', bucket: 'hour', timeZone, startDate: day, endDate: day };
    return ((await (await send(query)).json()) as Answer).buckets.length;
  };
  expect(await hours('America/New_York', '2026-03-08')).toBe(23);
  expect(await hours('America/Havana', '2026-11-01')).toBe(25);
  expect(await hours('Asia/Kathmandu', '2026-11-01')).toBe(24);
  // Half an hour more: 1:30 comes twice, and begins a bucket of its own.
  expect(await hours('Australia/Lord_Howe', '2026-04-05')).toBe(25);
});

const REFUSED: [query: Record<string, string>, param: string][] = [
  [{}, 'metric'],
  [{ metric: 'profit' }, 'metric'],
  [{ metric: 'cost', group: 'channel_id' }, 'group'],
  [{ metric: 'cost', subgroup: 'scene' }, 'subgroup'],
  [{ metric: 'cost', group: 'scene', subgroup: 'scene' }, 'subgroup'],
  [{ metric: 'cost', bucket: 'week' }, 'bucket'],
  [{ metric: 'cost', timeZone: 'Mars/Olympus' }, 'timeZone'],
  [{ metric: 'cost', timeZone: '+05:45' }, 'timeZone'],
  [{ metric: 'cost', top: '0' }, 'top'],
  [{ metric: 'cost', top: '51' }, 'top'],
  [{ metric: 'cost', compare: 'next' }, 'compare'],
  [{ metric: 'cost', as_of: 'now' }, 'as_of'],
  [{ metric: 'cost', startDate: '2026-02-30' }, 'startDate'],
  [{ metric: 'cost', startDate: '1999-12-31' }, 'startDate'],
  [{ metric: 'cost', startDate: '2999-12-31' }, 'startDate'],
  [{ metric: 'cost', startDate: '2026-03-02', endDate: '2026-03-01' }, 'startDate'],
  [{ metric: 'cost', startDate: '2001-01-01', endDate: '2026-03-01' }, 'startDate'],
  [{ metric: 'cost', bucket: '15min', startDate: '2026-03-01', endDate: '2026-03-30' }, 'bucket'],
  [{ metric: 'cost', user: 'anna' }, 'startDate'],
  [{ metric: 'cost', group: 'api_key_id', subgroup: 'scene', bucket: 'hour' }, 'startDate'],
  [{ metric: 'cost', group: 'api_key_id', subgroup: 'scene', timeZone: 'Asia/Tokyo' }, 'startDate'],
  [{ metric: 'cost', sql: '1' }, 'sql'],
];

test.each(REFUSED)('a wrong query names its parameter: %j', async (query, param) => {
  const error = await errorOf(await send(query), 400);
  expect(error).toMatchObject({ param });
});

test('without dates, the last 30 days until now are meant', async () => {
  const answer = (await (await send({ metric: 'requests' })).json()) as Answer;
  expect(answer.buckets.length).toBe(30);
  expect(answer.buckets[0]).toEndWith('T00:00:00.000Z');
  expect(Math.abs(Date.parse(answer.until) - Date.now())).toBeLessThan(60_000);
});
