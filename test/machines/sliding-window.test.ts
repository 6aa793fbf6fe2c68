import { expect, test } from 'bun:test';
import {
  add,
  correct,
  newWindow,
  type SlidingWindow,
  slotOf,
  waitFor,
} from '../../src/machines/sliding-window.ts';
import { fc } from '../support/property.ts';

const MINUTE_MS = 60_000;
const step = fc.record({
  wait_ms: fc.oneof(fc.nat(500), fc.nat(90_000), fc.constantFrom(0, 1, 999, 1_000, 59_999, 60_000)),
  amount: fc.integer({ min: 0, max: 12 }),
  used: fc.integer({ min: 0, max: 12 }),
});

/** Takes an amount if it may be taken now. Returns the time to wait, ms; 0 = it is taken. */
function take(window: SlidingWindow, of: { amount: number; limit: number; now_ms: number }) {
  const wait_ms = waitFor(window, of);
  if (wait_ms === 0) add(window, of.amount, of.now_ms);
  return wait_ms;
}

test('no 60 s have more than the limit, and what is refused fits after the wait that was told', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.nat(40_000), (steps, begin_ms) => {
      const limit = 10;
      const window = newWindow();
      const taken: { at: number; amount: number }[] = [];
      let now_ms = begin_ms;
      for (const { wait_ms, amount, used } of steps) {
        now_ms += wait_ms;
        let told = take(window, { amount, limit, now_ms });
        if (amount > limit) {
          expect(told).toBe(Number.POSITIVE_INFINITY);
          continue;
        }
        if (told > 0) {
          expect(told).toBeLessThanOrEqual(MINUTE_MS);
          now_ms += told;
          told = take(window, { amount, limit, now_ms });
          expect(told).toBe(0);
        }
        const kept = Math.min(used, amount);
        correct(window, slotOf(now_ms), kept - amount);
        taken.push({ at: now_ms, amount: kept });
        for (const { at } of taken) {
          const inside = taken.filter((one) => one.at >= at && one.at < at + MINUTE_MS);
          expect(inside.reduce((sum, one) => sum + one.amount, 0)).toBeLessThanOrEqual(limit);
        }
        const sums = [...window.slots.values()].map((slot) => slot.taken);
        expect(sums.length).toBeLessThanOrEqual(62);
        expect(window.sum).toBe(sums.reduce((sum, each) => sum + each, 0));
        // What was given back counts no more.
        const counted = taken.filter(({ at }) => window.slots.has(slotOf(at)));
        expect(window.sum).toBe(counted.reduce((sum, one) => sum + one.amount, 0));
      }
    }),
    { numRuns: 500 },
  );
});

test('what is given back can be taken at once', () => {
  const window = newWindow();
  expect(take(window, { amount: 10, limit: 10, now_ms: 500 })).toBe(0);
  correct(window, slotOf(500), -4);
  expect(take(window, { amount: 5, limit: 10, now_ms: 500 })).toBeGreaterThan(0);
  expect(take(window, { amount: 4, limit: 10, now_ms: 500 })).toBe(0);
});

test('an amount of a slot that counts no more is not corrected', () => {
  const window = newWindow();
  expect(take(window, { amount: 10, limit: 10, now_ms: 500 })).toBe(0);
  expect(take(window, { amount: 10, limit: 10, now_ms: 60_499 })).toBe(1);
  expect(take(window, { amount: 10, limit: 10, now_ms: 60_500 })).toBe(0);
  correct(window, slotOf(500), -10);
  expect(take(window, { amount: 1, limit: 10, now_ms: 60_500 })).toBeGreaterThan(0);
});

test('a clock that is set back makes no window lose what was taken', () => {
  const window = newWindow();
  expect(take(window, { amount: 6, limit: 10, now_ms: 90_000 })).toBe(0);
  expect(take(window, { amount: 4, limit: 10, now_ms: 80_000 })).toBe(0);
  // The older amount counts as long as the first one, and no longer.
  expect(take(window, { amount: 4, limit: 10, now_ms: 141_000 })).toBe(9_000);
  expect(take(window, { amount: 10, limit: 10, now_ms: 150_000 })).toBe(0);
  expect(window.slots.size).toBe(1);
});
