/** The windows of budgets: days, weeks from Monday on, and months of the calendar. */

/** How long a window of a budget is. */
export type BudgetPeriod = 'day' | 'week' | 'month';

const DAY_MS = 86_400_000;
/** `Date.getUTCDay` counts from Sunday; this many days are between the Monday and a Sunday after it. */
const FROM_MONDAY = 6;

/** Returns the first day of the window that has `day`. Both are `YYYY-MM-DD`. */
export function windowStart(period: BudgetPeriod, day: string): string {
  switch (period) {
    case 'day':
      return day;
    case 'week':
      return addDays(day, -((new Date(day).getUTCDay() + FROM_MONDAY) % 7));
    case 'month':
      return `${day.slice(0, -2)}01`;
    default:
      return period satisfies never;
  }
}

/** Returns the first day of the next window. `start` is the first day of a window. */
export function nextWindowStart(period: BudgetPeriod, start: string): string {
  switch (period) {
    case 'day':
      return addDays(start, 1);
    case 'week':
      return addDays(start, 7);
    case 'month':
      // No month has 32 days, and the 32nd day from its first is in the next one.
      return windowStart('month', addDays(start, 31));
    default:
      return period satisfies never;
  }
}

function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}
