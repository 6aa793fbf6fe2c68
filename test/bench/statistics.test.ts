import { describe, expect, test } from 'bun:test';
import { loss, median, medianInterval } from '../../bench/statistics.ts';
import { fc } from '../support/property.ts';

/** Without -0: `toEqual` says that it differs from 0, which sorts beside it in any order. */
const numbers = fc.array(
  fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => value + 0),
  { minLength: 1 },
);

describe('the median', () => {
  test.each([
    [[3], 3],
    [[3, 1], 2],
    [[5, 1, 3], 3],
    [[4, 1, 3, 2], 2.5],
    [[10, 9, 2, 100, 1], 9],
  ])('of %p is %p', (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  test('of an empty list is NaN', () => {
    expect(median([])).toBeNaN();
  });

  test('has as many values below as above, and leaves the values as they were', () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const before = [...values];
        const middle = median(values);
        expect(values).toEqual(before);
        expect(values.filter((each) => each < middle).length * 2).toBeLessThanOrEqual(
          values.length,
        );
        expect(values.filter((each) => each > middle).length * 2).toBeLessThanOrEqual(
          values.length,
        );
      }),
    );
  });
});

describe('the interval of the median', () => {
  const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

  // The number of values, the lower and the upper position in sorted order, and the coverage.
  // Source: published tables of the binomial distribution with probability 1/2.
  test.each([
    [4, 1, 4, 0.875],
    [5, 1, 5, 0.9375],
    [6, 1, 6, 0.96875],
    [8, 1, 8, 0.9921875],
    [9, 2, 8, 0.9609375],
    [10, 2, 9, 0.978515625],
    [12, 3, 10, 0.96142578125],
    [20, 6, 15, 0.95861053466796875],
  ])(
    'of %p sorted values reaches from value %p to value %p, coverage %p',
    (count, low, high, coverage) => {
      expect(medianInterval(upTo(count))).toEqual({ low, high, coverage });
    },
  );

  test('of one value is that value, with a coverage of 0', () => {
    expect(medianInterval([7])).toEqual({ low: 7, high: 7, coverage: 0 });
  });

  test('contains the median, whatever the order of the values', () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const { low, high } = medianInterval(values);
        expect(low).toBeLessThanOrEqual(median(values));
        expect(high).toBeGreaterThanOrEqual(median(values));
        expect(medianInterval(values.toReversed())).toEqual(medianInterval(values));
      }),
    );
  });

  test('covers a true median of 0 exactly as often as it claims', () => {
    for (const count of [1, 4, 6, 9, 11]) {
      let covered = 0;
      for (let signs = 0; signs < 2 ** count; signs += 1) {
        // Each value is above or below 0 with the same probability.
        const values = upTo(count).map((each, at) => (signs & (1 << at) ? each : -each));
        const { low, high } = medianInterval(values);
        if (low <= 0 && 0 <= high) covered += 1;
      }
      expect(covered / 2 ** count).toBe(medianInterval(upTo(count)).coverage);
    }
  });

  test('has at least the requested coverage if there are enough values', () => {
    for (let count = 6; count <= 60; count += 1) {
      expect(medianInterval(upTo(count)).coverage).toBeGreaterThanOrEqual(0.95);
    }
    expect(medianInterval(upTo(10), 0.85)).toEqual({ low: 3, high: 8, coverage: 0.890625 });
  });
});

describe('the loss', () => {
  test.each([
    [100, 98, 0.02],
    [100, 100, 0],
    [100, 125, -0.25],
  ])('from %p to %p is %p', (before, after, expected) => {
    expect(loss(before, after)).toBeCloseTo(expected, 12);
  });
});
