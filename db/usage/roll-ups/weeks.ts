/**
 * Weeks of sums, in UTC. They begin with a Monday. Days count from the Unix epoch, which was a Thursday, and
 * week 0 is the one that it is in.
 */
const DAYS_A_WEEK = 7;
const MONDAY_TO_EPOCH = 3;

/** The week of a day, as an SQL expression. */
export const weekOf = (day: string) =>
  `floor((${day} + ${MONDAY_TO_EPOCH}) / ${DAYS_A_WEEK}.0)::int4`;

/** Returns the first day of a week. */
export function firstDayOf(week: number): number {
  return week * DAYS_A_WEEK - MONDAY_TO_EPOCH;
}

/** Returns the whole weeks between two days, without the last day; undefined if there are none. */
export function wholeWeeks(days: {
  readonly from: number;
  readonly until: number;
}): { readonly from: number; readonly until: number } | undefined {
  const from = Math.ceil((days.from + MONDAY_TO_EPOCH) / DAYS_A_WEEK);
  const until = Math.floor((days.until + MONDAY_TO_EPOCH) / DAYS_A_WEEK);
  return from < until ? { from, until } : undefined;
}
