import type { Redis } from 'ioredis';
import { type RateLimiterAbstract, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { WeirError } from '../errors/weir-error.ts';
import { RedisPause } from '../inference/redis-pause.ts';
import { MemoryLimiter } from './memory-limiter.ts';
import { type ShownRateLimit, showTighter } from './rate-limit-headers.ts';

const WINDOW_S = 60;
/**
 * Requests per minute of an organization whose role is not in the configuration. It is the smallest
 * limit of the built-in roles.
 */
const UNKNOWN_ROLE_LIMIT = 60;

/**
 * The organization and the key whose requests are counted. An organization has the limit of its
 * role, or one of its own. A key may have a limit of its own too.
 */
export interface RateLimited {
  organization_id: string;
  role: string;
  /** Id of the key. Missing for a management token. */
  id?: string;
  requests_per_minute?: number | null;
  /** The organization's own limit; null or missing = that of its role. */
  organization_requests_per_minute?: number | null;
}

/**
 * Management requests are counted under this prefix and the organization's id. So a flood of
 * inference requests does not stop the organization from revoking the key that sends them.
 */
const MANAGEMENT_PREFIX = 'management:';

/** The limiters for one limit of requests per minute. */
interface Limiters {
  readonly limit: number;
  memory: MemoryLimiter;
  redis: RateLimiterAbstract | undefined;
}

/**
 * Limits requests per minute, in fixed windows (spec: Limits). With Redis all replicas share one
 * count. Without Redis, or while Redis is unreachable, each replica counts in memory.
 */
export class RateLimit {
  private readonly limiters = new Map<number, Limiters>();
  private readonly pause = new RedisPause();

  constructor(
    private readonly roles: () => Readonly<Record<string, number>>,
    private readonly redis?: Redis,
  ) {}

  /** The names of the roles. */
  get role_names(): string[] {
    return Object.keys(this.roles());
  }

  /**
   * Counts one request with an API key. `shown` gets the state of the limit of which the fewest
   * requests remain. Throws WeirError `rate_limit_exceeded` with the seconds to wait. Returns undefined
   * if the request was counted in memory, so that most calls need not wait for a turn.
   */
  consume(limited: RateLimited, shown: ShownRateLimit): Promise<unknown> | undefined {
    const { id, requests_per_minute } = limited;
    // The key's limit comes first. So a request that the key's limit refuses does not count for the
    // organization.
    if (id && requests_per_minute) {
      const counted = this.consumeLimit(requests_per_minute, id, shown);
      if (counted) return counted.then(() => this.consumeOfOrganization(limited, shown));
    }
    return this.consumeOfOrganization(limited, shown);
  }

  /**
   * Counts one management request. The limit is that of the organization's role, but requests with
   * an API key do not count. Throws like `consume`.
   */
  consumeManagement(
    { role, organization_id }: RateLimited,
    shown: ShownRateLimit,
  ): Promise<unknown> | undefined {
    return this.consumeByRole(role, MANAGEMENT_PREFIX + organization_id, shown);
  }

  private consumeOfOrganization(
    limited: RateLimited,
    shown: ShownRateLimit,
  ): Promise<unknown> | undefined {
    const { role, organization_id, organization_requests_per_minute: own } = limited;
    return own
      ? this.consumeLimit(own, organization_id, shown)
      : this.consumeByRole(role, organization_id, shown);
  }

  private consumeByRole(
    role: string,
    counted_id: string,
    shown: ShownRateLimit,
  ): Promise<unknown> | undefined {
    const roles = this.roles();
    const limit = Object.hasOwn(roles, role) ? roles[role] : undefined;
    return this.consumeLimit(limit ?? UNKNOWN_ROLE_LIMIT, counted_id, shown);
  }

  private consumeLimit(
    limit: number,
    counted_id: string,
    shown: ShownRateLimit,
  ): Promise<unknown> | undefined {
    const limiters = this.limitersOf(limit);
    const { redis } = limiters;
    return redis === undefined || this.pause.isPaused
      ? countInMemory(limiters, counted_id, shown)
      : this.countInRedis(redis, limiters, counted_id, shown);
  }

  /** Counts a request in Redis. If Redis does not answer in time, counts the request in memory. */
  private async countInRedis(
    redis: RateLimiterAbstract,
    limiters: Limiters,
    counted_id: string,
    shown: ShownRateLimit,
  ): Promise<void> {
    try {
      const outcome = await this.pause.wait(redis.consume(counted_id));
      if (outcome === 'late') await countInMemory(limiters, counted_id, shown);
      else show(shown, limiters, outcome);
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      show(shown, limiters, rejection);
      throw refusalOf(rejection, limiters);
    }
  }

  private limitersOf(limit: number): Limiters {
    const existing = this.limiters.get(limit);
    if (existing) return existing;
    const options = { keyPrefix: `weir:rate:${limit}`, points: limit, duration: WINDOW_S };
    // Each limiter has its own memory. A prefix would make a new text of each id, and its hash, for every call.
    const memory = new MemoryLimiter({ ...options, keyPrefix: '' });
    const redis =
      this.redis &&
      new RateLimiterRedis({
        ...options,
        storeClient: this.redis,
        // Without a connection to Redis, requests are counted in memory. Commands to Redis are not
        // queued.
        rejectIfRedisNotReady: true,
        insuranceLimiter: memory,
      });
    const limiters = { limit, memory, redis };
    this.limiters.set(limit, limiters);
    return limiters;
  }
}

/** Counts a request in memory, at once. Returns a promise only if the request is refused. */
function countInMemory(
  limiters: Limiters,
  counted_id: string,
  shown: ShownRateLimit,
): Promise<never> | undefined {
  const counted = limiters.memory.count(counted_id);
  show(shown, limiters, counted);
  if (counted.consumedPoints <= limiters.limit) return undefined;
  return Promise.reject(refusalOf(counted, limiters));
}

function show(
  shown: ShownRateLimit,
  { limit }: Limiters,
  { consumedPoints, msBeforeNext: reset_ms }: RateLimiterRes,
): void {
  showTighter(shown, { limit, remaining: Math.max(0, limit - consumedPoints), reset_ms });
}

function refusalOf({ msBeforeNext }: RateLimiterRes, { limit }: Limiters): WeirError {
  const retry_after = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return new WeirError(
    'rate_limit_exceeded',
    `The rate limit of ${limit} requests per minute is reached.`,
    { retry_after, hint: `Wait ${retry_after} s before the next request.` },
  );
}
