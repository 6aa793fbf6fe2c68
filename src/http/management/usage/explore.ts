import { type Static, Type } from '@sinclair/typebox';
import { type AsOf, writeAsOf } from '../../../../db/usage/as-of.ts';
import {
  type Exploration,
  explore,
  type Points,
  type Series,
  type Span,
} from '../../../../db/usage/exploration.ts';
import { readsRows } from '../../../../db/usage/roll-ups/cover.ts';
import { QUARTER_S } from '../../../../db/usage/roll-ups/entries.ts';
import type { Group } from '../../../../db/usage/roll-ups/request.ts';
import { validator } from '../../../errors/validate.ts';
import { WeirError } from '../../../errors/weir-error.ts';
import { SharedReads } from '../../../inference/records/shared-reads.ts';
import { type Handler, jsonText } from '../../endpoint.ts';
import { admitManager } from '../keys.ts';
import { readDateRange } from '../list-dates.ts';
import { BUCKETS, bucketStarts, dayIn, daysBefore, isTimeZone, startOfBefore } from './buckets.ts';
import { OUTCOMES } from './calls.ts';
import type { UsageQuerySchema } from './explore-answer.ts';
import { KeptAnswers } from './kept-answers.ts';
import type { UsageDeps } from './lines.ts';
import { METRICS, type Metric, type MetricName } from './metrics.ts';
import { asOf, FILTERS, filtersOf, invalid, oneOf, queryOf, querySchema, text } from './query.ts';

/** The names of groups, and the columns of sums. */
const GROUPS = {
  none: undefined,
  api_key_id: 'key_id',
  logical_model: 'model',
  model_vendor: 'model_vendor',
  scene: 'scene',
  access_channel: 'access_channel',
  protocol: 'protocol',
  outcome: 'outcome',
} as const satisfies Record<string, Group | undefined>;
const GROUP_NAMES = Object.keys(GROUPS) as (keyof typeof GROUPS)[];

const STANDARD_DAYS = 30;
const STANDARD_TOP = 10;
const MAX_TOP = 50;
/** Days in 15 minutes, a month in hours, and two years in days fit. */
const MAX_BUCKETS = 750;
const MAX_DAYS = 3_700;
/** The longest span whose rows are read, because no sums answer the query. */
const MAX_ROW_DAYS = 2;
/** The same for the rows of one key. */
const MAX_KEY_ROW_DAYS = 31;
const DAY_MS = 86_400_000;
/** Offsets of older times are no multiples of 15 minutes everywhere. */
const EARLIEST_MS = Date.parse('2000-01-01T00:00:00Z');

/** `GET /v1/management/usage/query` */
export const ExploreSchema = querySchema({
  ...FILTERS,
  api_key_id: Type.Optional(text(100)),
  outcome: Type.Optional(oneOf(OUTCOMES)),
  metric: oneOf(Object.keys(METRICS) as MetricName[]),
  group: Type.Optional(oneOf(GROUP_NAMES)),
  subgroup: Type.Optional(oneOf(GROUP_NAMES)),
  bucket: Type.Optional(oneOf(BUCKETS)),
  timeZone: Type.Optional(text(100)),
  top: Type.Optional(text(10)),
  compare: Type.Optional(oneOf(['previous', 'none'])),
});
export type ExploreQuery = Static<typeof ExploreSchema>;
/** Throws WeirError (400). */
export const validateExplored = validator(ExploreSchema);

/**
 * `GET /v1/management/usage/query`: one metric of the organization's usage, in the series with the
 * largest sums and the rest as one, by buckets of a time zone, beside the span before.
 */
export function queryUsage(deps: UsageDeps): Handler {
  // Every open page of an organization asks for the same sums when it hears of a call.
  const reads = new SharedReads<string>();
  // Open pages of all people read at the state of the same event.
  const answers = new KeptAnswers();
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    const query = validateExplored(queryOf(context.request));
    const name = JSON.stringify([organization_id, Object.entries(query).sort()]);
    const read = async () => JSON.stringify(await answerOf(deps, organization_id, query));
    const asked = query.as_of === undefined ? reads.run(name, read) : answers.run(name, read);
    return jsonText(await asked);
  };
}

