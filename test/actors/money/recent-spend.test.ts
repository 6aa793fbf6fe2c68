import { describe, expect, test } from 'bun:test';
import { RecentSpend } from '../../../src/actors/money/recent-spend.ts';

const MINUTE_MS = 60_000;

describe('the slack of a grant', () => {
  test('covers sixteen calls of the present amount', () => {
    expect(new RecentSpend().slackFor(10)).toBe(160);
  });

  test('covers twice the peak of reservations, which halves after a quiet period', () => {
    const spend = new RecentSpend();
    spend.recordReserved(500);
    spend.recordReserved(100);
    expect(spend.slackFor(1)).toBe(1_000);
    spend.sweep(MINUTE_MS, 0);
    expect(spend.slackFor(1)).toBe(500);
    spend.sweep(MINUTE_MS, 400);
    expect(spend.slackFor(1)).toBe(800);
  });

  test('covers the charges since the last sweep, then five seconds at the recent rate', () => {
    const spend = new RecentSpend();
    spend.recordCharge(30_000);
    spend.recordCharge(30_000);
    expect(spend.slackFor(0)).toBe(60_000);
    spend.sweep(1_000, 0);
    // The rate is half of 60 nano-USD a millisecond, because the period before had no charges.
    expect(spend.slackFor(0)).toBe(5_000 * 30);
    spend.sweep(1_000, 0);
    expect(spend.slackFor(0)).toBe(5_000 * 15);
  });

  test('is a whole number of nano-USD', () => {
    const spend = new RecentSpend();
    spend.recordCharge(1);
    spend.sweep(7, 0);
    expect(spend.slackFor(0)).toBe(Math.ceil((5_000 * (1 / 7)) / 2));
    expect(Number.isInteger(spend.slackFor(0))).toBe(true);
  });
});

test('a key is idle if no call was made since the last sweep', () => {
  const spend = new RecentSpend();
  expect(spend.sweep(1, 0)).toBe(false);
  spend.recordCall();
  expect(spend.sweep(1, 0)).toBe(true);
  expect(spend.sweep(1, 0)).toBe(false);
});
