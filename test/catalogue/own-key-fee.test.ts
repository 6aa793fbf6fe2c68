import { describe, expect, test } from 'bun:test';
import {
  chargeWith,
  feeOf,
  feeToReserve,
  listPriceFor,
  WHOLE_PPM,
} from '../../src/catalogue/own-key-fee.ts';
import { fc } from '../support/property.ts';

const amount = fc.nat({ max: Number.MAX_SAFE_INTEGER - 1 });
const ppm = fc.nat({ max: WHOLE_PPM });

describe('the fee of a call on an own key', () => {
  test('P1: is the exact part of every list price, rounded up', () => {
    fc.assert(
      fc.property(amount, ppm, (list, fee_ppm) => {
        const whole = BigInt(WHOLE_PPM);
        const exact = (BigInt(list) * BigInt(fee_ppm) + whole - 1n) / whole;
        expect(BigInt(feeOf(list, fee_ppm))).toBe(exact);
      }),
    );
  });

  test('is nothing without a fee, and the list price at most', () => {
    fc.assert(
      fc.property(amount, ppm, (list, fee_ppm) => {
        expect(feeOf(list, 0)).toBe(0);
        expect(feeOf(list, WHOLE_PPM)).toBe(list);
        expect(feeOf(list, fee_ppm)).toBeLessThanOrEqual(list);
      }),
    );
  });

  test('P17: what is reserved covers the fee of every lower price', () => {
    fc.assert(
      fc.property(amount, amount, ppm, (one, other, fee_ppm) => {
        const [list, highest] = [Math.min(one, other), Math.max(one, other)];
        const reserved = feeToReserve(highest, fee_ppm);
        expect(feeOf(list, fee_ppm)).toBeLessThanOrEqual(reserved);
        expect(reserved).toBeGreaterThan(0);
      }),
    );
  });

  test('an amount covers list prices up to one, and no higher one', () => {
    const fee = fc.nat({ max: 10 ** 12 });
    fc.assert(
      fc.property(fee, fc.integer({ min: 1, max: WHOLE_PPM }), (held, fee_ppm) => {
        const highest = listPriceFor(held, fee_ppm);
        if (highest >= Number.MAX_SAFE_INTEGER) return;
        expect(feeOf(highest, fee_ppm)).toBeLessThanOrEqual(held);
        expect(feeOf(highest + 1, fee_ppm)).toBeGreaterThan(held);
      }),
    );
    expect(listPriceFor(0, 0)).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('the platform’s channels cost the list price, and no line repeats it', () => {
    const platform = { access_channel: 'platform' } as const;
    for (const cap_counts of ['charged', 'list'] as const) {
      const charge = { access: platform, amount: 7, counted: 7 };
      expect(chargeWith(undefined, 7, cap_counts)).toEqual(charge);
    }
    const access = { access_channel: 'byok', list_nano_usd: 7 } as const;
    expect(chargeWith(WHOLE_PPM / 2, 7)).toEqual({ access, amount: 4, counted: 4 });
    expect(chargeWith(WHOLE_PPM / 2, 7, 'list')).toEqual({ access, amount: 4, counted: 7 });
    expect(chargeWith(0, 7, 'list')).toEqual({ access, amount: 0, counted: 7 });
  });
});
