/** What the page of the cache shows of three answers about usage. */
import { describe, expect, test } from 'bun:test';
import type { UsageQuery } from '../../../../web/api/types.ts';
import { type CacheFigures, rateOf, ratesByDay, rowsOf } from '../../../../web/pages/cache/rows.ts';

/** An answer with the values of each model and day, and those of all others. */
function answer(days: Record<string, number[]>, others?: number[]): UsageQuery {
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
  const points = (values: number[]) => ({
    value: sum(values),
    values,
    requests: 1,
    previous: null,
  });
  const all = [...Object.values(days), ...(others ? [others] : [])];
  const first = all[0] ?? [];
  return {
    ...{ object: 'usage_query', metric: '', unit: '', group: 'logical_model', subgroup: null },
    ...{ bucket: 'day', time_zone: 'UTC', from: '', until: '', as_of: '', previous: null },
    buckets: first.map((_, day) => `2030-01-0${day + 1}T00:00:00.000Z`),
    total: points(first.map((_, day) => sum(all.map((values) => values[day] ?? 0)))),
    series: Object.entries(days).map(([group, values]) => ({
      group,
      subgroup: null,
      ...points(values),
    })),
    other: others ? { count: 3, ...points(others) } : null,
  };
}

const FIGURES: CacheFigures = {
  lookups: answer({ a: [4, 0], b: [6, 10] }, [2, 2]),
  hits: answer({ a: [1, 0], b: [3, 5] }, [1, 0]),
  saved: answer({ b: [0.5, 0.25], a: [1, 0] }, [0.125, 0]),
};

describe('the cache by model', () => {
  test('lists the models that saved the most first, and the others as one', () => {
    expect(rowsOf(FIGURES)).toEqual([
      { model: 'a', lookups: 4, hits: 1, saved: 1 },
      { model: 'b', lookups: 16, hits: 8, saved: 0.75 },
      { model: null, lookups: 4, hits: 1, saved: 0.125 },
    ]);
  });

  test('has no row of others, and none of a model without look-ups', () => {
    const figures = {
      lookups: answer({ a: [1], c: [0] }),
      ...{ hits: answer({ a: [1] }), saved: answer({ a: [2] }) },
    };
    expect(rowsOf(figures)).toEqual([{ model: 'a', lookups: 1, hits: 1, saved: 2 }]);
  });
});

test('a day without look-ups has no rate', () => {
  expect(ratesByDay(FIGURES)).toEqual([5 / 12, 5 / 12]);
  const none = { ...FIGURES, lookups: answer({ a: [0, 1] }), hits: answer({ a: [0, 1] }) };
  expect(ratesByDay(none)).toEqual([null, 1]);
  expect(rateOf(0, 0)).toBeNull();
});
