import type { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { WeirError } from '../../errors/weir-error.ts';
import { LruCache } from '../../inference/keys/lru-cache.ts';
import { RedisPause } from '../../inference/redis-pause.ts';

const WINDOW_S = 60;
const MS_PER_S = 1_000;
/**
 * The most addresses in memory. The address that was used least recently leaves first, so that a
 * flood from many addresses cannot fill the memory.
 */
const MAX_ADDRESSES = 20_000;
/** The most credentials of one address that wait for their check. */
const MAX_WAITING = 1_000;

/** The wrong credentials of one address, and its credentials that are being checked. */
interface Attempts {
  /** Wrong credentials in this window. */
  wrong: number;
  /** When the window ends, a value of the clock, ms. */
  ends_ms: number;
  /** Credentials that are being looked up. */
  checking: number;
  /** Checks that have not ended, by credential. Some have not begun, and wait in `waiting`. */
  readonly running: Map<string, Promise<unknown>>;
  /** Functions that each let one waiting check begin. */
  readonly waiting: (() => void)[];
}

/** Settings and parts of `WrongCredentials`. */
interface WrongCredentialOptions {
  /** The most wrong credentials of one address in a minute. */
  readonly limit: number;
  /** If set, all replicas count together. */
  readonly redis?: Redis | undefined;
  /** Clock, ms. */
  readonly now?: () => number;
}

/**
 * Limits the wrong credentials of each client address, in windows of a minute. Above the limit, a
 * credential that this replica does not know as valid is refused without a lookup.
 *
 * Weir learns only from a lookup whether a credential is wrong. So the wrong credentials of an
 * address and its running lookups together never exceed the limit; further lookups wait. This
 * delays a burst of valid credentials, but refuses none of them unless more than MAX_WAITING wait.
 *
 * With Redis, each replica reads the common count before a lookup, and adds each wrong credential.
 * Without Redis, or while Redis is unreachable, each replica counts alone.
 */
export class WrongCredentials {
  private readonly addresses = new LruCache<string, Attempts>(MAX_ADDRESSES);
  private readonly limit: number;
  private readonly now: () => number;
  private readonly redis: RateLimiterRedis | undefined;
  private readonly pause = new RedisPause();
  private refusals = 0;

  constructor({ limit, redis, now = () => performance.now() }: WrongCredentialOptions) {
    this.limit = limit;
    this.now = now;
    this.redis =
      redis &&
      new RateLimiterRedis({
        storeClient: redis,
        keyPrefix: 'weir:wrong',
        points: limit,
        duration: WINDOW_S,
        rejectIfRedisNotReady: true,
      });
  }

  /** How many requests were refused. */
  get refused(): number {
    return this.refusals;
  }

  /** How many addresses are in memory. */
  get size(): number {
    return this.addresses.size;
  }

  /**
   * Runs the check of a credential and returns its result. If the check throws WeirError
   * `invalid_api_key` or `sign_in_failed`, the credential counts as wrong. Simultaneous checks of the same credential
   * share one run. If the address is above the limit, throws WeirError `rate_limit_exceeded` with
   * the seconds to wait.
   */
  async check<Result>(
    address: string,
    credential: string,
    check: () => Result | Promise<Result>,
  ): Promise<Result> {
    const attempts = this.attemptsOf(address);
    this.requireBelowLimit(attempts);
    const running = attempts.running.get(credential) as Promise<Result> | undefined;
    if (!running) {
      const first = this.run(address, attempts, check);
      attempts.running.set(credential, first);
      return first.finally(() => this.onEnded(address, attempts, credential));
    }
    try {
      return await running;
    } catch (error) {
      if (isWrong(error)) {
        this.requireBelowLimit(attempts);
        await this.count(address, attempts);
      } else if (error instanceof WeirError && error.id === 'rate_limit_exceeded') {
        this.refusals += 1;
      }
      throw error;
    }
  }

  private async run<Result>(
    address: string,
    attempts: Attempts,
    check: () => Result | Promise<Result>,
  ): Promise<Result> {
    let hasTurn = false;
    try {
      while (attempts.wrong + attempts.checking >= this.limit) {
        this.requireBelowLimit(attempts);
        await this.waitForTurn(attempts);
      }
      attempts.checking += 1;
      hasTurn = true;
      await this.readSharedCount(address, attempts);
      return await check();
    } catch (error) {
      if (isWrong(error)) await this.count(address, attempts);
      throw error;
    } finally {
      if (hasTurn) attempts.checking -= 1;
      const starts = attempts.wrong >= this.limit ? attempts.waiting.length : 1;
      for (const start of attempts.waiting.splice(0, starts)) start();
    }
  }

  private waitForTurn({ waiting }: Attempts): Promise<void> {
    if (waiting.length >= MAX_WAITING) {
      throw new WeirError('service_unavailable', 'Too many API keys are being checked now.', {
        retry_after: 1,
      });
    }
    return new Promise((resolve) => {
      waiting.push(resolve);
    });
  }

  /** Removes an address that has sent no wrong credential, to save memory. */
  private onEnded(address: string, attempts: Attempts, credential: string): void {
    attempts.running.delete(credential);
    if (attempts.wrong > 0 || attempts.running.size > 0) return;
    if (this.addresses.get(address) === attempts) this.addresses.delete(address);
  }

  private attemptsOf(address: string): Attempts {
    let attempts = this.addresses.get(address);
    if (!attempts) {
      attempts = { wrong: 0, ends_ms: 0, checking: 0, running: new Map(), waiting: [] };
      this.addresses.set(address, attempts);
    }
    return attempts;
  }

  private requireBelowLimit(attempts: Attempts): void {
    if (attempts.ends_ms <= this.now()) attempts.wrong = 0;
    if (attempts.wrong < this.limit) return;
    this.refusals += 1;
    const retry_after = Math.max(1, Math.ceil((attempts.ends_ms - this.now()) / MS_PER_S));
    throw new WeirError(
      'rate_limit_exceeded',
      'Your network address sent too many invalid keys or tokens.',
      { retry_after, hint: `Wait ${retry_after} s. Then send a valid key or token.` },
    );
  }

  private async count(address: string, attempts: Attempts): Promise<void> {
    const now = this.now();
    if (attempts.ends_ms <= now) {
      attempts.wrong = 0;
      attempts.ends_ms = now + WINDOW_S * MS_PER_S;
    }
    attempts.wrong += 1;
    await this.takeSharedCount(attempts, (redis) => redis.penalty(address, 1));
  }

  private async readSharedCount(address: string, attempts: Attempts): Promise<void> {
    await this.takeSharedCount(attempts, (redis) => redis.get(address));
    if (attempts.wrong >= this.limit) this.requireBelowLimit(attempts);
  }

  /**
   * Uses the count of all replicas if it is higher than this replica's count. If Redis fails, this
   * replica's count stays.
   */
  private async takeSharedCount(
    attempts: Attempts,
    command: (redis: RateLimiterRedis) => ReturnType<RateLimiterRedis['get']>,
  ): Promise<void> {
    if (!this.redis || this.pause.isPaused) return;
    const shared = await this.pause.wait(command(this.redis)).catch(() => null);
    if (shared === null || shared === 'late' || shared.consumedPoints <= attempts.wrong) return;
    attempts.wrong = shared.consumedPoints;
    attempts.ends_ms = this.now() + shared.msBeforeNext;
  }
}

/** True if a check found that the credential does not exist, is of another kind, or is wrong. */
function isWrong(error: unknown): boolean {
  return (
    error instanceof WeirError && (error.id === 'invalid_api_key' || error.id === 'sign_in_failed')
  );
}
