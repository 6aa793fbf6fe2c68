/**
 * Sums of usage are exact (docs/decisions/usage-roll-ups.md). Random histories: rows of several open
 * transactions that commit in any order, folds between them, two at once, and a fold whose
 * connection dies. Each answer equals the sum of all rows, added up one by one.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { ReservedSql, Sql } from 'postgres';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { type AsOf, readAsOf } from '../../../db/usage/as-of.ts';
import { listLines } from '../../../db/usage/lines.ts';
import { scopeOf } from '../../../db/usage/roll-ups/cover.ts';
import { fold, summarizePages } from '../../../db/usage/roll-ups/fold.ts';
import type { Group, SumsRequest } from '../../../db/usage/roll-ups/request.ts';
import { readSums } from '../../../db/usage/roll-ups/snapshot.ts';
import { readUsage } from '../../../db/usage/roll-ups/sums.ts';
import { systemClock } from '../../../src/actors/clock.ts';
import { UsageFolder } from '../../../src/actors/money/usage-folder.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { fc } from '../../support/property.ts';
import { until } from '../../support/until.ts';
import { foldAsBefore } from './earlier-fold.ts';
import {
  addUp,
  listUp,
  type PlainSums,
  UNKNOWN_MODEL,
  type UsageEntry,
  writeEntry,
} from './usage-world.ts';

setDefaultTimeout(180_000);

let fresh: TestDatabase;
let folders: Database;
let writers: ReservedSql[];

beforeAll(async () => {
  fresh = await createTestDatabase();
  folders = connectDatabase(fresh.url, { pool: 'background' });
  writers = await Promise.all([1, 2, 3].map(() => fresh.sql.reserve()));
  // On a busy machine, other steps of a history may take longer than a transaction of Weir may be silent.
  for (const writer of writers) await writer`set idle_in_transaction_session_timeout = 0`;
});
afterAll(async () => {
  for (const writer of writers) writer.release();
  await folders.close();
  await fresh.drop();
});

const ORGANIZATIONS = ['org_a', 'org_b'];
/** Both sides of midnights in UTC, and of midnights that are 30 and 45 minutes off. */
const START = Date.parse('2026-03-07T00:00:00Z');
const instant = fc
  .record({
    // Some spans have whole weeks.
    day: fc.constantFrom(0, 0, 1, 2, 3, 8, 16),
    quarter: fc.constantFrom(0, 1, 2, 22, 23, 47, 48, 93, 94, 95),
    ms: fc.constantFrom(0, 1, 450_000, 899_999),
  })
  .map(({ day, quarter, ms }) => new Date(START + day * 86_400_000 + quarter * 900_000 + ms));
const entry: fc.Arbitrary<UsageEntry> = fc
  .record({
    organization_id: fc.constantFrom(...ORGANIZATIONS),
    key: fc.nat(2),
    at: instant,
    scene: fc.constantFrom('chat', 'image'),
    model: fc.constantFrom('a', 'b', UNKNOWN_MODEL),
    protocol: fc.constantFrom('openai', 'anthropic'),
    charged: fc.option(fc.constantFrom(0, 1, 999_999_999, 5_000_000_001), { freq: 3 }),
    overrun: fc.constantFrom(0, 0, 7),
    tokens: fc.nat(1_000),
    ended_ms: fc.option(fc.constantFrom(0, 15, 16, 300, 90_000, 10_000_000)),
    first_token_ms: fc.option(fc.nat(1_000)),
    end_user: fc.constantFrom(null, 'anna'),
    task: fc.boolean(),
    refusal: fc.constantFrom('refused', 'failed', 'canceled', 'repeated', 'accepted', 'free'),
    partial: fc.boolean(),
    cache: fc.constantFrom('bypass', 'miss', 'hit', 'hit'),
    would_cost: fc.constantFrom(1, 70_000, 6_000_000_000),
  })
  .map(({ key, refusal, partial, cache, would_cost, ...rest }) => ({
    ...rest,
    looked_up: cache !== 'bypass',
    ...(cache === 'hit' ? { saved: would_cost } : {}),
    key_id: `key_${rest.organization_id}_${key}`,
    outcome:
      cache === 'hit'
        ? 'cached'
        : rest.charged === null
          ? refusal
          : partial
            ? 'partial'
            : 'completed',
  }));