async function answerOf(
  deps: UsageDeps,
  organization_id: string,
  query: ExploreQuery,
): Promise<UsageAnswer> {
  const as_of = await asOf(query, deps.usage());
  const asked = askedBy(deps, organization_id, query, as_of);
  return answerTo(asked, await readFor(deps, [asked]));
}

/**
 * Returns what each of several queries asks for, in one state. Queries that differ only in their metric share what is
 * read for them. Throws WeirError (400).
 */
export async function exploredAnswers(
  deps: UsageDeps,
  organization_id: string,
  queries: readonly ExploreQuery[],
  as_of: AsOf,
): Promise<UsageAnswer[]> {
  const asked = queries.map((query) => askedBy(deps, organization_id, query, as_of));
  const shared = new Map<string, Asked[]>();
  for (const [at, each] of asked.entries()) {
    // The metric decides which series are the largest.
    const name =
      each.groups.length > 0 ? `${at}` : JSON.stringify({ ...each.query, metric: undefined });
    shared.set(name, [...(shared.get(name) ?? []), each]);
  }
  const answers = new Map<Asked, UsageAnswer>();
  await Promise.all(
    [...shared.values()].map(async (together) => {
      const found = await readFor(deps, together);
      for (const each of together) answers.set(each, answerTo(each, found));
    }),
  );
  return asked.flatMap((each) => answers.get(each) ?? []);
}

/** An answer of `GET /v1/management/usage/query`. */
type UsageAnswer = Static<typeof UsageQuerySchema>;

/** A query that is checked. */
type Asked = ReturnType<typeof askedBy>;

/** Checks a query. Throws WeirError (400). */
function askedBy(deps: UsageDeps, organization_id: string, query: ExploreQuery, as_of: AsOf) {
  const { timeZone: zone = 'UTC', bucket = 'day' } = query;
  if (!isTimeZone(zone)) {
    throw invalid('timeZone', 'must be a time zone of IANA, such as Asia/Kathmandu');
  }
  const groups = groupsOf(query);
  const top = topOf(query.top);
  const { startDate: _, endDate: __, ...named } = query;
  const filters = {
    ...filtersOf(named, organization_id, deps.catalogue()),
    key_id: query.api_key_id,
    outcomes: query.outcome === undefined ? undefined : [query.outcome],
  };
  const range = rangeOf(query, zone, as_of.at.getTime());
  const starts = startsOf(range, bucket, zone);
  // Without an end, the span has all rows of the state. Sums answer for them; up to 15 minutes of single rows
  // would be read for an end that is now.
  const span = {
    ...spanOf(range, starts),
    ...(query.endDate === undefined ? { until: undefined } : {}),
  };
  const earlier = { from: startOfBefore(range, zone), until: range.from };
  const before =
    query.compare === 'previous' ? spanOf(earlier, startsOf(earlier, bucket, zone)) : undefined;
  requireSums({ filters, as_of, groups, starts }, range);
  const metric: Metric = METRICS[query.metric];
  const request = { filters, as_of, groups, span, before, top };
  return { query, zone, bucket, groups, range, starts, earlier, before, metric, request };
}

/** Reads what some queries ask for that differ at most in their metric. */
function readFor(deps: UsageDeps, together: readonly Asked[]): Promise<Exploration> {
  const [first] = together;
  if (!first) throw new Error('no query is asked');
  const metrics = together.map(({ metric }) => metric);
  return explore(deps.usage(), {
    ...first.request,
    rank: first.metric.rank,
    counters: [...new Set(metrics.flatMap(({ counters }) => counters))],
    took: metrics.some(({ took }) => took),
  });
}

function answerTo(asked: Asked, found: Exploration): UsageAnswer {
  const { query, zone, bucket, groups, range, starts, earlier, before, metric, request } = asked;
  return {
    object: 'usage_query',
    metric: query.metric,
    unit: metric.unit,
    group: groups.length > 0 ? (query.group ?? null) : null,
    subgroup: groups.length > 1 ? (query.subgroup ?? null) : null,
    bucket,
    time_zone: zone,
    ...shownSpan(range, starts),
    previous: before ? shownSpan(earlier, before.starts) : null,
    total: shownSeries(found.total, metric),
    series: found.series.map((series) => ({
      // A client that names an unknown model gets no series of its own.
      group: series.names[0] || null,
      subgroup: series.names[1] || null,
      ...shownSeries(series, metric),
    })),
    other: found.other ? { count: found.other.count, ...shownSeries(found.other, metric) } : null,
    ...(found.lines_since ? { lines_since: found.lines_since.toISOString() } : {}),
    as_of: writeAsOf(request.as_of),
  };
}

