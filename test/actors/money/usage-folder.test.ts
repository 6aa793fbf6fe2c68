import { expect, test } from 'bun:test';
import { pauseAfter } from '../../../src/actors/money/usage-folder.ts';

test('the pause is shorter if folds take long, so that sums lag by less than a second', () => {
  expect(pauseAfter(5)).toBe(750);
  expect(pauseAfter(100)).toBe(700);
  expect(pauseAfter(250)).toBe(400);
  for (let took_ms = 0; took_ms <= 300; took_ms += 1) {
    expect(pauseAfter(took_ms) + 2 * took_ms).toBeLessThanOrEqual(900);
  }
});

test('folds take at most half of the time, unless they take longer than the longest pause', () => {
  for (let took_ms = 0; took_ms <= 750; took_ms += 1) {
    expect(pauseAfter(took_ms)).toBeGreaterThanOrEqual(took_ms);
  }
  expect(pauseAfter(5_000)).toBe(750);
});
