import type { Sql } from 'postgres';
import type { AsOf } from './as-of.ts';
import { addCounts, type Counter, type Counts, noCounts } from './roll-ups/counters.ts';
import { removedFrom } from './roll-ups/cover.ts';
import type { Group, SumFilters, SumsRequest } from './roll-ups/request.ts';
import { type Reader, readSums } from './roll-ups/snapshot.ts';
import { rankUsage, readUsage, type SumsRow } from './roll-ups/sums.ts';

/** A span of time and its buckets. */
export interface Span {
  readonly from: Date;
  /** Missing if the span is open: all rows of the state from `from` on. */
  readonly until: Date | undefined;
  /** The first quarters of the buckets, ascending; the first one contains `from`. */
  readonly starts: readonly number[];
}

/** What is explored. */
export interface ExplorationRequest {
  readonly filters: Omit<SumFilters, 'from' | 'until'>;
  readonly as_of: AsOf;
  /** By what each series is named: nothing, one name or two. */
  readonly groups: readonly Group[];
  readonly span: Span;
  /** The span to compare with. */
  readonly before: Span | undefined;
  /** How many series are shown; the others are summed as one. */
  readonly top: number;
  /** The sums that the figures need. */
  readonly counters: readonly Counter[];
  /** True if the classes of durations are wanted. */
  readonly took: boolean;
  /** The series with the largest sums of this counter are shown. */
  readonly rank: Counter;
}

/** The sums of a series: of the whole span, and of each bucket. */
export interface Points {
  readonly sum: Counts;
  readonly buckets: readonly Counts[];
}

/** The sums of a series in both spans. */
export interface Series {
  readonly names: readonly string[];
  readonly now: Points;
  readonly before: Points | undefined;
}

/** The series with the largest sums, and what they are a part of. */
export interface Exploration {
  readonly total: Series;
  readonly series: readonly Series[];
  /** All other series; undefined if there are none. */
  readonly other: (Series & { readonly count: number }) | undefined;
  /** Set if usage of both spans is missing that only removed rows had: all later usage is there. */
  readonly lines_since: Date | undefined;
}

/**
 * Returns the sums of an organization by groups and buckets, all as they were in one committed state.
 * `total` is exactly the sum of the series and of `other`. Series of the span before have the names
 * of the present ones.
 */
export function explore(sql: Sql, request: ExplorationRequest): Promise<Exploration> {
  const { groups, span, before, top } = request;
  return readSums(sql, async (reader) => {
    const total = {
      names: [],
      now: await totalOf(reader, request, span),
      before: before && (await totalOf(reader, request, before)),
    };
    const earliest = before ?? span;
    const lines_since = removedFrom(reader, {
      ...sumsOf(request, { ...span, from: earliest.from }, groups, true),
    });
    if (groups.length === 0) return { total, series: [], other: undefined, lines_since };
    const whole = sumsOf(request, span, groups, false);
    const { names: shown, count: all } = await rankUsage(reader, whole, request.rank, top);
    const now = await pointsOf(reader, request, span, shown);
    const earlier = before && (await pointsOf(reader, request, before, shown));
    const series = shown.map((names, at) => ({
      names,
      now: now[at] ?? emptyPoints(span),
      before: before && (earlier?.[at] ?? emptyPoints(before)),
    }));
    const rest = {
      names: [],
      now: without(total.now, now),
      before: total.before && without(total.before, earlier ?? []),
    };
    const count = all - shown.length;
    // Groups that only the span before has are part of its rest.
    const isShown = count > 0 || (rest.before !== undefined && rest.before.sum.requests > 0);
    return { total, series, other: isShown ? { ...rest, count } : undefined, lines_since };
  });
}

function sumsOf(
  { filters, as_of, counters, took }: ExplorationRequest,
  { from, until, starts }: Span,
  groups: readonly Group[],
  in_buckets: boolean,
): SumsRequest {
  return {
    ...{ filters: { ...filters, from, until }, as_of, groups, counters, took },
    starts: in_buckets ? starts : undefined,
  };
}

async function totalOf(reader: Reader, request: ExplorationRequest, span: Span): Promise<Points> {
  const rows = await readUsage(reader, sumsOf(request, span, [], true));
  return pointsFrom(rows, span);
}

/** Returns the sums of the named series, in the order of the names. */
async function pointsOf(
  reader: Reader,
  request: ExplorationRequest,
  span: Span,
  shown: readonly (readonly string[])[],
): Promise<Points[]> {
  const { groups } = request;
  if (shown.length === 0) return [];
  const sums = sumsOf(request, span, groups, true);
  const rows = await readUsage(reader, { ...sums, among: shown });
  const found = new Map<string, SumsRow[]>(shown.map((names) => [JSON.stringify(names), []]));
  for (const row of rows) found.get(JSON.stringify(namesOf(groups, row)))?.push(row);
  return [...found.values()].map((each) => pointsFrom(each, span));
}

function namesOf(groups: readonly Group[], row: SumsRow): string[] {
  return groups.map((group) => row[group] ?? '');
}

function pointsFrom(rows: readonly SumsRow[], { starts }: Span): Points {
  const by_bucket = new Map(rows.map(({ bucket, counts }) => [bucket, counts]));
  const buckets = starts.map((_, at) => by_bucket.get(at) ?? noCounts());
  return { sum: rows.reduce((sum, { counts }) => addCounts(sum, counts), noCounts()), buckets };
}

function emptyPoints(span: Span): Points {
  return pointsFrom([], span);
}

/** Returns `all` without its parts. */
function without(all: Points, parts: readonly Points[]): Points {
  return parts.reduce(
    (rest, part) => ({
      sum: addCounts(rest.sum, part.sum, -1),
      buckets: rest.buckets.map((counts, at) =>
        addCounts(counts, part.buckets[at] ?? noCounts(), -1),
      ),
    }),
    all,
  );
}