/** Returns the columns of the groups. Throws WeirError (400). */
function groupsOf({ group = 'none', subgroup = 'none' }: ExploreQuery): Group[] {
  const [first, second] = [GROUPS[group], GROUPS[subgroup]];
  if (second === undefined) return first === undefined ? [] : [first];
  if (first === undefined) throw invalid('subgroup', 'needs a group');
  if (first === second) throw invalid('subgroup', 'must differ from group');
  return [first, second];
}

function topOf(top: string | undefined): number {
  const number = top === undefined ? STANDARD_TOP : /^\d{1,3}$/.test(top) ? Number(top) : 0;
  if (number >= 1 && number <= MAX_TOP) return number;
  throw invalid('top', `must be a whole number from 1 to ${MAX_TOP}`);
}

/** From `from`, inclusive, to `until`, exclusive, ms. */
interface Range {
  readonly from: number;
  readonly until: number;
}

/** Returns the range of a query. A date without a time is the whole day in the zone. */
function rangeOf({ startDate, endDate }: ExploreQuery, zone: string, now: number): Range {
  const [start, end] = [startDate, endDate].map((date) => date && dayIn(date, zone));
  // What is no date is a time, or an error.
  const { since, before } = readDateRange({
    startDate: start ? undefined : startDate,
    endDate: end ? undefined : endDate,
  });
  const until = (end || undefined)?.end ?? before?.getTime() ?? now + 1;
  const first = (start || undefined)?.start ?? since?.getTime();
  const from = first ?? daysBefore(until - 1, STANDARD_DAYS - 1, zone);
  const days = (until - from) / DAY_MS;
  if (days <= 0) {
    throw invalid(
      'startDate',
      endDate === undefined ? 'must not be in the future' : 'must not be after endDate',
    );
  }
  if (from < EARLIEST_MS) throw invalid('startDate', 'must not be before the year 2000');
  if (days > MAX_DAYS)
    throw invalid('startDate', `must be at most ${MAX_DAYS} days before endDate`);
  return { from, until };
}

function startsOf(range: Range, bucket: ExploreQuery['bucket'] & string, zone: string): number[] {
  const starts = bucketStarts(range, bucket, zone, MAX_BUCKETS);
  if (starts) return starts;
  throw invalid('bucket', `is too short: the range has more than ${MAX_BUCKETS} of it`);
}

function spanOf({ from, until }: Range, starts: readonly number[]): Span {
  return { from: new Date(from), until: new Date(until), starts };
}

/** Throws WeirError (400) if a query reads the rows of a long time. */
function requireSums(request: Parameters<typeof readsRows>[0], { from, until }: Range): void {
  if (!readsRows(request)) return;
  const isOne = request.filters.key_id !== undefined;
  const days = isOne ? MAX_KEY_ROW_DAYS : MAX_ROW_DAYS;
  // A day has up to 25 hours.
  if (until - from <= days * DAY_MS + DAY_MS / 24) return;
  const what = request.filters.end_user === undefined ? 'keys by another group' : 'one user';
  throw new WeirError(
    'invalid_request',
    `startDate must be at most ${days} days before endDate for ${what}${isOne ? '' : ' without api_key_id'}.`,
    {
      param: 'startDate',
      hint: `Send api_key_id${request.filters.end_user === undefined ? ', or bucket=day with days of UTC' : ''}, or a shorter range.`,
    },
  );
}

function shownSpan({ from, until }: Range, starts: readonly number[]) {
  const iso = (instant_ms: number) => new Date(instant_ms).toISOString();
  const buckets = starts.map((start) => iso(Math.max(from, start * 1_000 * QUARTER_S)));
  return { from: iso(from), until: iso(until), buckets };
}

function shownSeries({ now, before }: Series, metric: Metric) {
  const points = ({ sum, buckets }: Points) => ({
    value: metric.value(sum),
    values: buckets.map(metric.value),
  });
  return { ...points(now), requests: now.sum.requests, previous: before ? points(before) : null };
}