const request = fc.record({
  organization_id: fc.constantFrom(...ORGANIZATIONS),
  key: fc.option(fc.nat(2)),
  model: fc.option(fc.constantFrom('a', UNKNOWN_MODEL)),
  protocol: fc.option(fc.constant('openai'), { freq: 1 }),
  scene: fc.option(fc.constant('image'), { freq: 1 }),
  outcomes: fc.option(fc.constantFrom(['completed'], ['refused', 'partial'], ['cached'])),
  end_user: fc.option(fc.constant('anna'), { freq: 1 }),
  from: fc.option(instant),
  until: fc.option(instant),
  groups: fc.constantFrom<Group[]>(
    ...([[], ['key_id'], ['model'], ['key_id', 'model'], ['model', 'outcome']] as Group[][]),
    ['model_vendor'],
    ['scene', 'access_channel'],
    ['protocol'],
  ),
  // Buckets of 15 minutes, days of UTC, and days whose midnights are 45 or 30 minutes off.
  step: fc.constantFrom([0, 0], [1, 0], [4, 2], [96, 0], [96, 23], [96, 2], [-1, 0]),
  // Weeks have no classes of durations.
  took: fc.boolean(),
  limit: fc.integer({ min: 1, max: 5 }),
  /** Which earlier state is named; the present one is 0. */
  state: fc.nat(3),
});
type Asked = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant('write' as const), by: fc.nat(2), entry }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('commit' as const), by: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('undo' as const), by: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('fold' as const), limit: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('fold twice' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('earlier fold' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('kill' as const), after_ms: fc.nat(15) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('note' as const) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('ask' as const), asked: request }) },
);

const QUARTER_MS = 900_000;

function requestOf(asked: Asked, as_of: AsOf): SumsRequest | undefined {
  const { organization_id, key, groups, step: steps } = asked;
  const [from, until] = [asked.from ?? undefined, asked.until ?? undefined];
  if (from && until && from >= until) return undefined;
  const [every = 0, offset = 0] = steps;
  const first = Math.floor((from?.getTime() ?? START - 86_400_000) / QUARTER_MS);
  const last = Math.ceil((until?.getTime() ?? START + 18 * 86_400_000) / QUARTER_MS);
  const starts: number[] = [];
  if (every > 0) {
    const begin = Math.floor((first - offset) / every) * every + offset;
    for (let at = begin; at < last; at += every) starts.push(at);
  }
  return {
    filters: {
      organization_id,
      key_id: key === null ? undefined : `key_${organization_id}_${key}`,
      model: asked.model ?? undefined,
      protocol: asked.protocol ?? undefined,
      scene: asked.scene ?? undefined,
      outcomes: asked.outcomes ?? undefined,
      end_user: asked.end_user ?? undefined,
      ...{ from, until },
    },
    as_of,
    groups,
    starts: every < 0 ? 'utc_days' : starts,
    took: asked.took,
  };
}

async function summed(query: SumsRequest): Promise<Record<string, PlainSums>> {
  const rows = await readSums(fresh.sql, (reader) => readUsage(reader, query));
  return Object.fromEntries(
    rows.map(({ bucket, counts, ...group }) => {
      const names = query.groups.map((name) => group[name]);
      const classed = counts.took.reduce((sum, count) => sum + count, 0);
      expect(classed).toBe(query.took ? counts.durations : 0);
      return [
        [...names, bucket].join('|'),
        {
          requests: counts.requests,
          charges: counts.charges,
          succeeded: counts.succeeded,
          charged: counts.charged_nano_usd,
          list: counts.list_nano_usd,
          tokens: counts.input_tokens,
          duration_ms: counts.duration_ms,
          first_tokens: counts.first_tokens,
          cache_lookups: counts.cache_lookups,
          cache_hits: counts.cache_hits,
          saved: counts.saved_nano_usd,
        },
      ];
    }),
  );
}

