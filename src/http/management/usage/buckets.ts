import { QUARTER_S } from '../../../../db/usage/roll-ups/entries.ts';

/** The lengths of buckets. `none`: the whole span is one bucket. */
export const BUCKETS = ['15min', 'hour', 'day', 'month', 'none'] as const;
export type Bucket = (typeof BUCKETS)[number];

const QUARTER_MS = 1_000 * QUARTER_S;
const HOUR_MS = 4 * QUARTER_MS;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** True if a text names a time zone of IANA. An offset such as `+05:45` has no rules, so it is none. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    zonedAt(0, text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the first instant of a date in a time zone, and of the next date; undefined if the text is
 * no date. A midnight that the zone skips is the first instant after it.
 */
export function dayIn(text: string, zone: string): { start: number; end: number } | undefined {
  if (!DAY.test(text)) return undefined;
  try {
    const date = Temporal.PlainDate.from(text, { overflow: 'reject' });
    const startOf = (day: Temporal.PlainDate) => day.toZonedDateTime(zone).epochMilliseconds;
    return { start: startOf(date), end: startOf(date.add({ days: 1 })) };
  } catch {
    return undefined;
  }
}

/** Returns the first instant of the date in a time zone that is some days before that of an instant. */
export function daysBefore(instant_ms: number, days: number, zone: string): number {
  const date = zonedAt(instant_ms, zone).toPlainDate().subtract({ days });
  return date.toZonedDateTime(zone).epochMilliseconds;
}

/**
 * Returns the first quarters of the buckets from `from` to `until`; undefined if there are more than
 * `max`. The first bucket begins at `from`. Others begin where a clock in the zone shows a full
 * quarter, hour, day or month. In all zones these are bounds of 15 minutes.
 */
export function bucketStarts(
  { from, until }: { readonly from: number; readonly until: number },
  bucket: Bucket,
  zone: string,
  max: number,
): number[] | undefined {
  const starts = [Math.floor(from / QUARTER_MS)];
  if (bucket === 'none') return starts;
  for (let at = nextStart(from, bucket, zone); at < until; at = nextStart(at, bucket, zone)) {
    if (starts.length >= max) return undefined;
    starts.push(Math.floor(at / QUARTER_MS));
  }
  return starts;
}

/** Returns the first instant of the bucket after that of an instant. */
function nextStart(instant_ms: number, bucket: Exclude<Bucket, 'none'>, zone: string): number {
  if (bucket === '15min') return (Math.floor(instant_ms / QUARTER_MS) + 1) * QUARTER_MS;
  const local = zonedAt(instant_ms, zone);
  if (bucket === 'hour') {
    const into_ms = (local.minute * 60 + local.second) * 1_000 + local.millisecond;
    return instant_ms + HOUR_MS - into_ms;
  }
  const date = local.toPlainDate();
  const next = bucket === 'day' ? date.add({ days: 1 }) : date.with({ day: 1 }).add({ months: 1 });
  const start_ms = next.toZonedDateTime(zone).epochMilliseconds;
  // A zone that crosses the date line skips a date.
  return start_ms > instant_ms ? start_ms : nextStart(instant_ms + HOUR_MS, bucket, zone);
}

/**
 * Returns the first instant of the span before: whole months before whole months, as many days
 * before whole days, and otherwise the same length. That span ends at `from`.
 */
export function startOfBefore(
  { from, until }: { readonly from: number; readonly until: number },
  zone: string,
): number {
  const [first, last] = [zonedAt(from, zone), zonedAt(until, zone)];
  const areDays = [first, last].every((at) => at.startOfDay().equals(at));
  if (!areDays) return from - (until - from);
  const [since, before] = [first.toPlainDate(), last.toPlainDate()];
  const { months, days } = since.until(before, { largestUnit: 'months' });
  const areMonths = since.day === 1 && days === 0;
  const earlier = areMonths
    ? since.subtract({ months })
    : since.subtract({ days: since.until(before).days });
  return earlier.toZonedDateTime(zone).epochMilliseconds;
}

function zonedAt(instant_ms: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant_ms).toZonedDateTimeISO(zone);
}
