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
/** A Redis that is silent for so long is left alone for a while; each replica counts for itself. */
const REDIS_PATIENCE_MS = 250;
const REDIS_REST_MS = 5_000;

/** Whose requests are counted: an organization's by its role, and a key's by a limit of its own. */
export interface RateLimited {
  organization_id: string;
  role: string;
  /** Id of the key, where there is one. */
  id?: string;
  requests_per_minute?: number | null;
}

/** The limiters of one number of requests a minute. */
interface Limiters {
  memory: RateLimiterAbstract;
  redis: RateLimiterAbstract | undefined;
  /** Says a refusal of theirs as ours. */
  refuse: (refused: unknown) => never;
}

/**
 * Requests per minute, in fixed windows (spec: Limits; design 8). Counted in memory, or in Redis for
 * all replicas together; when Redis is away each replica counts for itself.
 */
export class RateLimit {
  private readonly limiters = new Map<number, Limiters>();
  private redisRestsUntil = 0;

  constructor(
    private readonly roles: () => Readonly<Record<string, number>>,
    private readonly redis?: Redis,
  ) {}

  /** Counts one request. Throws WeirError `rate_limit_exceeded` with the seconds to wait. */
  consume(who: RateLimited): Promise<unknown> {
    // The narrow limit first: a key that ran into its own costs its organization nothing.
    if (who.id && who.requests_per_minute) {
      return this.take(who.requests_per_minute, who.id).then(() => this.takeByRole(who));
    }
    return this.takeByRole(who);
  }

  private takeByRole({ role, organization_id }: RateLimited): Promise<unknown> {
    const roles = this.roles();
    const limit = Object.hasOwn(roles, role) ? roles[role] : undefined;
    return this.take(limit ?? UNKNOWN_ROLE_LIMIT, organization_id);
  }

  private take(limit: number, who: string): Promise<unknown> {
    const { memory, redis, refuse } = this.limitersOf(limit);
    const isAlone = redis === undefined || this.redisRestsUntil > performance.now();
    return (isAlone ? memory.consume(who) : this.impatiently(redis, memory, who)).catch(refuse);
  }

  /** Awaits Redis as long as that makes sense, then goes on without it. */
  private async impatiently(
    redis: RateLimiterAbstract,
    memory: RateLimiterAbstract,
    who: string,
  ): Promise<void> {
    const answer = redis.consume(who);
    let timer: Timer | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, REDIS_PATIENCE_MS, 'late');
    });
    try {
      if ((await Promise.race([answer, late])) !== 'late') return;
      this.redisRestsUntil = performance.now() + REDIS_REST_MS;
      await memory.consume(who);
    } finally {
      clearTimeout(timer);
    }
  }

  private limitersOf(limit: number): Limiters {
    const existing = this.limiters.get(limit);
    if (existing) return existing;
    const options = { keyPrefix: `weir:rate:${limit}`, points: limit, duration: WINDOW_S };
    const memory = new RateLimiterMemory(options);
    const redis =
      this.redis &&
      new RateLimiterRedis({
        ...options,
        storeClient: this.redis,
        // Serves while the connection is gone, without a queue of commands in between.
        rejectIfRedisNotReady: true,
        insuranceLimiter: memory,
      });
    const limiters = { memory, redis, refuse: refusalOf(limit) };
    this.limiters.set(limit, limiters);
    return limiters;
  }
}

function refusalOf(limit: number): (refused: unknown) => never {
  return (refused) => {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    const retry_after = Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
    throw new WeirError(
      'rate_limit_exceeded',
      `The rate limit of ${limit} requests per minute is reached.`,
      { retry_after, hint: `Wait ${retry_after} s before the next request.` },
    );
  };
}
