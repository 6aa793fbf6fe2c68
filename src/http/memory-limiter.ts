import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';

/** The member of the library in which it counts. Its types do not name it. */
interface Counting {
  readonly _memoryStorage: {
    incrby(key: string, points: number, duration_s: number): RateLimiterRes;
  };
}

/**
 * The library's limiter in memory, which also counts at once: its `consume` makes a promise and several functions for
 * each request. Both ways count in the same windows.
 */
export class MemoryLimiter extends RateLimiterMemory {
  /** Counts a request and returns its window. If that has more requests than the limit, the request is refused. */
  count(key: string): RateLimiterRes {
    const { _memoryStorage: storage } = this as unknown as Counting;
    return storage.incrby(this.getKey(key), 1, this.duration);
  }
}