async function check(asked: Asked, states: readonly AsOf[]): Promise<void> {
  const as_of = states[states.length - asked.state] ?? (await readAsOf(fresh.sql));
  const query = requestOf(asked, as_of);
  if (!query) return;
  const [found, expected] = await Promise.all([summed(query), addUp(fresh.sql, query)]);
  const shown = (await hasCacheSums()) ? (sums: object) => sums : withoutCache;
  expect(shown(found)).toEqual(shown(expected));
  // Lists have no filter by outcome.
  const listed = { ...query, filters: { ...query.filters, outcomes: undefined } };
  expect(await pages(listed, asked.limit)).toEqual(await listUp(fresh.sql, listed));
}

/** False after a fold of an earlier version: the next fold makes the sums of the cache exact again. */
async function hasCacheSums(): Promise<boolean> {
  const [row] = await fresh.sql<{ has: boolean }[]>`
    select not is_ready or (cache_next_xid = next_xid and cache_open_xids = open_xids) as has
    from usage_fold`;
  return row?.has === true;
}

function withoutCache(sums: object): object {
  const of_cache = { cache_lookups: 0, cache_hits: 0, saved: 0 };
  return Object.fromEntries(
    Object.entries(sums).map(([name, plain]) => [name, { ...plain, ...of_cache }]),
  );
}

/** The ids of all pages of a list. */
async function pages({ filters, as_of }: SumsRequest, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let offset = 0, total = 1; offset < total; offset += limit) {
    const page = await listLines(fresh.sql, filters, as_of, { offset, limit });
    total = page.total;
    ids.push(...page.rows.map(({ billing_id }) => billing_id ?? ''));
  }
  return ids;
}

test('every answer equals the sum of all rows, whatever commits late, folds or dies', async () => {
  const steps = fc.array(step, { minLength: 10, maxLength: 60 });
  const runs = Number(process.env['WEIR_PROPERTY_RUNS'] ?? 40);
  await fc.assert(
    fc.asyncProperty(steps, request, async (history, last) => {
      await fresh.sql`truncate usage_line, call_record, usage_series, usage_quarter, usage_day, usage_name_quarter,
        usage_name_day, usage_key_quarter,
        usage_key_day, usage_key_name_day, usage_key_model_day, usage_key_model_week`;
      await fresh.sql`update usage_fold set next_xid = 0, open_xids = '{}', is_ready = false,
        table_name = 'usage_line', organization_id = '', at = '-infinity',
        row_id = '00000000-0000-0000-0000-000000000000', key_models_of = '', key_model_weeks_of = '',
        key_models_at = '-infinity', cache_next_xid = 0, cache_open_xids = '{}'`;
      const open = [false, false, false];
      const states: AsOf[] = [];
      const end = async (by: number, how: 'commit' | 'rollback') => {
        const writer = writers[by];
        if (!writer || !open[by]) return;
        await writer.unsafe(how);
        open[by] = false;
      };
      for (const each of history) {
        if (each.type === 'write') {
          const writer = writers[each.by];
          if (!writer) continue;
          if (!open[each.by]) await writer.unsafe('begin');
          open[each.by] = true;
          await writeEntry(writer, each.entry);
        } else if (each.type === 'commit') await end(each.by, 'commit');
        else if (each.type === 'undo') await end(each.by, 'rollback');
        else if (each.type === 'fold') await fold(folders.sql, each.limit + 1);
        else if (each.type === 'fold twice') {
          await Promise.all([fold(folders.sql), fold(fresh.sql)]);
        } else if (each.type === 'earlier fold') await foldAsBefore(folders.sql);
        else if (each.type === 'kill') await killFold(each.after_ms);
        else if (each.type === 'note') states.push(await readAsOf(fresh.sql));
        else await check(each.asked, states);
      }
      for (const by of [0, 1, 2]) await end(by, 'commit');
      await check(last, states);
      while ((await fold(folders.sql, 5)).more);
      expect(await hasCacheSums()).toBe(true);
      await check(last, states);
      await check({ ...last, state: 0, key: null, groups: ['model', 'outcome'] }, states);
    }),
    // A failed history leaves transactions open, so a smaller one would fail because of them.
    { numRuns: runs, endOnFailure: true },
  );
  await summarizePages(fresh.sql);
});

