/** What the explorer asks for, and what its rows and plots show. */
import { describe, expect, test } from 'bun:test';
import { changeOf, figuresOf, runningSums } from '../../web/pages/usage/explore/figures.ts';
import {
  bucketOf,
  exploreQuery,
  exploreSearchOf,
  needsUtc,
  requestsBehind,
} from '../../web/pages/usage/explore/search.ts';
import { wholeBuckets } from '../../web/pages/usage/explore/zoom.ts';

const NOW = Date.parse('2030-05-15T12:00:00Z');

describe('an address of the explorer', () => {
  test('keeps what the explorer knows', () => {
    const search = { metric: 'requests', group: 'none', bucket: 'week', top: 20, compare: true };
    expect(exploreSearchOf(search)).toEqual({
      metric: 'requests',
      group: 'none',
      top: '20',
      compare: true,
    });
  });

  test('has no second group without a first one, and none that is the same', () => {
    expect(exploreSearchOf({ group: 'none', subgroup: 'scene' })).toEqual({ group: 'none' });
    expect(exploreSearchOf({ subgroup: 'logical_model' })).toEqual({});
    expect(exploreSearchOf({ subgroup: 'scene' })).toEqual({ subgroup: 'scene' });
  });

  test('without steps takes those that suit the range', () => {
    expect(bucketOf({ range: '1h' }, NOW)).toBe('15min');
    expect(bucketOf({ range: '24h' }, NOW)).toBe('hour');
    expect(bucketOf({}, NOW)).toBe('day');
    expect(bucketOf({ range: '12m' }, NOW)).toBe('month');
  });

  test('asks for days of UTC where only these are kept', () => {
    expect(needsUtc({ group: 'api_key_id', subgroup: 'scene' }, NOW)).toBe(true);
    expect(needsUtc({ group: 'api_key_id', subgroup: 'scene', range: '24h' }, NOW)).toBe(false);
    expect(needsUtc({ group: 'api_key_id' }, NOW)).toBe(false);
    const query = exploreQuery({ group: 'api_key_id', logicalModel: 'x', range: '7d' }, NOW);
    expect(query).toMatchObject({ timeZone: 'UTC', bucket: 'day' });
  });
});

test('a row leads to exactly its requests, as of the same instant', () => {
  const answer = {
    from: '2030-05-01T00:00:00.000Z',
    until: '2030-05-15T12:00:00.001Z',
    as_of: '2030-05-15T12:00:00.000Z~9~',
  };
  const search = { group: 'api_key_id', scene: 'chat', range: '7d' } as const;
  expect(requestsBehind(search, answer, { group: 'key_1', subgroup: null })).toEqual({
    api_key_id: 'key_1',
    scene: 'chat',
    running: 'false',
    startDate: answer.from,
    endDate: '2030-05-15T12:00:00.000Z',
    as_of: answer.as_of,
  });
  expect(requestsBehind({}, answer, { group: null, subgroup: null }).logicalModel).toBe('none');
});

test('a drag over the plot chooses whole buckets', () => {
  const hour = (at: number) => new Date(NOW + at * 3_600_000).toISOString();
  const span = { buckets: [hour(0), hour(1), hour(2)], until: hour(2.5) };
  const chosen = wholeBuckets(span, NOW + 3_700_000, NOW + 4_000_000);
  expect(chosen).toEqual([hour(1), new Date(NOW + 2 * 3_600_000 - 1).toISOString()]);
  expect(wholeBuckets(span, NOW - 1, NOW + 9e9)[1]).toBe(
    new Date(Date.parse(span.until) - 1).toISOString(),
  );
});

describe('figures', () => {
  test('of success are those of errors, turned round; unknown stays unknown', () => {
    const { of } = figuresOf('error_rate');
    expect([of(0.25), of(null)]).toEqual([0.75, null]);
  });

  test('are summed without rounding', () => {
    expect(runningSums([0.1, 0.2, null, 1])).toEqual([0.1, 0.3, null, null]);
  });

  test('have no change from nothing', () => {
    expect([changeOf(3, 2), changeOf(1, 2), changeOf(1, 0), changeOf(null, 1)]).toEqual([
      '+50 %',
      '−50 %',
      undefined,
      undefined,
    ]);
  });
});
