/** What the addresses of the pages of usage mean. */
import { describe, expect, test } from 'bun:test';
import {
  filtersOf,
  instantsOf,
  sharedSearch,
  usageSearchOf,
} from '../../web/pages/usage/search.ts';

describe('an address', () => {
  test('names filters by the names of the API, and leaves out what it does not know', () => {
    const search = usageSearchOf({ user: 42, scene: 'chat', range: '7d', tab: 'x', outcome: null });
    expect(search).toEqual({ user: '42', scene: 'chat', range: '7d' });
    expect(filtersOf(search)).toMatchObject({ user: '42', scene: 'chat' });
    expect(usageSearchOf({ range: 'toString' })).toEqual({});
  });

  test('goes along to the other tab without the filters that only the list has', () => {
    expect(sharedSearch({ outcome: 'failed', fault: 'provider', errorCode: 'x' })).toEqual({
      outcome: 'failed',
    });
  });
});

describe('a range', () => {
  const now = new Date(2030, 4, 15, 10, 20, 30).getTime();
  const at = (...parts: [number, number, number, number?, number?]) =>
    new Date(...parts).toISOString();

  test('begins with a whole quarter, hour, day or month of the reader', () => {
    const start = (range: NonNullable<Parameters<typeof instantsOf>[0]['range']>) =>
      instantsOf({ range }, now).startDate;
    expect(start('1h')).toBe(at(2030, 4, 15, 9, 30));
    expect(start('24h')).toBe(at(2030, 4, 14, 11, 0));
    expect(start('7d')).toBe(at(2030, 4, 9));
    expect(start('month')).toBe(at(2030, 4, 1));
    expect(start('12m')).toBe(at(2029, 5, 1));
  });

  test('of last month ends before this one begins, because the last instant counts', () => {
    const { startDate, endDate } = instantsOf({ range: 'last_month' }, now);
    expect(startDate).toBe(at(2030, 3, 1));
    expect(Date.parse(endDate ?? '')).toBe(new Date(2030, 4, 1).getTime() - 1);
  });

  test('ends with the state that the page holds', () => {
    const as_of = `${new Date(2029, 0, 2, 3).toISOString()}~7~`;
    expect(instantsOf({ range: 'today', as_of }, now).startDate).toBe(at(2029, 0, 2));
  });

  test('of own instants counts as it is', () => {
    const own = { startDate: '2030-01-01T00:00:00Z', range: '7d' } as const;
    expect(instantsOf(own, now)).toEqual({ startDate: own.startDate, endDate: undefined });
  });
});
