/** Counters in memory: found again by all calls of a key, and forgotten once they count nothing. */
import { expect, test } from 'bun:test';
import type { Take, Taken } from '../../../src/inference/limits/limit.ts';
import { MemoryStore } from '../../../src/inference/limits/memory-store.ts';

const MINUTE_MS = 60_000;
const MANY = 100_000;

const takeOf = (name: string, unit: Take['unit'], limit = 2): Take => ({
  ...{ name, unit, limit, model: null, is_soft: false },
});
const callOf = (takes: readonly Take[], tokens = 0) => ({ takes, tokens, call_id: 'one' });
const isTaken = (answer: object): answer is Taken => !('take' in answer);

test('two lists with the same names share their counters', () => {
  const store = new MemoryStore(
    () => 0,
    (limit) => limit,
  );
  const [one, other] = [1, 2].map(() => [
    takeOf('k:calls:', 'calls'),
    takeOf('k:tokens:', 'tokens', 100),
  ]);
  const first = store.take(callOf(one ?? [], 60));
  expect(store.take(callOf(other ?? [], 41))).toMatchObject({
    take: { unit: 'tokens' },
    amount: 41,
  });
  store.end(callOf(one ?? [], 60), first as Taken, 10);
  const second = store.take(callOf(other ?? [], 90));
  expect(isTaken(second)).toBe(true);
  expect(isTaken(store.take(callOf(one ?? [], 0)))).toBe(true);
  expect(store.take(callOf(other ?? [], 0))).toMatchObject({ take: { unit: 'calls' } });
});

test('a counter that was forgotten is made anew, and one whose call runs is not forgotten', () => {
  let now_ms = 0;
  const store = new MemoryStore(
    () => now_ms,
    (limit) => limit,
  );
  const requests = [takeOf('k:requests:', 'requests', 1)];
  const calls = [takeOf('k:calls:', 'calls', 1)];
  const running = store.take(callOf(calls)) as Taken;
  expect(isTaken(store.take(callOf(requests)))).toBe(true);
  now_ms += MINUTE_MS;
  // Many keys come, each with a counter of its own, and the counters of the first minute are forgotten.
  for (let key = 0; key <= MANY; key += 1) {
    store.take(callOf([takeOf(`${key}:requests:`, 'requests')]));
  }
  // Calls with the same list and with another one still count together.
  expect(isTaken(store.take(callOf(requests)))).toBe(true);
  expect(isTaken(store.take(callOf([takeOf('k:requests:', 'requests', 1)])))).toBe(false);
  expect(isTaken(store.take(callOf(calls)))).toBe(false);
  store.end(callOf(calls), running, 0);
  expect(isTaken(store.take(callOf(calls)))).toBe(true);
});
