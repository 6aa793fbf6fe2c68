import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { MemoryLimiter } from '../../src/http/memory-limiter.ts';

/** Counts a request by the library's own way, which rejects with the window of a refused request. */
const consume = (limiter: MemoryLimiter, key: string) =>
  limiter.consume(key).catch((window: unknown) => window);

// If Redis fails, the library counts in memory by its own way, and Weir at once if Redis is late.
test('both ways count the same requests of a key in one window', async () => {
  const way = fc.record({ key: fc.constantFrom('a', 'b', 'constructor'), isAtOnce: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(way), fc.integer({ min: 1, max: 5 }), async (ways, points) => {
      const limiter = new MemoryLimiter({ points, duration: 60, keyPrefix: '' });
      const sent = new Map<string, number>();
      for (const { key, isAtOnce } of ways) {
        const window = isAtOnce ? limiter.count(key) : await consume(limiter, key);
        if (!(window instanceof RateLimiterRes)) throw new Error('there is no window');
        sent.set(key, (sent.get(key) ?? 0) + 1);
        expect(window.consumedPoints).toBe(sent.get(key) ?? 0);
        expect(window.msBeforeNext).toBeGreaterThan(0);
        expect(window.msBeforeNext).toBeLessThanOrEqual(60_000);
      }
    }),
  );
});
