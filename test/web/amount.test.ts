/** Amounts of money as the pages of the dashboard show them. */
import { describe, expect, test } from 'bun:test';
import { usd } from '../../src/json/usd.ts';
import { Amount } from '../../web/parts/amount.ts';
import { fc } from '../support/property.ts';

/** Every amount below 8 million USD, which a JSON number holds to the nano-dollar. */
const nano = fc.integer({ min: -8_000_000_000_000_000, max: 8_000_000_000_000_000 });

describe('an amount', () => {
  test('of the API is the ledger’s, to the nano-dollar', () => {
    fc.assert(fc.property(nano, (value) => Amount.ofUsd(usd(value)).nano === BigInt(value)));
  });

  test('is a sum without rounding', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1_000_000_000_000 })), (values) => {
        const sum = values.reduce((total, value) => total + BigInt(value), 0n);
        expect(Amount.sum(values.map(usd)).nano).toBe(sum);
      }),
    );
  });

  test('shows every digit if asked', () => {
    fc.assert(
      fc.property(nano, (value) => {
        const digits = Amount.ofUsd(usd(value)).exact.replace(/[$,]/g, '').replace('−', '-');
        expect(Amount.ofUsd(Number(digits)).nano).toBe(BigInt(value));
      }),
    );
  });

  test.each([
    [0, '$0.00', '$0.00'],
    [1, '$0.000000001', '$0.000000001'],
    [12_345, '$0.000012', '$0.000012345'],
    [9_999_999, '$0.0100', '$0.009999999'],
    [10_000_000, '$0.01', '$0.01'],
    [1_234_567_890_000, '$1,234.57', '$1,234.56789'],
    [-5_000_000_000, '−$5.00', '−$5.00'],
  ])('%d nano-USD is %s, exactly %s', (value, short, exact) => {
    const amount = Amount.ofUsd(usd(value));
    expect([amount.short, amount.exact]).toEqual([short, exact]);
  });

  test('that is not zero never looks like zero', () => {
    fc.assert(
      fc.property(nano, (value) => value === 0 || /[1-9]/.test(Amount.ofUsd(usd(value)).short)),
    );
  });
});
