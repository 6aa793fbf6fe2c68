import { expect, test } from 'bun:test';
import { pauseAfter } from '../../../src/actors/money/usage-folder.ts';

test('the pause is shorter if folds take long, so that sums lag by less than a second', () => {
  expect(pauseAfter(5)).toBe(500);
  expect(pauseAfter(100)).toBe(500);
  expect(pauseAfter(200)).toBe(300);
  expect(pauseAfter(300)).toBe(100);
  // The database has some time for calls, however long a fold takes.
  expect(pauseAfter(5_000)).toBe(100);
  for (let took_ms = 0; took_ms <= 300; took_ms += 1) {
    expect(pauseAfter(took_ms) + 2 * took_ms).toBeLessThanOrEqual(700);
  }
});