test('sums of keys by model answer as soon as a fold has made them', async () => {
  const filters = { organization_id: 'org_a', from: undefined, until: undefined };
  const query: SumsRequest = {
    ...{ filters, as_of: await readAsOf(fresh.sql), groups: ['key_id', 'model'], starts: [] },
  };
  const scope = () => readSums(fresh.sql, async (reader) => scopeOf(reader, query));
  expect(await scope()).toBe('key_model');
  await fresh.sql`update usage_fold set key_model_weeks_of = '', key_models_at = now()`;
  await fold(fresh.sql);
  expect(await scope()).toBe('key');
  // The sums are made anew without new rows, and at most once a minute.
  await fresh.sql`update usage_fold set key_models_at = now() - interval '61 seconds'`;
  await fold(fresh.sql);
  expect(await scope()).toBe('key_model');
});

test('queries of sums are planned for their values, and later statements as before', async () => {
  const modeOf = async (sql: Sql) => {
    const [row] = await sql<{ mode: string }[]>`select current_setting('plan_cache_mode') as mode`;
    return row?.mode;
  };
  expect(await readSums(fresh.sql, ({ tx }) => modeOf(tx))).toBe('force_custom_plan');
  expect(await modeOf(fresh.sql)).toBe('auto');
});

test('while rows arrive, the folders of two replicas add each row to the sums once', async () => {
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const running = [fresh.sql, folders.sql].map(
    (sql) => new UsageFolder({ sql, clock: systemClock, onError }),
  );
  for (const folder of running) folder.start();
  const [sample] = fc.sample(entry, { numRuns: 1, seed: 1 });
  if (!sample) throw new Error('no entry');
  const day = { ...sample, at: new Date(START), organization_id: 'org_folders' };
  const lines = 60;
  for (let line = 0; line < lines; line += 1) {
    await writeEntry(fresh.sql, { ...day, charged: 3, key_id: 'key', outcome: 'completed' });
    await Bun.sleep(40);
  }
  const sums = () => fresh.sql<{ scope: string; charged: number }[]>`
    select scope, sum(charged_nano_usd)::int8 as charged
    from (select series_id, charged_nano_usd from usage_day
      union all select series_id, charged_nano_usd from usage_name_day
      union all select series_id, charged_nano_usd from usage_key_day
      union all select series_id, charged_nano_usd from usage_key_name_day
      union all select series_id, charged_nano_usd from usage_key_model_day) as day
    join usage_series on usage_series.id = series_id
    where organization_id = 'org_folders' group by 1 order by 1`;
  await until('all rows are in the sums', async () => (await sums())[0]?.charged === 3 * lines);
  await Promise.all(running.map((folder) => folder.stop()));
  const charged = 3 * lines;
  expect([...(await sums())]).toEqual([
    { scope: 'by_model', charged },
    { scope: 'by_outcome', charged },
    { scope: 'by_protocol', charged },
    { scope: 'key', charged },
    { scope: 'key_model', charged },
    { scope: 'key_total', charged },
    { scope: 'organization', charged },
    { scope: 'total', charged },
  ]);
  expect(errors).toEqual([]);
});

/** Starts a fold and ends its connection after some time. */
async function killFold(after_ms: number): Promise<void> {
  const killed = connectDatabase(fresh.url, { pool: 'single' });
  const [session] = await killed.sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const folding = fold(killed.sql).catch(() => undefined);
  await Bun.sleep(after_ms);
  await fresh.sql`select pg_terminate_backend(${session?.pid ?? 0})`;
  await folding;
  await killed.close();
}
