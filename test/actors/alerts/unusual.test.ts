/** Which days of spend are unusual. */
import { describe, expect, test } from 'bun:test';
import { SPEND_DAYS, unusualSpend } from '../../../src/actors/alerts/unusual.ts';
import { fc } from '../../support/property.ts';

const USD = 1_000_000_000;
/** Spend in dollars, today first, with the same dollars on all days before. */
const days = (recent: number[], usual: number) =>
  Array.from({ length: SPEND_DAYS }, (_, ago) => (recent[ago] ?? usual) * USD);
const found = (recent: number[], usual: number, factor = 3) =>
  unusualSpend(days(recent, usual), factor).map(
    ({ direction, days_ago }) => `${direction} ${days_ago} days ago`,
  );

describe('the spend of a day', () => {
  test.each<[name: string, recent: number[], usual: number, expected: string[]]>([
    ['is as usual', [10, 10], 10, []],
    ['is more than three times the usual', [31, 10], 10, ['high 0 days ago']],
    ['is exactly three times the usual', [30, 10], 10, []],
    ['of today is low so far', [0, 10], 10, []],
    ['of yesterday was low', [0, 3], 10, ['low 1 days ago']],
    ['of yesterday was high', [10, 40], 10, ['high 1 days ago']],
    ['is high as it was yesterday', [40, 40], 10, ['high 1 days ago']],
    ['is high as it was for two days', [40, 40, 40], 10, []],
    ['differs by less than a dollar', [0.9, 0.1], 0.1, []],
    ['is the first', [40, 0], 0, []],
  ])('%s', (_, recent, usual, expected) => {
    expect(found(recent, usual)).toEqual(expected);
  });

  test('of a few days is not usual yet', () => {
    const few = [100, 10, 10, 10, 10, 10, 10].map((usd) => usd * USD);
    const spend = [...few, ...Array.from({ length: SPEND_DAYS - few.length }, () => 0)];
    expect(unusualSpend(spend, 3)).toEqual([]);
    spend[few.length] = 10 * USD;
    expect(unusualSpend(spend, 3)).toMatchObject([{ direction: 'high', days_ago: 0 }]);
  });

  test('is never unusual in both directions, and a larger factor finds no more', () => {
    const spend = fc.array(fc.nat(200), { minLength: SPEND_DAYS, maxLength: SPEND_DAYS });
    const factor = fc.double({ min: 1.5, max: 50, noNaN: true });
    fc.assert(
      fc.property(spend, factor, factor, (usd, a, b) => {
        const nano_usd = usd.map((each) => each * USD);
        const name = ({ direction, days_ago }: { direction: string; days_ago: number }) =>
          `${direction} ${days_ago}`;
        const names = unusualSpend(nano_usd, Math.min(a, b)).map(name);
        expect(new Set(names).size).toBe(names.length);
        expect(names.includes('high 1') && names.includes('low 1')).toBe(false);
        for (const { direction, nano_usd: spent, usual_nano_usd } of unusualSpend(nano_usd, a)) {
          if (direction === 'high') expect(spent).toBeGreaterThan(usual_nano_usd * a);
          else expect(spent).toBeLessThan(usual_nano_usd / a);
        }
      }),
    );
  });
});
