import { DIMENSIONS, type Dimension, QUARTER_S, QUARTERS_A_DAY } from './entries.ts';
import type { SumFilters, SumsRequest } from './request.ts';
import { keyScope, organizationScope, type Scope, tablesOf } from './scopes.ts';
import type { Reader } from './snapshot.ts';
import { wholeWeeks } from './weeks.ts';

/** Bounds of a span of quarters without an end. */
export const EARLIEST = -2_000_000_000;
export const LATEST = 2_000_000_000;
const QUARTER_MS = QUARTER_S * 1_000;

/** The spans that sums cover, in quarters; what is outside is read from rows. */
export interface Cover {
  readonly from: number;
  readonly until: number;
  /** The part of the span that whole days of UTC cover. */
  readonly days: Part | undefined;
  /** The part of these days that whole weeks cover. */
  readonly weeks: Part | undefined;
}

/** A part of a span, without its `until`. */
interface Part {
  readonly from: number;
  readonly until: number;
}

/** The names by which a request can choose series, beside outcomes. */
export const FILTERED = DIMENSIONS.filter((name) => name !== 'outcome');

/** The scope of the series that answer a request. */
export function scopeOf({ fold }: Pick<Reader, 'fold'>, { filters, groups }: SumsRequest): Scope {
  const { key_id, key_ids, outcomes } = filters;
  const isOfKeys = key_id !== undefined || key_ids !== undefined || groups.includes('key_id');
  const names = new Set<Dimension>(FILTERED.filter((name) => filters[name] !== undefined));
  if (outcomes !== undefined) names.add('outcome');
  for (const name of groups) if (name !== 'key_id') names.add(name);
  if (isOfKeys) return keyScope(names, fold?.has_key_models === true);
  return organizationScope(names);
}

/** Returns what the sums cover; undefined if they have nothing to say of this request. */
export function coverOf(reader: Reader, request: SumsRequest): Cover | undefined {
  const { filters, starts } = request;
  const { from, until, end_user } = filters;
  // Sums do not know end users.
  if (!reader.fold || end_user !== undefined) return undefined;
  const first = from ? Math.ceil(from.getTime() / QUARTER_MS) : EARLIEST;
  const last = until ? Math.floor(until.getTime() / QUARTER_MS) : LATEST;
  const first_day = Math.ceil(first / QUARTERS_A_DAY);
  const last_day = Math.floor(last / QUARTERS_A_DAY);
  // The first bucket may begin before `from`.
  const days =
    areDays(starts) && first_day < last_day ? { from: first_day, until: last_day } : undefined;
  const tables = tablesOf(scopeOf(reader, request));
  // A bucket may begin in the middle of a week, and weeks have no classes of durations.
  const hasWeeks = tables.week && isOneBucket(starts) && !request.took;
  const weeks = days && hasWeeks ? wholeWeeks(days) : undefined;
  if (tables.quarter) return first < last ? { from: first, until: last, days, weeks } : undefined;
  if (!days) return undefined;
  return {
    from: from ? first_day * QUARTERS_A_DAY : EARLIEST,
    until: until ? last_day * QUARTERS_A_DAY : LATEST,
    ...{ days, weeks },
  };
}

/** True if no bucket begins after the first one. */
export function isOneBucket(starts: SumsRequest['starts']): boolean {
  return starts !== 'utc_days' && (starts?.length ?? 0) < 2;
}

/** True if all buckets begin with a day of UTC, but for the first one. */
function areDays(starts: SumsRequest['starts']): boolean {
  return starts === 'utc_days' || (starts ?? []).slice(1).every((at) => at % QUARTERS_A_DAY === 0);
}

/** True if no sums answer a request, so that all rows of its time are read. */
export function readsRows(request: SumsRequest): boolean {
  const hasQuarters = tablesOf(scopeOf({ fold: undefined }, request)).quarter !== undefined;
  return request.filters.end_user !== undefined || (!hasQuarters && !areDays(request.starts));
}

/**
 * Returns from when on usage is complete, if the answer to a request lacks usage that only removed rows
 * have: that of the ends of its time that no sums cover.
 */
export function removedFrom(reader: Reader, request: SumsRequest): Date | undefined {
  const { lines_since, records_since } = reader.kept;
  const isLater = lines_since && (!records_since || lines_since > records_since);
  const since = isLater ? lines_since : records_since;
  const read = uncovered(request, coverOf(reader, request));
  return since && read.some(({ from }) => !from || from < since) ? since : undefined;
}

/** The times that no sums cover. */
export function uncovered(
  { filters: { from, until } }: SumsRequest,
  cover: Cover | undefined,
): Pick<SumFilters, 'from' | 'until'>[] {
  if (!cover) return [{ from, until }];
  const spans = [
    { from, until: cover.from === EARLIEST ? from : instantOf(cover.from) },
    { from: cover.until === LATEST ? until : instantOf(cover.until), until },
  ];
  return spans.filter((span) => span.from && span.until && span.from < span.until);
}

/** Returns the first instant of a quarter. */
function instantOf(quarter: number): Date {
  return new Date(quarter * QUARTER_MS);
}
