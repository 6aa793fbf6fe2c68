import { Amount } from '../../parts/amount.ts';

const DAY_MS = 86_400_000;
/** The days whose spend says how it goes on. */
const RECENT_DAYS = 7;

/** The spend of this month and the last one. */
export interface Months {
  readonly today: Amount;
  readonly this_month: Amount;
  readonly last_month: Amount;
  /** The last month until the end of the day of the month that is today. */
  readonly last_month_until_now: Amount;
  /** The spend of each day of the last seven, for `forecastOf`. */
  readonly recent: readonly Amount[];
}

/** Spend by day, as the API has it. */
interface DailySpend {
  readonly buckets: readonly string[];
  readonly total: { readonly values: readonly (number | null)[] };
}

/** Returns the spend of two months from an answer by day. A day without a bucket has none yet. */
export function monthsOf({ buckets, total }: DailySpend, now_ms: number): Months {
  const now = new Date(now_ms);
  const days = buckets.map((bucket, index) => ({
    date: new Date(bucket),
    amount: Amount.ofUsd(total.values[index] ?? 0),
  }));
  const sum = (of: typeof days) => of.reduce((all, { amount }) => all.plus(amount), Amount.zero);
  const isThisMonth = ({ date }: (typeof days)[number]) =>
    date.getMonth() === now.getMonth() && date.getFullYear() === now.getFullYear();
  const before = days.filter((day) => !isThisMonth(day));
  return {
    today: sum(days.filter(({ date }) => date.toDateString() === now.toDateString())),
    this_month: sum(days.filter(isThisMonth)),
    last_month: sum(before),
    last_month_until_now: sum(before.filter(({ date }) => date.getDate() <= now.getDate())),
    recent: days.slice(-RECENT_DAYS).map(({ amount }) => amount),
  };
}

/**
 * Returns what the month will cost, USD: what it cost so far, and for the time that is left the mean of
 * the last seven days. Days before the first spend do not count. Undefined if nothing was spent.
 */
export function forecastOf({ this_month, recent }: Months, now_ms: number): number | undefined {
  const first = recent.findIndex(({ nano }) => nano > 0n);
  if (first < 0) return this_month.nano > 0n ? this_month.usd : undefined;
  const now = new Date(now_ms);
  const start_of_day = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const end_of_month = new Date(now.getFullYear(), now.getMonth() + 1, 1).getTime();
  const counted = recent.slice(first);
  // Of today, only the part that has passed counts.
  const days = counted.length - 1 + Math.max((now_ms - start_of_day) / DAY_MS, 1 / 24);
  const spent = counted.reduce((sum, amount) => sum.plus(amount), Amount.zero).usd;
  return this_month.usd + (spent / days) * ((end_of_month - now_ms) / DAY_MS);
}
