/** The scripts of Redis take and give back exactly what the pure machine does, at any times. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { Redis } from 'ioredis';
import { END_SCRIPT, TAKE_SCRIPT } from '../../../src/inference/limits/redis-script.ts';
import { add, correct, newWindow, slotOf, waitFor } from '../../../src/machines/sliding-window.ts';
import { fc } from '../../support/property.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';

setDefaultTimeout(60_000);

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startTestRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

/** The script with a clock that the test sets. */
const CLOCK = 'clock';
const TIMED_SCRIPT = TAKE_SCRIPT.replace(
  "redis.call('TIME')",
  `{redis.call('HGET', '${CLOCK}', 's'), redis.call('HGET', '${CLOCK}', 'us')}`,
);
const LIMIT = 12;
const LEASE_MS = 30_000;

type Step =
  | { kind: 'take'; after_ms: number; amount: number }
  | { kind: 'correct'; which: number; change: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      after_ms: fc.oneof(
        fc.nat(1_500),
        fc.nat(25_000),
        fc.constantFrom(59_999, 60_000, 61_000, 200_000),
      ),
      amount: fc.integer({ min: 1, max: LIMIT + 1 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('correct' as const),
      which: fc.nat(),
      change: fc.integer({ min: -LIMIT, max: 3 }),
    }),
  },
);

test('a counter of Redis is the sliding window', async () => {
  expect(TIMED_SCRIPT).not.toBe(TAKE_SCRIPT);
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 40 }),
      fc.boolean(),
      async (steps, is_soft) => {
        const key = `counter:${crypto.randomUUID()}`;
        const window = newWindow();
        const taken: number[] = [];
        let now_ms = 1_764_000_000_000;
        for (const each of steps) {
          if (each.kind === 'correct') {
            const slot = taken[each.which % Math.max(1, taken.length)];
            if (slot === undefined) continue;
            correct(window, slot, each.change);
            await redis.eval(END_SCRIPT, 1, key, 'call', slot, each.change, 'tokens');
            continue;
          }
          now_ms += each.after_ms;
          await redis.hset(CLOCK, { s: Math.floor(now_ms / 1_000), us: (now_ms % 1_000) * 1_000 });
          const { amount } = each;
          const args = ['call', LEASE_MS, 'tokens', LIMIT, amount, is_soft ? 1 : 0];
          const answer = (await redis.eval(TIMED_SCRIPT, 1, key, ...args)) as number[];
          const expected = waitFor(window, { amount, limit: LIMIT, now_ms });
          const isTaken = is_soft || expected === 0;
          if (isTaken) add(window, amount, now_ms);
          if (isTaken) taken.push(slotOf(now_ms));
          const wait = (is_soft ? answer[4] : answer[1]) ?? 0;
          expect({ each, now_ms, wait: wait < 0 ? Number.POSITIVE_INFINITY : wait }).toEqual({
            each,
            now_ms,
            wait: expected,
          });
          expect(answer[0] === 0).toBe(isTaken);
        }
        // What a refused call leaves behind ends too.
        expect(await redis.pttl(key)).not.toBe(-1);
        await redis.del(key);
      },
    ),
    { numRuns: 300 },
  );
});
