/** Work that is asked for often, and runs seldom. */
import { afterEach, expect, jest, test } from 'bun:test';
import { Collected } from '../../web/live/collected.ts';

afterEach(() => {
  jest.useRealTimers();
});

test('many requests run the work once, soon after the first, and not again before its time', () => {
  jest.useFakeTimers();
  let runs = 0;
  const collected = new Collected(() => {
    runs += 1;
  }, 5_000);
  for (let at = 0; at < 100; at += 10) {
    collected.request();
    jest.advanceTimersByTime(10);
  }
  expect(runs).toBe(0);
  jest.advanceTimersByTime(100);
  expect(runs).toBe(1);
  for (let at = 0; at < 4_900; at += 100) {
    collected.request();
    jest.advanceTimersByTime(100);
  }
  expect(runs).toBe(1);
  jest.advanceTimersByTime(200);
  expect(runs).toBe(2);
});

test('work that was asked for does not run after the stop', () => {
  jest.useFakeTimers();
  let runs = 0;
  const collected = new Collected(() => {
    runs += 1;
  }, 1_000);
  collected.request();
  collected.stop();
  jest.advanceTimersByTime(10_000);
  expect(runs).toBe(0);
});
