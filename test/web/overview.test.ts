/** The figures of the overview: what live events add, two months, and the forecast. */
import { describe, expect, test } from 'bun:test';
import { usd } from '../../src/json/usd.ts';
import { forecastOf, monthsOf } from '../../web/pages/overview/months.ts';
import { startOfLastMonth } from '../../web/pages/overview/reads.ts';
import { type Seen, sinceOf } from '../../web/pages/overview/since.ts';
import { Amount } from '../../web/parts/amount.ts';

const seen = (as_of: string, nano_usd: number, outcome = 'completed'): Seen => ({
  as_of,
  event: {
    ...{ amount: usd(nano_usd), calls: 1 },
    by_api_key: [{ api_key_id: 'key_1', outcome, calls: 1, amount: usd(nano_usd) }],
  },
});

describe('the events since a state', () => {
  test('are added exactly, and only those after it', () => {
    const events = [seen('a', 5), seen('b', 100_000_001), seen('c', 2, 'failed')];
    const since = sinceOf('a', events);
    expect(since.amount.nano).toBe(100_000_003n);
    expect(since).toMatchObject({ calls: 2, succeeded: 1, as_of: 'c' });
    expect(since.by_key.get('key_1')?.nano).toBe(100_000_003n);
  });

  test('are nothing if no event led to the state: they may be in it already', () => {
    expect(sinceOf('other', [seen('a', 5)])).toMatchObject({ calls: 0, as_of: 'other' });
  });
});

describe('the months', () => {
  const now = new Date(2030, 4, 10, 12).getTime();
  const days = (amounts: readonly number[], first: Date) => ({
    buckets: amounts.map((_, index) =>
      new Date(first.getFullYear(), first.getMonth(), first.getDate() + index).toISOString(),
    ),
    total: { values: amounts },
  });

  test('are split by the reader’s days', () => {
    const first = startOfLastMonth(now);
    const april = Array.from({ length: 30 }, () => 1);
    const may = [2, 2, 2, 2, 2, 2, 2, 2, 2, 0.5];
    const months = monthsOf(days([...april, ...may], first), now);
    expect(months.last_month.usd).toBe(30);
    expect(months.last_month_until_now.usd).toBe(10);
    expect(months.this_month.usd).toBe(18.5);
    expect(months.today.usd).toBe(0.5);
    expect(months.recent).toHaveLength(7);
  });

  test('are forecast from the last seven days, and from fewer after the first spend', () => {
    const months = (recent: number[]) => ({
      ...monthsOf(days([], new Date(now)), now),
      this_month: Amount.ofUsd(20),
      recent: recent.map((each) => Amount.ofUsd(each)),
    });
    // 2 USD a day, for the 21.5 days that are left.
    expect(forecastOf(months([2, 2, 2, 2, 2, 2, 1]), now)).toBeCloseTo(63, 6);
    expect(forecastOf(months([0, 0, 0, 0, 0, 2, 1]), now)).toBeCloseTo(63, 6);
    expect(forecastOf({ ...months([0]), this_month: Amount.zero }, now)).toBeUndefined();
  });
});
