import { lazily } from '../../parts/lazily.ts';

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** The calendar month of a time in UTC, e.g. `2026-11`. Bills go by UTC. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7);

export const isMonth = (text: string): boolean => MONTH.test(text);

/** The month that is some months after another. */
export function monthAfter(month: string, months: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return monthOf(new Date(Date.UTC(year, number - 1 + months, 1)));
}

/** The first and the last day of a month, as the API takes them: both are inclusive, and days of UTC. */
export function daysOf(month: string): { readonly startDate: string; readonly endDate: string } {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const last = new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
  return { startDate: `${month}-01`, endDate: last };
}

/** Each day of a month until `until`, as `YYYY-MM-DD`. */
export function everyDayOf(month: string, until: Date): string[] {
  const { endDate } = daysOf(month);
  const last = Math.min(Number(endDate.slice(8)), lastDayBefore(month, until));
  return Array.from({ length: last }, (_, at) => `${month}-${String(at + 1).padStart(2, '0')}`);
}

function lastDayBefore(month: string, until: Date): number {
  const day = until.toISOString().slice(0, 10);
  if (day.slice(0, 7) === month) return Number(day.slice(8));
  return day.slice(0, 7) < month ? 0 : 31;
}

const names = lazily(
  () => new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'long', timeZone: 'UTC' }),
);

/** The name of a month in the reader's language, e.g. `November 2026`. */
export function nameOf(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return names().format(new Date(Date.UTC(year, number - 1, 1)));
}
