/** Months and days of a bill, in UTC. */
import { expect, test } from 'bun:test';
import { daysOf, everyDayOf, isMonth, monthAfter } from '../../../../web/pages/billing/month.ts';

test('months follow each other over years', () => {
  expect(monthAfter('2026-12', 1)).toBe('2027-01');
  expect(monthAfter('2026-01', -1)).toBe('2025-12');
  expect(monthAfter('2026-11', -11)).toBe('2025-12');
  expect(['2026-11', '2026-00', '2026-13', '26-1'].map(isMonth)).toEqual([
    ...[true, false, false, false],
  ]);
});

test('a month has all its days; the current one those until today', () => {
  expect(daysOf('2028-02')).toEqual({ startDate: '2028-02-01', endDate: '2028-02-29' });
  expect(everyDayOf('2026-11', new Date('2026-11-03T23:59:59Z'))).toEqual([
    ...['2026-11-01', '2026-11-02', '2026-11-03'],
  ]);
  expect(everyDayOf('2026-10', new Date('2026-11-03T00:00:00Z'))).toHaveLength(31);
  expect(everyDayOf('2026-12', new Date('2026-11-03T00:00:00Z'))).toEqual([]);
});
