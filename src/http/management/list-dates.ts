import { WeirError } from '../../errors/weir-error.ts';
import { parseRfc3339 } from './rfc3339.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 24 * 60 * 60 * 1_000;
/** PostgreSQL does not read a year with five digits, as JavaScript writes it. */
const FIRST_LONG_YEAR_MS = Date.parse('+010000-01-01T00:00:00Z');

/** A time range: from `since`, inclusive, to `before`, exclusive. */
export interface DateRange {
  readonly since?: Date | undefined;
  readonly before?: Date | undefined;
}

/**
 * Reads `startDate` and `endDate`. Both are inclusive (spec: Management interface). A date without a
 * time is the whole day in UTC. A time counts to the millisecond, because answers show times so.
 * Throws WeirError that names the wrong parameter.
 */
export function readDateRange(query: {
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
}): DateRange {
  const since = query.startDate === undefined ? undefined : readDate('startDate', query.startDate);
  const last = query.endDate === undefined ? undefined : readDate('endDate', query.endDate);
  if (since && last && since.start > last.start) {
    throw new WeirError('invalid_request', 'startDate must not be after endDate.', {
      param: 'startDate',
    });
  }
  const isBounded = last && last.end < FIRST_LONG_YEAR_MS;
  return {
    since: since && new Date(since.start),
    before: isBounded ? new Date(last.end) : undefined,
  };
}

/** Returns the first millisecond of a date or time, and the first one after it. */
function readDate(param: string, text: string): { start: number; end: number } {
  const isDay = DAY.test(text);
  const start = parseRfc3339(isDay ? `${text}T00:00:00Z` : text)?.getTime();
  if (start !== undefined) return { start, end: start + (isDay ? DAY_MS : 1) };
  throw new WeirError(
    'invalid_request',
    `${param} must be a date, or an RFC 3339 datetime with a time zone.`,
    { param, hint: 'For example 2030-01-31 or 2030-01-31T12:00:00Z.' },
  );
}
