import type { Sql } from 'postgres';
import { lacking } from '../records/kept.ts';
import type { CallDetail } from '../records/record.ts';
import { type AsOf, isIn } from './as-of.ts';
import { conditions, type UsageFilters } from './filters.ts';
import type { Counts } from './roll-ups/counters.ts';
import { QUARTER_S, QUARTERS_A_DAY } from './roll-ups/entries.ts';
import { readSums } from './roll-ups/snapshot.ts';
import { readUsage, type SumsRow } from './roll-ups/sums.ts';
import { isRunningIn } from './running-tasks.ts';

const QUARTER_MS = QUARTER_S * 1_000;

/** A charge, or money that a task in flight holds. Amounts are in nano-USD. */
export interface UsageRow {
  /** The UUID of the billing transaction; null while the money is held. */
  readonly billing_id: string | null;
  readonly request_id: string;
  readonly key_id: string;
  readonly at: Date;
  /** When the charge was committed; null while the money is held. */
  readonly settled_at: Date | null;
  readonly outcome: 'completed' | 'partial' | 'cached' | 'held';
  readonly scene: string;
  readonly model: string;
  readonly model_vendor: string;
  readonly access_channel: 'platform' | 'byok';
  readonly protocol: string;
  readonly program: string;
  readonly task_id: string | null;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  readonly audio_tokens: number;
  readonly estimated: boolean;
  readonly charged_nano_usd: number;
  readonly overrun_nano_usd: number;
  /** The price in the catalogue. On an own key it differs from the charge. */
  readonly list_nano_usd: number;
  /** What the cap of the key counted. */
  readonly counted_nano_usd: number;
  readonly held_nano_usd: number;
  readonly first_token_ms: number | null;
  readonly ended_ms: number | null;
  readonly detail: CallDetail | null;
}

/** A page of the lines, the newest first. */
export interface LinesPage {
  readonly rows: readonly UsageRow[];
  /** The number of lines on all pages. */
  readonly total: number;
  /** Set if retention removed lines of the range: the pages have all lines that are dated from it on. */
  readonly lines_since: Date | undefined;
}

/**
 * Lists charges and the money that tasks hold, as they were in one committed state. A far page is as
 * fast as the first: the sums of days, and then of quarters of an hour, say which times the page has.
 */
export function listLines(
  sql: Sql,
  asked: UsageFilters,
  as_of: AsOf,
  page: { readonly offset: number; readonly limit: number },
): Promise<LinesPage> {
  return readSums(sql, async (reader) => {
    const { tx, kept } = reader;
    const lines_since = lacking(asked.from, kept.lines_since);
    // Sums also count lines that are removed.
    const filters = lines_since ? { ...asked, from: lines_since } : asked;
    const request = { filters, as_of, groups: [], counters: ['charges'] as const };
    const held = await heldByQuarter(tx, filters, as_of);
    const by_day = await readUsage(reader, { ...request, starts: 'utc_days' });
    const days = countsOf([...by_day, ...held.map(([at, n]) => spanOf(floorDay(at), n))]);
    const total = [...days.values()].reduce((sum, count) => sum + count, 0);
    const { spans: of_days, skipped } = spansOf(days, page.offset, page.limit);
    const [last_day, first_day] = [of_days[0], of_days.at(-1)];
    if (last_day === undefined || first_day === undefined) {
      return { rows: [], total, lines_since };
    }
    const first = first_day * QUARTERS_A_DAY;
    const until = (last_day + 1) * QUARTERS_A_DAY;
    const by_quarter = await readUsage(reader, {
      ...request,
      filters: { ...filters, ...narrowed(filters, first, until) },
      starts: Array.from({ length: until - first }, (_, at) => first + at),
    });
    const quarters = countsOf([
      ...by_quarter.map(({ bucket, counts }) => ({ bucket: first + bucket, counts })),
      ...held.filter(([at]) => at >= first && at < until).map(([at, n]) => spanOf(at, n)),
    ]);
    const place = spansOf(quarters, page.offset - skipped, page.limit);
    const offset = page.offset - skipped - place.skipped;
    const rows = await readRows(tx, filters, as_of, {
      quarters: place.spans,
      ...{ offset, limit: page.limit },
    });
    return { rows, total, lines_since };
  });
}

/** The number of lines in each span of time. */
type SpanCounts = ReadonlyMap<number, number>;
type SpanRow = Pick<SumsRow, 'bucket'> & { readonly counts: Pick<Counts, 'charges'> };

const floorDay = (quarter: number) => Math.floor(quarter / QUARTERS_A_DAY);
const spanOf = (bucket: number, charges: number): SpanRow => ({ bucket, counts: { charges } });

function countsOf(rows: readonly SpanRow[]): SpanCounts {
  const found = new Map<number, number>();
  for (const { bucket, counts } of rows) {
    found.set(bucket, (found.get(bucket) ?? 0) + counts.charges);
  }
  return found;
}

/**
 * Returns the spans that have the lines from `offset` on, the latest first, and the number of lines
 * in the spans after them.
 */
function spansOf(
  counts: SpanCounts,
  offset: number,
  limit: number,
): { spans: number[]; skipped: number } {
  const spans: number[] = [];
  let before = 0;
  let skipped = 0;
  for (const [span, count] of [...counts].sort(([a], [b]) => b - a)) {
    if (before >= offset + limit) break;
    if (before + count <= offset) skipped += count;
    else if (count > 0) spans.push(span);
    before += count;
  }
  return { spans, skipped };
}

