/** If Redis does not answer in this time, Weir does not use Redis for REDIS_PAUSE_MS. */
const REDIS_TIMEOUT_MS = 250;
const REDIS_PAUSE_MS = 5_000;

/** Limits the time that a request waits for Redis. */
export class RedisPause {
  private paused_until_ms = 0;

  /**
   * True for REDIS_PAUSE_MS after Redis was too slow. While true, do not send commands to Redis.
   */
  get isPaused(): boolean {
    return this.paused_until_ms > performance.now();
  }

  /** Returns the result of a command to Redis; `late` if there is none within REDIS_TIMEOUT_MS. */
  async wait<Result>(command: Promise<Result>): Promise<Result | 'late'> {
    let timer: Timer | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, REDIS_TIMEOUT_MS, 'late');
    });
    try {
      const outcome = await Promise.race([command, late]);
      if (outcome === 'late') this.paused_until_ms = performance.now() + REDIS_PAUSE_MS;
      return outcome;
    } finally {
      clearTimeout(timer);
    }
  }
}
