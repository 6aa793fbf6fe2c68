import { describe, expect, test } from 'bun:test';
import { type BudgetPeriod, nextWindowStart, windowStart } from '../../../db/budgets/calendar.ts';
import { fc } from '../../support/property.ts';

const PERIODS: readonly BudgetPeriod[] = ['day', 'week', 'month'];
const DAY_MS = 86_400_000;
const dayOf = (number: number) => new Date(number * DAY_MS).toISOString().slice(0, 10);
/** Days from 1970 to 2100. */
const days = fc.integer({ min: 0, max: 47_480 });

describe('a window of a budget', () => {
  test('has each day exactly once, and windows follow each other without a gap', () => {
    fc.assert(
      fc.property(days, fc.constantFrom(...PERIODS), (number, period) => {
        const day = dayOf(number);
        const start = windowStart(period, day);
        const next = nextWindowStart(period, start);
        expect(start <= day && day < next).toBe(true);
        expect(windowStart(period, start)).toBe(start);
        expect(windowStart(period, next)).toBe(next);
        expect(windowStart(period, dayOf(Date.parse(next) / DAY_MS - 1))).toBe(start);
      }),
      { numRuns: 5_000 },
    );
  });

  test('a week begins on Monday, a month on its first day', () => {
    // 2026-11-27 is a Friday.
    expect(windowStart('week', '2026-11-27')).toBe('2026-11-23');
    expect(windowStart('week', '2026-11-29')).toBe('2026-11-23');
    expect(windowStart('week', '2026-11-30')).toBe('2026-11-30');
    expect(windowStart('month', '2026-11-27')).toBe('2026-11-01');
    expect(nextWindowStart('month', '2026-12-01')).toBe('2027-01-01');
    expect(nextWindowStart('month', '2028-02-01')).toBe('2028-03-01');
  });
});