/** The part of the filters' time that is between two quarters. */
function narrowed({ from, until }: UsageFilters, first: number, end: number) {
  const [start_ms, end_ms] = [first * QUARTER_MS, end * QUARTER_MS];
  return {
    from: new Date(Math.max(from?.getTime() ?? start_ms, start_ms)),
    until: new Date(Math.min(until?.getTime() ?? end_ms, end_ms)),
  };
}

async function heldByQuarter(
  sql: Sql,
  filters: UsageFilters,
  as_of: AsOf,
): Promise<[quarter: number, held: number][]> {
  const rows = await sql<{ quarter: number; held: number }[]>`
    select floor(extract(epoch from at) / ${QUARTER_S})::int4 as quarter, count(*)::int4 as held
    from (${holds(sql, filters, as_of)}) as held group by 1`;
  return rows.map(({ quarter, held }) => [quarter, held]);
}

interface RowsPage {
  /** The quarters that have the rows. */
  readonly quarters: readonly number[];
  readonly offset: number;
  readonly limit: number;
}

/** Reads rows of some quarters. Each quarter is a short part of an index. */
function readRows(
  sql: Sql,
  filters: UsageFilters,
  as_of: AsOf,
  { quarters, offset, limit }: RowsPage,
): Promise<UsageRow[]> {
  const most = offset + limit;
  return sql<UsageRow[]>`
    select line.* from unnest(${[...quarters]}::int4[]) as quarter cross join lateral (
      select * from ((
          ${charges(sql, filters, as_of)}
            and usage_line.at >= to_timestamp(quarter * ${QUARTER_S}::float8)
            and usage_line.at < to_timestamp((quarter + 1) * ${QUARTER_S}::float8)
          order by usage_line.at desc, usage_line.id desc limit ${most}
        ) union all (
          select * from (${holds(sql, filters, as_of)}) as held
          where floor(extract(epoch from held.at) / ${QUARTER_S}) = quarter)) as both_kinds
      order by at desc, sort_id desc limit ${most}) as line
    order by line.at desc, line.sort_id desc limit ${limit} offset ${offset}`;
}

function isCharge(sql: Sql, filters: UsageFilters, as_of: AsOf) {
  return sql`${conditions(sql, filters, 'usage_line')} and ${isIn(sql, as_of, 'usage_line')}`;
}

function charges(sql: Sql, filters: UsageFilters, as_of: AsOf) {
  return sql`
    select ${chargeColumns(sql)} from usage_line where ${isCharge(sql, filters, as_of)}`;
}

/** The columns of a `UsageRow` of a charge. */
export function chargeColumns(sql: Sql) {
  return sql`
    id as sort_id, id as billing_id, request_id, key_id, at, created_at as settled_at, outcome, scene,
    model, model_vendor, access_channel, protocol, program, detail ->> 'task_id' as task_id, input_tokens,
    cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, audio_tokens, estimated,
    charged_nano_usd, overrun_nano_usd, coalesce(list_nano_usd, charged_nano_usd + overrun_nano_usd) as list_nano_usd,
    coalesce(counted_nano_usd, charged_nano_usd) as counted_nano_usd, 0::int8 as held_nano_usd, first_token_ms, ended_ms, detail`;
}

/**
 * The money that tasks held. A task that has ended since `as_of` still held its money then, so that a
 * later page neither repeats nor skips its line.
 */
function holds(sql: Sql, filters: UsageFilters, as_of: AsOf) {
  return sql`
    select task.hold_id as sort_id, null::uuid as billing_id, task.request_id, task.key_id,
      date_trunc('milliseconds', hold.created_at) as at, null::timestamptz as settled_at, 'held'::text as outcome, task.scene,
      task.model, coalesce(record ->> 'vendor', '') as model_vendor,
      case when own_only then 'byok' else 'platform' end as access_channel, coalesce(record ->> 'protocol', '') as protocol,
      coalesce(record ->> 'program', '') as program, task.id as task_id, 0 as input_tokens, 0 as cached_input_tokens,
      0 as cache_write_tokens, 0 as output_tokens, 0 as reasoning_tokens, 0 as audio_tokens,
      true as estimated, 0::int8 as charged_nano_usd, 0::int8 as overrun_nano_usd,
      0::int8 as list_nano_usd, 0::int8 as counted_nano_usd,
      hold.amount_nano_usd as held_nano_usd, null::int4 as first_token_ms, null::int4 as ended_ms,
      record as detail
    from task join hold on hold.id = task.hold_id
    where ${taskConditions(sql, filters)} and ${isRunningIn(sql, as_of)}`;
}

function taskConditions(
  sql: Sql,
  { organization_id, key_id, model, scene, from, until, ...rest }: UsageFilters,
) {
  const { protocol, end_user } = rest;
  return sql`
    task.organization_id = ${organization_id}
    ${rest.access_channel === undefined ? sql`` : sql`and own_only = ${rest.access_channel === 'byok'}`}
    ${protocol === undefined ? sql`` : sql`and record ->> 'protocol' = ${protocol}`}
    ${end_user === undefined ? sql`` : sql`and record ->> 'end_user' = ${end_user}`}
    ${rest.vendor_models ? sql`and task.model = any(${rest.vendor_models as string[]})` : sql``}
    ${key_id === undefined ? sql`` : sql`and task.key_id = ${key_id}`}
    ${model === undefined ? sql`` : sql`and task.model = ${model}`}
    ${scene === undefined ? sql`` : sql`and task.scene = ${scene}`}
    ${from === undefined ? sql`` : sql`and hold.created_at >= ${from}`}
    ${until === undefined ? sql`` : sql`and hold.created_at < ${until}`}`;
}
