import type { Redis } from 'ioredis';
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import { WeirError } from '../errors/weir-error.ts';

const WINDOW_S = 60;
/** A role that no configuration names gets the smallest limit. */
const UNKNOWN_ROLE_LIMIT = 60;

/**
 * Requests per minute: of an organization by its role, and of a key by a limit of its own
 * (spec: Limits; design 8). Counted in memory, or in Redis for all replicas together; when Redis
 * is away each replica counts for itself.
 */
export class RateLimit {
  private readonly limiters = new Map<number, RateLimiterAbstract>();

  constructor(
    private readonly roles: Readonly<Record<string, number>>,
    private readonly redis?: Redis,
  ) {}

  /** Throws WeirError `rate_limit_exceeded` with the seconds to wait. */
  async consume(who: {
    organization_id: string;
    role: string;
    id?: string;
    requests_per_minute?: number | null;
  }): Promise<void> {
    const limit = this.roles[who.role] ?? UNKNOWN_ROLE_LIMIT;
    await this.take(limit, who.organization_id);
    if (who.id && who.requests_per_minute) await this.take(who.requests_per_minute, who.id);
  }

  private async take(limit: number, who: string): Promise<void> {
    try {
      await this.limiter(limit).consume(who);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      const retry_after = Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
      throw new WeirError(
        'rate_limit_exceeded',
        `The rate limit of ${limit} requests per minute is reached.`,
        { retry_after, hint: `Wait ${retry_after} s before the next request.` },
      );
    }
  }

  private limiter(limit: number): RateLimiterAbstract {
    const existing = this.limiters.get(limit);
    if (existing) return existing;
    const options = { keyPrefix: `weir:rate:${limit}`, points: limit, duration: WINDOW_S };
    const memory = new RateLimiterMemory(options);
    const limiter = this.redis
      ? new RateLimiterRedis({ ...options, storeClient: this.redis, insuranceLimiter: memory })
      : memory;
    this.limiters.set(limit, limiter);
    return limiter;
  }
}
